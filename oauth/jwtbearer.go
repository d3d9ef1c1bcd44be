package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/oauth/internal/engine"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/trust"
)

const idJAGKind = "id-jag" // of the tickets of those that have been used

// jwtBearer redeems an assertion for an access token (RFC 7523 2.1), by what its issuer is trusted with.
func (t *tokenEndpoint) jwtBearer(r *http.Request, asked engine.Request) (engine.Granted, error) {
	app, form := asked.App, asked.Form
	issuer, err := t.asserter(r.Context(), form)
	if err != nil {
		return engine.Granted{}, err
	}
	if issuer.Use == trust.IDJAG {
		return t.idJAG(r.Context(), issuer, asked)
	}
	if !provesItself(form) { // otherwise the application is that of the assertion
		switch meant, err := t.workload(r.Context(), issuer, form); {
		case err != nil:
			return engine.Granted{}, err
		case meant.ID != app.ID:
			return engine.Granted{}, badGrant.Saying("assertion is that of another application")
		}
	}
	return t.engine.Workload(r.Context(), asked)
}

// asserter returns the trusted issuer that an assertion claims to be of.
func (k *core) asserter(ctx context.Context, form url.Values) (trust.Issuer, error) {
	assertion := form.Get("assertion")
	if assertion == "" {
		return trust.Issuer{}, badRequest.Saying("assertion is missing")
	}
	issuer, err := k.trustedIssuer(ctx, token.IssuerOf(assertion))
	if errors.Is(err, storage.ErrNotFound) {
		err = unknownIssuer
	}
	return issuer, err
}

// provesItself reports whether a request has nothing but the token of a workload that proves its application.
func provesItself(form url.Values) bool {
	return form.Get("grant_type") == engine.GrantJWTBearer && !form.Has("client_secret") && !form.Has("client_assertion")
}

// workloadClient returns the application that the token of a workload stands for, of a request that proves itself by
// nothing else. A client_id, if there is one, is that of the application.
func (p *authenticator) workloadClient(ctx context.Context, form url.Values) (storage.App, error) {
	issuer, err := p.asserter(ctx, form)
	switch {
	case err != nil:
		return storage.App{}, err
	case issuer.Use != trust.Workload:
		return storage.App{}, wrongClient.Saying("an ID-JAG is redeemed by the application that it names: send its " +
			"client_id and client_secret, or client_assertion")
	}
	app, err := p.workload(ctx, issuer, form)
	if id := form.Get("client_id"); err == nil && id != "" && id != app.ID {
		return storage.App{}, badGrant.Saying("assertion is that of another application than client_id")
	}
	return app, err
}

// workload returns the application that the first rule of an issuer says a token is, which may be used until it ends:
// platforms hand out the same one again.
func (k *core) workload(ctx context.Context, issuer trust.Issuer, form url.Values) (app storage.App, err error) {
	audiences := []string{issuer.Audience}
	if issuer.Audience == "" {
		audiences = []string{k.issuer, k.issuer + "/"}
	}
	var g token.Grant
	err = k.signedBy(ctx, issuer, nil, func(keys token.KeySet) (err error) {
		g, err = keys.CheckWorkload(form.Get("assertion"), issuer.Issuer, audiences, time.Now())
		return err
	})
	if err != nil {
		return app, badAssertion(badGrant, "assertion", err)
	}
	at := slices.IndexFunc(issuer.Rules, func(r trust.Rule) bool { return r.Matches(g.Subject, g.Claims) })
	if at < 0 {
		return app, badGrant.Saying("no rule of the issuer is for this sub and these claims: ask an operator for one")
	}
	app, err = k.store.App(ctx, issuer.Rules[at].ClientID)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return app, badGrant.Saying("the rule of the issuer names an application that is not there: tell an operator")
	case err == nil && (app.Public || app.Client != nil || app.Disabled):
		return storage.App{}, badGrant.Saying("the application of this workload is disabled, or has no token of its own " +
			"because it is public: tell an operator")
	}
	return app, err
}

// idJAG redeems what an issuer asserts of a user for a token of that user.
//
// The assertion is used up after everything that can be found out without writing, and before a person becomes a user:
// if it is sent again, it must not bring back a user who was deleted.
func (t *tokenEndpoint) idJAG(ctx context.Context, issuer trust.Issuer, asked engine.Request) (engine.Granted, error) {
	var none engine.Granted
	app, form := asked.App, asked.Form
	switch {
	case app.Public && (app.Client == nil || app.Client.AuthMethod != client.AuthPrivateKeyJWT):
		return none, badRequest.Named(engine.UnauthorizedClient).Saying("a public application cannot redeem an ID-JAG: " +
			"whoever had it could")
	case app.MFA == authn.MFARequired:
		return none, badGrant.Saying("this application requires two factors, which an assertion does not prove: use the " +
			"authorization endpoint")
	case t.c.Assertions.Users == nil:
		return none, badGrant.Saying("this service knows no users of other issuers")
	}
	var g token.Grant
	err := t.signedBy(ctx, issuer, nil, func(keys token.KeySet) (err error) {
		g, err = keys.CheckIDJAG(form.Get("assertion"), issuer.Issuer, []string{t.issuer, t.issuer + "/"}, time.Now())
		return err
	})
	if err != nil {
		return none, badAssertion(badGrant, "assertion", err)
	}
	if g.ClientID != app.ID {
		return none, badGrant.Saying("assertion is for another application: its client_id is not that of the request")
	}
	d, err := t.asserted(issuer, g, form)
	if err != nil {
		return none, err
	}
	if d.User, err = t.assertedUser(ctx, app, issuer, g); err != nil {
		return none, err
	}
	d.Key = asked.Key
	return t.engine.Delegate(ctx, app, d)
}

// asserted returns what an ID-JAG can be redeemed for: of the scope what is asserted, what is asked for and what its
// issuer is trusted with; of the resources the one that is asked for, or the only one.
func (k *core) asserted(issuer trust.Issuer, g token.Grant, form url.Values) (d engine.Delegated, err error) {
	resource := form.Get("resource")
	for i, asserted := range g.Resources {
		g.Resources[i] = k.engine.Target(asserted)
	}
	switch {
	case len(g.Resources) == 1 && resource == "":
		resource = g.Resources[0]
	case len(g.Resources) > 0 && resource == "":
		return d, badRequest.Named(engine.InvalidTarget).Saying("assertion names several resources: say which one")
	case len(g.Resources) > 0 && !slices.Contains(g.Resources, resource):
		return d, badRequest.Named(engine.InvalidTarget).Saying("resource is none that the assertion names")
	}
	if err := k.engine.CheckTarget(resource); err != nil {
		return d, failed(err)
	}
	granted := k.engine.Wanted(resource)
	if g.HasScope {
		granted = k.engine.Known(g.Scope)
	}
	if len(issuer.Scopes) > 0 {
		granted = engine.Shared(strings.Join(issuer.Scopes, " "), granted)
	}
	if d.Scope = engine.Shared(granted, form.Get("scope")); d.Scope == "" {
		return d, badRequest.Named(engine.InvalidScope).Saying("nothing of this scope is both asserted and allowed to the " +
			"issuer: ask for less")
	}
	if d.Audience = resource; resource == "" {
		d.Audience = k.issuer
	}
	d.Until = engine.Until(time.Now())
	return d, nil
}

// assertedUser returns the user of an ID-JAG, which it uses up.
func (t *tokenEndpoint) assertedUser(ctx context.Context, app storage.App, issuer trust.Issuer,
	g token.Grant) (user storage.User, err error) {
	connector := t.c.Assertions.Connectors[issuer.Issuer]
	if connector == "" {
		connector = "oidc"
	}
	subject := "i:" + issuer.Issuer + "#" + g.Subject
	user, err = t.c.Assertions.Users.Asserted(ctx, connector, subject, "", false)
	switch {
	case errors.Is(err, storage.ErrNotFound) && !issuer.Create:
		return user, badGrant.Saying("nobody here is the user of this assertion: they sign in once by their provider, or " +
			"are imported, before that")
	case err != nil && !errors.Is(err, storage.ErrNotFound):
		return user, err
	case err == nil:
		if err := t.engine.MayDelegate(ctx, app, user); err != nil {
			return user, err
		}
	}
	unknown := err != nil
	err = usedUp(ctx, t.store, idJAGKind, issuer.Issuer, app.ID, token.Assertion{ID: g.ID, End: g.End})
	switch {
	case errors.Is(err, storage.ErrExists):
		return user, badGrant.Saying("assertion was used before: get another one")
	case err != nil || !unknown:
		return user, err
	}
	if user, err = t.c.Assertions.Users.Asserted(ctx, connector, subject, g.Email, true); err != nil {
		return user, err
	}
	return user, t.engine.MayDelegate(ctx, app, user)
}
