package signin

import (
	"context"
	"embed"
	"errors"
	"net/http"
	"slices"

	"github.com/keystile/keystile/internal/formwords"
	"github.com/keystile/keystile/oauth/signin/internal/passkey"
	"github.com/keystile/keystile/oauth/signin/internal/scan"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

//go:embed signedin.html
var coreFiles embed.FS

var signedInPage = web.Parse(coreFiles, "signedin")

// Ask answers an authorize request with the sign-in page and status 200. The caller has
// validated the request, by GET or form POST, for this application; if it has read a body, it
// has put the fields into r.PostForm.
func (s *SignIn) Ask(w http.ResponseWriter, r *http.Request, app storage.App) error {
	query, err := web.QueryOf(r)
	if err != nil {
		return err
	}
	t := s.steps.Pages.Context(r, query, app)
	return t.Show(w, http.StatusOK, web.FormPage, &web.View{Title: "Sign in", Username: t.Hint})
}

// AskBy answers an authorize request as Ask does, but leads straight to one method that the sign-in page offers: to the
// provider, or to the page for an address of email. For any other method it is Ask. It is the AskBy of an oauth.Config.
func (s *SignIn) AskBy(w http.ResponseWriter, r *http.Request, app storage.App, method string) error {
	query, err := web.QueryOf(r)
	if err != nil {
		return err
	}
	link := s.steps.Pages.LinkOf(method)
	if link.Path == "" {
		return s.Ask(w, r, app)
	}
	return web.SeeOther(w, link.Carrying(query).Path)
}

// AskFor answers with the sign-in page, status 200, which leads to a page of the console: its path, below
// /console/, with its query. A user who is signed in already is asked to prove it again: with the second factor
// alone, if that is all that their session lacks. Any other path leads to the page of the signed-in user.
func (s *SignIn) AskFor(w http.ResponseWriter, r *http.Request, path string) error {
	if !web.IsConsole(path) {
		path = ""
	}
	t := s.steps.Pages.Context(r, path, storage.App{})
	v, user, err := s.steps.Sessions.Visit(r)
	if errors.Is(err, storage.ErrNotFound) {
		return t.Show(w, http.StatusOK, web.FormPage, &web.View{Title: "Sign in", Username: t.Hint})
	}
	if err != nil {
		return err
	}
	if asked, err := s.factors.Prove(w, r, v, user, path); asked || err != nil {
		return err
	}
	return t.Show(w, http.StatusOK, web.FormPage, &web.View{Title: "Sign in", Username: user.Username})
}

// KeepForm answers a form of a signed-in user of the console that takes a fresh sign-in: it keeps the form for ten
// minutes, sealed, and asks the user to confirm who they are. Then they send the form, whose body this is, to the same
// address once more: see KeptForm. The caller has checked everything else of the form, which was shown in a session.
//
// The pages that ask say what the form does, since another person may have filled it in while the user was away: in
// these words, with the names and values of its fields, in the language of its page. No value is secret.
func (s *SignIn) KeepForm(w http.ResponseWriter, r *http.Request, session string, body []byte, what string,
	fields [][2]string) error {
	v, user, err := s.steps.Sessions.Visit(r)
	if err != nil {
		return err
	}
	about := web.About{What: formwords.Cut(what)}
	for _, f := range fields {
		about.Fields = append(about.Fields, formwords.Field{Name: formwords.Cut(f[0]), Value: formwords.Cut(f[1])})
	}
	return s.kept.Ask(w, r, v, user, session, body, about)
}

// KeptForm puts the form into a request that KeepForm has kept and the request names, and returns the session that it
// was shown in. It is used up. A request that names none stays as it is, and session is empty. The caller has checked
// where the request comes from, and judges the form as one that has just been sent.
func (s *SignIn) KeptForm(w http.ResponseWriter, r *http.Request) (session string, err error) {
	return s.kept.Take(w, r)
}

// showPage serves GET of the sign-in page: the signed-in user, or the form without an application.
func (s *SignIn) showPage(w http.ResponseWriter, r *http.Request) error {
	_, user, err := s.steps.Sessions.Visit(r)
	t := s.steps.Pages.Context(r, "", storage.App{})
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return t.Show(w, http.StatusOK, web.FormPage, &web.View{Title: "Sign in", Username: t.Hint})
	case err != nil:
		return err
	}
	v := web.ViewOf(user)
	v.Title = "You are signed in"
	return t.Show(w, http.StatusOK, signedInPage, &v)
}

// Visitor returns the live session of a request, of an enabled user. storage.ErrNotFound means
// that nobody is signed in. Any other error means that it is not known: never treat it as nobody.
func (s *SignIn) Visitor(r *http.Request) (storage.Session, error) {
	return s.steps.Sessions.Visitor(r)
}

// Visit is Visitor with the user of the session, read for this request from the Users of the Config.
func (s *SignIn) Visit(r *http.Request) (storage.Session, storage.User, error) {
	return s.steps.Sessions.Visit(r)
}

// Fresh reports whether a session has proved within ten minutes everything that its user has, including a second
// factor if there is one. Call it before everything that must not be open to a browser that its user has left, or
// to the thief of a cookie or a password (decisions 57 and 91).
//
// Linking and unlinking a sign-in method and confirming an address require it when they begin: the visit to a
// provider, or the code by email, has another ten minutes of its own. A sign-in of the future, by more than
// clocks differ, is none. Changing a password requires the current one, which is a sign-in of that moment. A
// sign-in at another provider counts as one, though only the provider knows how long ago its user proved who
// they are.
func (s *SignIn) Fresh(ctx context.Context, v storage.Session) (bool, error) {
	fresh, _, err := s.factors.Fresh(ctx, v)
	return fresh, err
}

// Proved reports whether a session has proved what its user has, at whatever time. A session that began in a trusted
// browser has not, if its user has a second factor: it is for applications, and not for the console.
func (s *SignIn) Proved(ctx context.Context, v storage.Session) (bool, error) {
	return s.factors.Proved(ctx, v)
}

// FactorsPage returns the path of the page where users add and remove their second factors.
func (*SignIn) FactorsPage() string { return web.FactorsPath }

// SignOut ends the session of the cookie, if there is one, records that and clears the cookie. If
// it fails the cookie stays, so that signing out can be tried again.
func (s *SignIn) SignOut(w http.ResponseWriter, r *http.Request) error { return s.steps.SignOut(w, r) }

// Notify notifies an owner by email of a change to what is theirs: a user (a sub), or the managers of group:NAME. It
// does not wait for the email. A user without a confirmed address gets none, and nobody gets more than ten an hour.
func (s *SignIn) Notify(ctx context.Context, owner string, n event.Notice) {
	s.steps.Notices.Notify(ctx, owner, n)
}

// Allowed returns what a user has allowed an application of a scope; of an empty one, it reports
// whether they have allowed it anything. It implements oauth.Consent.
func (s *SignIn) Allowed(ctx context.Context, app storage.App,
	sub, wanted string) (granted string, ok bool, err error) {
	return s.consents.Allowed(ctx, app, sub, wanted)
}

// AllowedOnce returns what a user has just allowed an application of a scope that they are asked
// for each time, and uses that up. It implements oauth.Consent.
func (s *SignIn) AllowedOnce(ctx context.Context, app storage.App,
	sub, wanted string) (granted string, ok bool, err error) {
	return s.consents.AllowedOnce(ctx, app, sub, wanted)
}

// AskConsent answers an authorize request with the consent page and status 200. The caller has
// validated the request; if it has read a body, it has put the fields into r.PostForm. It
// implements oauth.Consent.
func (s *SignIn) AskConsent(w http.ResponseWriter, r *http.Request, app storage.App, who storage.Session,
	wanted string) error {
	return s.consents.Ask(w, r, app, who, wanted)
}

// BeginDevice stores what an application asks for on a device, and returns the device_code. It is one of
// the Devices of an oauth.Config.
func (s *SignIn) BeginDevice(r *http.Request, app storage.App,
	scope, resource string) (deviceCode string, t storage.Ticket, err error) {
	return s.devices.Begin(r, app, scope, resource)
}

// PollDevice returns the record by which a device_code is redeemed, once a user has allowed it. It
// is one of the Devices of an oauth.Config.
func (s *SignIn) PollDevice(r *http.Request, app storage.App, deviceCode string) (driver.Token, error) {
	return s.devices.Poll(r, app, deviceCode)
}

// DevicePage returns the path of the page where users type the code of a device. It is one of
// the Devices of an oauth.Config.
func (*SignIn) DevicePage() string { return web.DevicePath }

// ExemptPaths returns the paths of sign-in that no rate limit of a gateway should count: a page that
// waits for a phone polls every two seconds and has a limit of its own here, and a script is a
// file.
func ExemptPaths() []string {
	return slices.Concat(scan.Unmetered(), web.UnmeteredScripts(), passkey.Unmetered())
}
