package signin

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/internal/flow"
	"github.com/keystile/keystile/oauth/signin/internal/methods"
	"github.com/keystile/keystile/oauth/signin/internal/session"
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

// accountStore is what the account page needs of storage.
type accountStore interface {
	Consent(ctx context.Context, appID, sub string) (storage.Consent, error)
	Consents(ctx context.Context, sub string) ([]storage.Consent, error)
	EndConsent(ctx context.Context, c storage.Consent) error
	OpenID(ctx context.Context, appID, sub string) (storage.OpenID, error)
	OpenIDs(ctx context.Context, sub string) ([]storage.OpenID, error)
	EndOpenID(ctx context.Context, appID, sub string, at time.Time) error
	App(ctx context.Context, id string) (storage.App, error)
	Sessions(ctx context.Context, sub string) ([]storage.Session, error)
}

// account is the page /oauth/account, where people see who gets in as them and what they
// have allowed, and take it back.
type account struct {
	*flow.Steps
	store    accountStore
	logins   users.LoginStore
	revoker  tokenRevoker // nil: what ends tokens is not offered
	labels   methods.Labels
	linkable []web.Link // as they stand on the page
	changes  []web.Link // what somebody who is signed in can change
}

const (
	sessionPath = web.AccountPath + "/session"
	allPath     = web.AccountPath + "/everywhere"
	accessPath  = web.AccountPath + "/access"
	loginPath   = web.AccountPath + "/login"
)

func (a *account) routes() []reply.Route {
	read, post := []string{http.MethodGet, http.MethodHead}, []string{http.MethodPost}
	routes := []reply.Route{
		{Path: web.AccountPath, Methods: read, Handle: a.show, Fail: web.Fail},
		{Path: web.ConfirmPath, Methods: read, Handle: a.confirm, Fail: web.Fail},
		{Path: sessionPath, Methods: post, Handle: a.ask(a.endSession, "session"), Fail: web.Fail},
		{Path: loginPath, Methods: post, Handle: a.ask(a.unlink, "method"), Fail: web.Fail},
	}
	if a.revoker == nil {
		return routes
	}
	return append(routes,
		reply.Route{Path: allPath, Methods: post, Handle: a.ask(a.endAll), Fail: web.Fail},
		reply.Route{Path: accessPath, Methods: post, Handle: a.ask(a.removeAccess, "app"), Fail: web.Fail},
	)
}

// request is a form of the account page, sent by whom it is about.
type request struct {
	*http.Request
	w    http.ResponseWriter
	mine storage.Session
	in   map[string]string
}

// ask reads a form and does what it asks for. Every record that it names is looked for among
// those of the sender: what belongs to somebody else is not there. The answer is the page,
// or where the form says otherwise.
func (a *account) ask(do func(request) (to string, err error), fields ...string) reply.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := a.Pages.CheckOrigin(r); err != nil {
			return err
		}
		in, err := web.ReadFields(w, r, fields...)
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

func (a *account) told(r request, detail string) {
	a.Trail.Write(r.Request, event.Account, event.Event{User: r.mine.UserID, Detail: detail})
}

// ended writes down a revocation before it is answered.
func (a *account) ended(r request, app, detail string) error {
	return a.Trail.WriteNow(r.Request, event.Revocation, event.Event{User: r.mine.UserID, App: app, Detail: detail})
}

// endSession signs out one of the sender's browsers.
func (a *account) endSession(r request) (string, error) {
	all, err := a.store.Sessions(r.Context(), r.mine.UserID)
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
	a.told(r, "session ended")
	return web.AccountPath, nil
}

// endAll signs out every browser, this one too, and then ends everything granted before.
func (a *account) endAll(r request) (string, error) {
	if err := a.Sessions.EndSessions(r.Context(), r.mine.UserID, session.All); err != nil {
		return "", err
	}
	stop := driver.Revocation{Kind: driver.RevokeUser, ID: r.mine.UserID, Before: time.Now().UTC()}
	if err := a.revoker.Revoke(r.Context(), stop); err != nil {
		return "", web.HalfSignedOut.Because(err)
	}
	a.Sessions.ClearCookie(r.w)
	return web.FormPath, a.ended(r, "", "signed out everywhere")
}

// removeAccess takes back what the sender has allowed an application. The order matters: a
// code that is being granted meanwhile was begun before the consent ended, so before Before;
// and until the tokens have ended and that is written down, the application stays on the page, to be tried again.
func (a *account) removeAccess(r request) (string, error) {
	ctx, app, sub := r.Context(), r.in["app"], r.mine.UserID
	met, err := a.store.OpenID(ctx, app, sub)
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
	stop := driver.Revocation{Kind: driver.RevokeConsent, ID: driver.ConsentID(app, sub), Before: now}
	if err := a.revoker.Revoke(ctx, stop); err != nil {
		return "", err
	}
	if err := a.ended(r, app, "access removed"); err != nil {
		return "", err
	}
	return web.AccountPath, a.store.EndOpenID(ctx, app, sub, now)
}

func (a *account) endConsent(ctx context.Context, app, sub string) (ended bool, err error) {
	_, err = storage.RetryOnConflict(ctx, func() (storage.Consent, error) {
		c, err := a.store.Consent(ctx, app, sub)
		if err == nil {
			err = a.store.EndConsent(ctx, c)
		}
		return c, err
	})
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// confirm is GET /oauth/account/confirm: the sign-in form once more, for who is signed in.
func (a *account) confirm(w http.ResponseWriter, r *http.Request) error {
	_, user, err := a.Sessions.Visit(r)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return a.Pages.Context(r, web.AccountPath, storage.App{}).Show(w, http.StatusOK, web.FormPage, &web.View{Title: "Sign in"})
	case err != nil:
		return err
	}
	return a.AskAgain(w, r, user)
}
