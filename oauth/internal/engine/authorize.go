package engine

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/ory/fosite"
)

// defaultScope is granted to users' applications that ask for nothing in particular (protocol 4.1).
const defaultScope = scope.OpenID + " " + scope.Profile

// Authorization is a valid authorize request that only lacks the user.
type Authorization struct {
	engine  *Engine
	work    *work
	request fosite.AuthorizeRequester
	bound   string // the thumbprint of the key that redeems the code; "": any
}

// Authorize validates an authorize request of an application whose redirect_uri has been
// validated (protocol 4.1). Its refusals may be sent to that redirect_uri.
func (e *Engine) Authorize(ctx context.Context, app storage.App, form url.Values) (*Authorization, error) {
	w := &work{app: app, form: maps.Clone(form), now: time.Now()}
	w.scope = e.wanted(form)
	if err := e.checkTarget(form.Get("resource")); err != nil {
		return nil, err
	}
	if !slices.Contains(grantsOf(app), GrantCode) {
		return nil, refuse(UnauthorizedClient, "this application has not named the grant type authorization_code")
	}
	bound, err := boundTo(app, form)
	if err != nil {
		return nil, err
	}
	challenge, method, err := e.challenge(ctx, w)
	if err != nil {
		return nil, err
	}
	w.next = &driver.Token{
		Kind: driver.KindCode, AppID: app.ID, Scope: w.scope, Resource: form.Get("resource"),
		RedirectURI: form.Get("redirect_uri"), Challenge: challenge, Method: method, Nonce: form.Get("nonce"),
	}
	// fosite is shown the scope that will be granted, and never an empty state, which it
	// would refuse: the caller adds the state to the redirect.
	w.form.Set("scope", w.scope)
	w.form.Set("state", "-")
	ctx = w.context(ctx)
	request, err := e.provider.NewAuthorizeRequest(ctx, w.request(ctx, "GET"))
	if err != nil {
		return nil, w.errorOf(err)
	}
	return &Authorization{engine: e, work: w, request: request, bound: bound}, nil
}

// Scope returns the scope that would be granted: known names only, each once.
func (a *Authorization) Scope() string { return a.work.scope }

// Issue issues a code for a signed-in user, in one write. It carries what they have allowed, which is
// no more than Scope, and what the application learns of how they signed in.
func (a *Authorization) Issue(ctx context.Context, who storage.Session, how SignIn,
	allowed string) (code string, err error) {
	e, w := a.engine, a.work
	w.next.Scope = allowed
	for _, s := range strings.Fields(allowed) {
		a.request.GrantScope(s)
	}
	granted := e.Store.Later(w.now)
	w.next.Grant, w.next.GrantedAt = handle.NewGrant(granted), granted
	w.next.IssuedAt, w.next.ExpiresAt = w.now.UTC(), w.now.Add(e.CodeLifetime).UTC()
	w.next.UserID, w.next.AuthTime, w.next.LoginType, w.next.SignIn = who.UserID, who.ProvedAt(), who.SignInMethod(),
		luggage{how, a.bound}.text()
	if _, err := e.provider.NewAuthorizeResponse(w.context(ctx), a.request, newSession()); err != nil {
		return "", w.errorOf(err)
	}
	if err := e.Store.Issue(ctx, *w.next); err != nil {
		return "", err
	}
	return w.handle, nil
}
