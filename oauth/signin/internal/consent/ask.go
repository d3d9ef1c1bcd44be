package consent

import (
	"context"
	"embed"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
)

//go:embed consent.html choice.html
var consentFiles embed.FS

var consentPage = WithChoice(web.Parse(consentFiles, "consent"))

// view holds what the consent page shows.
type view struct {
	web.View
	User  string       // the sub of the user who is asked: nobody else's answer counts
	Scope string       // the requested scope, as it will be stored
	Terms string       // of the application: no other ones are allowed by the answer
	Asks  []Permission // what is in Scope, as text

	Client  *Stranger // nil: the application was registered here
	Changed bool      // what the user has allowed, it was on other terms
	Device  string    // the program on this device that the browser goes to next; "": none
	Choice  *choice   // nil: there is none
	Days    string    // an application that is not used for so many is signed out; "": it is soon in any case
}

// Stranger is an application that nobody registered, as people are told of it.
type Stranger struct {
	Host  string // of its document; "": it registered itself
	Claim string // the name that it claims; "": none
}

// maxClaim bounds a claimed name on a page, in characters: a longer one could be a sentence.
const maxClaim = 60

// StrangerOf returns how to tell people of an application, nil if it was registered here.
func StrangerOf(app storage.App) *Stranger {
	if app.Client == nil {
		return nil
	}
	claim := page.Shown(app.Name)
	if utf8.RuneCountInString(claim) > maxClaim {
		claim = strings.TrimSpace(string([]rune(claim)[:maxClaim])) + "…"
	}
	return &Stranger{app.Host(), claim}
}

// Ask answers an authorize request with the consent page and status 200. The caller has validated
// the request; if it has read a body, it has put the fields into r.PostForm. It implements
// oauth.Consent.
func (s *Consents) Ask(w http.ResponseWriter, r *http.Request, app storage.App, who storage.Session,
	wanted string) error {
	query, err := web.QueryOf(r)
	if err != nil {
		return err
	}
	user, err := s.Users.User(r.Context(), who.UserID)
	if err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, request{app, query, knownScopes(wanted)}, user, "")
}

// request holds what an application asks a user for.
type request struct {
	app   storage.App
	query string // the authorize request
	scope string
}

// show writes the page; with an alert, once more.
func (s *Consents) show(w http.ResponseWriter, r *http.Request, status int, q request, user storage.User,
	alert string) error {
	ctx := r.Context()
	v := view{View: web.ViewOf(user), User: user.Sub, Scope: q.scope, Terms: q.app.Terms(),
		Client: StrangerOf(q.app)}
	var err error
	if v.Asks, err = s.Asks(ctx, q.app, user.Sub, q.scope); err != nil {
		return err
	}
	if v.Choice, err = s.choiceOf(ctx, q, user.Sub); err != nil {
		return err
	}
	if v.Changed, err = s.changed(ctx, q.app, user.Sub); err != nil {
		return err
	}
	params, _ := url.ParseQuery(q.query)
	v.Device = deviceOf(params.Get("redirect_uri"))
	if !scope.HasElevated(q.scope) {
		v.Days = strconv.Itoa(max(1, int(s.RefreshLifetime/(24*time.Hour))))
	}
	t := s.Pages.Context(r, q.query, q.app)
	v.Title = "Allow access"
	if alert != "" {
		v.Alert = t.Lang.T(alert)
		v.Choice.Some = true
	}
	return t.Show(w, status, consentPage, &v)
}

// changed reports whether what a user has allowed an application was allowed on other terms.
func (s *Consents) changed(ctx context.Context, app storage.App, sub string) (bool, error) {
	c, err := s.Store.Consent(ctx, app.ID, sub)
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	return err == nil && c.Terms != app.Terms(), err
}

// deviceOf returns the host or the scheme of a redirect_uri that leads to a program on the user's
// device, "" of others.
func deviceOf(redirect string) string {
	if !client.IsLoopback(redirect) {
		return ""
	}
	origin := storage.RedirectOrigin(redirect)
	if _, host, ok := strings.Cut(origin, "://"); ok {
		return host
	}
	return origin
}
