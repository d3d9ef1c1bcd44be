package engine

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Granted is the outcome of a token request.
type Granted struct {
	App       storage.App
	User      storage.User // zero for client_credentials
	OpenID    string       // of the user for the application; empty at a refresh
	LoginType string
	AuthTime  time.Time
	SignIn    SignIn
	Nonce     string // of the code; empty at a refresh
	At        time.Time
	ExpiresIn time.Duration
	Scope     string // of the access token
	Access    string
	Refresh   string // empty for client_credentials
	IDToken   string // where the scope has openid
	Challenge bool   // the code was bound to a PKCE challenge
	Key       string // the thumbprint of the key that the access token is bound to; "": none
	Groups    []string
	Actors    []string // of the access token
}

// Authenticate finds the application of a token or revocation request and checks its
// secret (client_secret_post, protocol 5). A public client has none and may send none.
func (e *Engine) Authenticate(ctx context.Context, form url.Values) (storage.App, error) {
	wrong := refuse(InvalidClient, "client_id or client_secret is wrong: send both in the form body")
	if form.Has("client_assertion_type") {
		return storage.App{}, refuse(InvalidClient, "client_assertion is missing: send it beside client_assertion_type")
	}
	id, secret := form.Get("client_id"), form.Get("client_secret")
	app, err := e.Store.App(ctx, id)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		decoy.Authenticates(secret, time.Now()) // an unknown id costs what a known one does
		return app, wrong
	case err != nil:
		return app, err
	case !app.Live(time.Now()):
		return storage.App{}, wrong
	case app.Public && secret == "":
		return app, nil
	case !app.Public && !app.TakesSecret():
		return app, refuse(InvalidClient, "this application proves itself by its keys: send client_assertion and "+
			"client_assertion_type, and no client_secret")
	case !app.Authenticates(secret, time.Now()):
		return app, wrong
	}
	return app, nil
}

var decoy = storage.App{Secrets: []storage.AppSecret{{Secret: storage.DrawSecret()}}}

// Request is a token request of an authenticated application.
type Request struct {
	App  storage.App
	Form url.Values
	Key  string // the thumbprint of the key that the request has proved (RFC 9449 5); "": none
}

func (r Request) work() *work { return &work{app: r.App, form: r.Form, key: r.Key, now: time.Now()} }

// Token serves one token request of an authenticated application (protocol 4.2). Everything is
// read, checked and minted before the one write that spends the presented code or token.
func (e *Engine) Token(ctx context.Context, r Request) (Granted, error) {
	w := r.work()
	if err := e.checkRequest(w); err != nil {
		return Granted{}, err
	}
	if w.decided() {
		if err := e.MayGrant(); err != nil { // the others are told by the store, which they write to
			return Granted{}, err
		}
		if _, err := e.mintAccess(w); err != nil {
			return Granted{}, err
		}
		return e.complete(ctx, w, Granted{App: w.app, At: w.now})
	}
	g, err := e.redeem(ctx, w)
	if w.lost && e.repeats(w.app) { // it is a replaced one by now
		return e.redeem(ctx, r.work())
	}
	return g, err
}

// Workload issues the token of an application that an assertion stands for, as that of client_credentials.
func (e *Engine) Workload(ctx context.Context, r Request) (Granted, error) {
	form := url.Values{"grant_type": {GrantClientCredentials}}
	if resource := r.Form.Get("resource"); resource != "" {
		form.Set("resource", resource)
	}
	w := &work{app: r.App, form: form, key: r.Key, now: time.Now(), brief: true}
	if err := cmp.Or(e.checkRequest(w), e.MayGrant()); err != nil {
		return Granted{}, err
	}
	if _, err := e.mintAccess(w); err != nil {
		return Granted{}, err
	}
	return e.complete(ctx, w, Granted{App: r.App, At: w.now})
}

// redeem has fosite judge a token request.
func (e *Engine) redeem(ctx context.Context, w *work) (Granted, error) {
	if w.scope != "" {
		w.form = maps.Clone(w.form)
		w.form.Set("scope", w.scope)
	}
	ctx = w.context(ctx)
	request, err := e.provider.NewAccessRequest(ctx, w.request(ctx, "POST"), newSession())
	if err != nil {
		return Granted{}, w.errorOf(err)
	}
	g := Granted{App: w.app, At: w.now}
	if w.found != nil {
		if err := e.readOwner(ctx, w, &g); err != nil {
			return Granted{}, err
		}
	}
	if _, err := e.provider.NewAccessResponse(ctx, request); err != nil {
		return Granted{}, w.errorOf(err)
	}
	return e.complete(ctx, w, g)
}

// decided reports whether checkRequest has left nothing to decide about a request: it is for the token of
// an application of its own, which may have one, and nothing is spent or stored for it.
func (w *work) decided() bool {
	return w.form.Get("grant_type") == GrantClientCredentials && slices.Contains(grantsOf(w.app), GrantClientCredentials)
}

// complete fills in what was minted, and makes the request's one write.
func (e *Engine) complete(ctx context.Context, w *work, g Granted) (_ Granted, err error) {
	g.Scope, g.ExpiresIn, g.Access, g.Refresh = w.scope, e.life(w), w.access, w.handle
	g.Key = w.key
	g.Challenge = w.found != nil && w.found.Challenge != ""
	if scope.Has(g.Scope, scope.OpenID) {
		if g.IDToken, err = e.IDToken(ctx, g); err != nil {
			return Granted{}, err
		}
	}
	return g, e.spend(ctx, w)
}

// checkRequest checks what the parameters alone can tell.
func (e *Engine) checkRequest(w *work) error {
	grant := w.form.Get("grant_type")
	switch param, named := needed[grant]; {
	case named && w.form.Get(param) == "":
		return refuse(InvalidRequest, param+" is missing")
	case grant == GrantClientCredentials && w.app.Public:
		return refuse(UnauthorizedClient,
			"a public client has no secret to prove itself with: it may not use client_credentials")
	case grant == GrantClientCredentials && w.app.Disabled:
		return refuse(UnauthorizedClient, "this application is disabled")
	case w.app.Disabled:
		return refuse(InvalidGrant, "this application is disabled")
	case grant == GrantClientCredentials:
		w.scope = scope.App // unknown names are ignored, not errors
	}
	return e.checkTarget(w.form.Get("resource"))
}

// needed holds the parameter without which a grant type has nothing to redeem.
var needed = map[string]string{GrantCode: "code", GrantRefresh: "refresh_token"}

// readOwner reads the user of the presented token, and narrows scope and resource.
func (e *Engine) readOwner(ctx context.Context, w *work, g *Granted) error {
	t := w.found
	if r := w.form.Get("resource"); r != "" && t.Resource != "" && r != t.Resource {
		return refuse(InvalidTarget, "resource differs from the one that was granted")
	}
	if requested := w.form.Get("scope"); requested != "" && t.Kind == driver.KindRefresh {
		narrowed := knownScopes(scope.WithoutElevated(requested), e.grantable, t.Scope)
		if !scope.Within(t.Scope, narrowed) {
			return refuse(InvalidScope, "scope is wider than what was granted: leave it out, or ask for less")
		}
		w.scope = narrowed
	}
	user, err := e.User(ctx, t.UserID)
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && user.Disabled:
		return refuse(InvalidGrant, "the user of this grant is gone or disabled")
	case err != nil:
		return err
	}
	if err := e.admitted(ctx, w, user); err != nil {
		return err
	}
	g.User, g.LoginType, g.AuthTime, g.Nonce = user, t.LoginType, t.AuthTime, t.Nonce
	l, err := luggageOf(t.SignIn)
	if g.SignIn = l.SignIn; err != nil {
		return err
	}
	if g.Groups, err = e.Groups(ctx, &w.app, t.UserID, w.scope); err != nil {
		return err
	}
	if w.app.GroupsInAccessToken && scope.Has(w.scope, scope.Groups) {
		w.groups = g.Groups
	}
	if t.Kind != driver.KindRefresh {
		g.OpenID, err = e.OpenID(ctx, t.AppID, t.UserID)
	}
	return err
}

// admitted refuses a user who may not use the application any more. The grant stays: the user may be let in again.
func (e *Engine) admitted(ctx context.Context, w *work, user storage.User) error {
	ok, err := e.Store.Admits(ctx, w.app, user)
	if ok || err != nil {
		return err
	}
	name := InvalidGrant
	if w.found.Kind == driver.KindDevice {
		name = AccessDenied // RFC 8628 3.5
	}
	return &Refusal{Name: name, User: user.Sub,
		Reason: "the user may not use this application: its owner or an administrator lets them in"}
}

// spend makes the request's one write.
func (e *Engine) spend(ctx context.Context, w *work) error {
	if !w.spend || w.again != "" {
		return nil
	}
	var next []driver.Token
	if w.next != nil { // an application whose document is without refresh_token gets none
		next = append(next, *w.next)
	}
	err := e.Store.Exchange(ctx, w.found.Key, w.now.UTC(), next...)
	switch {
	case errors.Is(err, storage.ErrSpent) && w.found.Kind == driver.KindCode:
		return codeUsed
	case errors.Is(err, storage.ErrSpent) && w.found.Kind == driver.KindDevice:
		return deviceUsed
	case errors.Is(err, storage.ErrSpent):
		w.lost = true
		return refreshReplaced
	case errors.Is(err, storage.ErrRevoked), errors.Is(err, storage.ErrNotFound):
		return refuse(InvalidGrant, "this grant has been revoked: sign in again")
	}
	return err
}

// GrantEnd returns the revocation that ends a token's family. It outlives everything the family
// may have issued by now; nothing can be added to it afterwards.
func (e *Engine) GrantEnd(t driver.Token, now time.Time) driver.Revocation {
	return driver.Revocation{Kind: driver.RevokeGrant, ID: t.Grant, Until: e.Outlives(now)}
}
