package account

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/internal/flow"
	"github.com/keystile/keystile/oauth/signin/internal/methods"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// tokenRevoker ends tokens.
type tokenRevoker interface {
	Revoke(ctx context.Context, rs ...driver.Revocation) error
}

// store keeps consents, openids and sessions; *storage.Store implements it.
type store interface {
	Consent(ctx context.Context, appID, sub string) (storage.Consent, error)
	Consents(ctx context.Context, sub string) ([]storage.Consent, error)
	EndConsent(ctx context.Context, c storage.Consent) error
	OpenID(ctx context.Context, appID, sub string) (storage.OpenID, error)
	OpenIDs(ctx context.Context, sub string) ([]storage.OpenID, error)
	EndOpenID(ctx context.Context, appID, sub string, at time.Time) error
	App(ctx context.Context, id string) (storage.App, error)
	Sessions(ctx context.Context, sub string) ([]storage.Session, error)
}

// Account serves the page /oauth/account, where users see and end their sessions, the access of
// applications and agents, and their sign-in methods.
type Account struct {
	*flow.Steps
	Store    store
	Logins   users.LoginStore
	Revoker  tokenRevoker // nil: actions that end tokens are not offered
	Labels   methods.Labels
	Linkable []web.Link // in the order of the page
	Changes  []web.Link // pages where a signed-in user changes something
	Profile  web.Link   // to the page of the profile; the zero Link: it cannot be changed
	Console  string     // where users with a role administer the service; "": nowhere
	Data     []web.Link // to the pages of all that is held about the user

	// Place returns where an address is, as far as the host knows. Nil: nowhere.
	Place func(netip.Addr) string
	// Warnings return what the user should look at, such as that few recovery codes are left. They stand
	// at the top of the page, in this order.
	Warnings []func(ctx context.Context, u storage.User) ([]Warning, error)

	// HasPassword reports whether a user (a sub) has a password to change. Nil: nobody has one.
	HasPassword func(ctx context.Context, sub string) (bool, error)
	Password    web.Link // to the page that changes it
}

// Warning is something that a user should look at, and the page where they can.
type Warning struct {
	Text string    // in English
	Day  time.Time // for the %s of Text; zero: it has none
	Link web.Link
}

// In returns the text in a language.
func (w Warning) In(l page.Lang) string {
	if w.Day.IsZero() {
		return l.T(w.Text)
	}
	return l.T(w.Text, web.DayOf(l, w.Day))
}

// The targets of the forms of the page, and its script.
const (
	SessionPath    = web.AccountPath + "/session"
	OthersPath     = web.AccountPath + "/others"
	EverywherePath = web.AccountPath + "/everywhere"
	AccessPath     = web.AccountPath + "/access"
	LoginPath      = web.AccountPath + "/login"
	ScriptPath     = web.AccountPath + "/times.js"
)

func (a *Account) Routes() []reply.Route {
	read, post := []string{http.MethodGet, http.MethodHead}, []string{http.MethodPost}
	routes := []reply.Route{
		{Path: web.AccountPath, Methods: read, Handle: a.show, Fail: web.FailAccount},
		{Path: web.ConfirmPath, Methods: read, Handle: a.confirm, Fail: web.FailAccount},
		{Path: SessionPath, Methods: post, Handle: a.post(a.endSession, "session"), Fail: web.FailAccount},
		{Path: OthersPath, Methods: post, Handle: a.post(a.endOthers), Fail: web.FailAccount},
		{Path: LoginPath, Methods: post, Handle: a.post(a.unlink, "method"), Fail: web.FailAccount},
		web.Script(ScriptPath, times),
	}
	if a.Revoker == nil {
		return routes
	}
	return append(routes,
		reply.Route{Path: EverywherePath, Methods: post, Handle: a.post(a.endAll), Fail: web.FailAccount},
		reply.Route{Path: AccessPath, Methods: post, Handle: a.post(a.removeAccess, "app"), Fail: web.FailAccount},
	)
}

// request is a form of the account page, sent by the signed-in user.
type request struct {
	*http.Request
	w    http.ResponseWriter
	mine storage.Session
	in   map[string]string
}

// post returns the handler of a form, which calls do and redirects to the address that it returns.
// Records that the form names must be looked up among those of the sender.
func (a *Account) post(do func(request) (to string, err error), fields ...string) reply.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		in, err := a.Pages.ReadFields(w, r, fields...)
		if err != nil {
			return err
		}
		mine, err := a.Sessions.Visitor(r)
		if errors.Is(err, storage.ErrNotFound) {
			return web.SeeOther(w, web.AccountPath) // it asks them to sign in
		}
		if err != nil {
			return err
		}
		to, err := do(request{r, w, mine, in})
		if err != nil {
			return err
		}
		return web.SeeOther(w, to)
	}
}

func (a *Account) note(r request, detail string) {
	a.Trail.Write(r.Request, event.Account, event.Event{User: r.mine.UserID, Detail: detail})
}

// noteRevocation records a revocation before it is answered.
func (a *Account) noteRevocation(r request, app, detail string) error {
	return a.Trail.WriteNow(r.Request, event.Revocation, event.Event{User: r.mine.UserID, App: app, Detail: detail})
}

// endSession signs out one of the sender's browsers.
func (a *Account) endSession(r request) (string, error) {
	all, err := a.Store.Sessions(r.Context(), r.mine.UserID)
	if err != nil {
		return "", err
	}
	id := r.in["session"]
	if id == "" || !slices.ContainsFunc(all, func(v storage.Session) bool { return v.ID == id }) {
		return web.AccountPath, nil
	}
	if err := a.Sessions.End(r.Context(), id); err != nil {
		return "", err
	}
	if id == r.mine.ID {
		a.Sessions.ClearCookie(r.w)
	}
	a.note(r, "session ended")
	return web.AccountPath, nil
}

// endOthers signs out all of the sender's browsers but this one. Grants to applications stay.
func (a *Account) endOthers(r request) (string, error) {
	others := func(v storage.Session) bool { return v.ID != r.mine.ID }
	if err := a.Sessions.EndSessions(r.Context(), r.mine.UserID, others); err != nil {
		return "", err
	}
	a.note(r, "other sessions ended")
	return web.AccountPath, nil
}

// endAll ends all sessions, this one too, and then revokes everything granted before.
func (a *Account) endAll(r request) (string, error) {
	if err := a.Sessions.EndEvery(r.Context(), r.mine.UserID); err != nil {
		return "", err
	}
	stop := driver.Revocation{Kind: driver.RevokeUser, ID: r.mine.UserID}
	if err := errors.Join(a.Revoker.Revoke(r.Context(), stop), a.ForgetBrowsers(r.Context(), r.mine.UserID)); err != nil {
		return "", web.HalfSignedOut.Because(err)
	}
	a.Sessions.ClearCookie(r.w)
	return web.FormPath, a.noteRevocation(r, "", "signed out everywhere")
}

// removeAccess ends the access of an application. The order matters: a code that is being granted
// meanwhile was begun before the consent ended, so before Before; and the application stays on
// the page, to try again, until the revocation is stored and recorded.
func (a *Account) removeAccess(r request) (string, error) {
	ctx, app, sub := r.Context(), r.in["app"], r.mine.UserID
	met, err := a.Store.OpenID(ctx, app, sub)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return "", err
	}
	connected := err == nil && met.EndedAt.IsZero()
	consented, err := a.endConsent(ctx, app, sub)
	if err != nil {
		return "", err
	}
	if !connected && !consented {
		return web.AccountPath, nil
	}
	now := time.Now().UTC()
	stop := driver.Revocation{Kind: driver.RevokeConsent, ID: driver.ConsentID(app, sub)}
	if err := a.Revoker.Revoke(ctx, stop); err != nil {
		return "", err
	}
	if err := a.noteRevocation(r, app, "access removed"); err != nil {
		return "", err
	}
	return web.AccountPath, a.Store.EndOpenID(ctx, app, sub, now)
}

func (a *Account) endConsent(ctx context.Context, app, sub string) (ended bool, err error) {
	_, err = storage.RetryOnConflict(ctx, func() (storage.Consent, error) {
		c, err := a.Store.Consent(ctx, app, sub)
		if err == nil {
			err = a.Store.EndConsent(ctx, c)
		}
		return c, err
	})
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// confirm serves GET /oauth/account/confirm: the sign-in form once more, for a signed-in user.
func (a *Account) confirm(w http.ResponseWriter, r *http.Request) error {
	mine, user, err := a.Sessions.Visit(r)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return a.Pages.Context(r, web.AccountPath, storage.App{}).Show(w, http.StatusOK, web.FormPage,
			&web.View{Title: "Sign in"})
	case err != nil:
		return err
	}
	return a.ConfirmFor(w, r, mine, user, web.AccountPath)
}
