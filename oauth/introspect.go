package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/oauth/internal/claims"
	"github.com/keystile/keystile/oauth/internal/engine"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/claim"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// introspection is the answer about a token (RFC 7662 2.2). Of one that is not active it holds nothing
// else, whatever the reason.
type introspection struct {
	Active    bool   `json:"active"`
	Scope     string `json:"scope,omitempty"`
	ClientID  string `json:"client_id,omitempty"`
	Username  string `json:"username,omitempty"` // if the scope has profile
	TokenType string `json:"token_type,omitempty"`
	ExpiresAt int64  `json:"exp,omitempty"`
	IssuedAt  int64  `json:"iat,omitempty"`
	NotBefore int64  `json:"nbf,omitempty"`
	Subject   string `json:"sub,omitempty"`
	Audience  string `json:"aud,omitempty"`
	Issuer    string `json:"iss,omitempty"`
	TokenID   string `json:"jti,omitempty"`

	Confirms *confirmation `json:"cnf,omitempty"` // RFC 9449 6.2
	Actor    *actor        `json:"act,omitempty"` // RFC 8693 4.1

	more []byte // members behind these
}

// confirmation names the key that a token is bound to.
type confirmation struct {
	Thumbprint string `json:"jkt"`
}

// actor names who acts for the user, and who did before.
type actor struct {
	Subject string `json:"sub"`
	Before  *actor `json:"act,omitempty"`
}

// chainOf returns the chain of some actors, the current one first; nil: nobody acts by delegation.
func chainOf(actors []string) (chain *actor) {
	for _, sub := range slices.Backward(actors) {
		chain = &actor{sub, chain}
	}
	return chain
}

// extended is an answer with more.
type extended introspection

// AppendJSON implements reply.Appender.
func (e extended) AppendJSON(to []byte) []byte {
	text, err := json.Marshal(introspection(e))
	if err != nil {
		panic(err) // texts, numbers and a boolean marshal
	}
	return append(to, claims.Extend(text, e.more)...)
}

// introspector serves POST /oauth/introspect.
type introspector struct{ *authenticator }

// introspect serves POST /oauth/introspect (RFC 7662). Any application with a secret may ask about
// access tokens and API keys, and about refresh tokens of its own. token_type_hint is not needed: the
// kinds look different.
func (i *introspector) introspect(w http.ResponseWriter, r *http.Request) (err error) {
	entry := i.newEvent(r, event.Token)
	entry.Anonymous, entry.Detail = true, "introspection"
	defer func() {
		completeEvent(entry, err)
		i.c.Audit.Note(*entry)
	}()
	if r.URL.Query().Has("token") {
		return badRequest.Saying("token is sent in the query, where logs keep it: send it in the form body, and revoke it")
	}
	app, form, err := i.client(w, r)
	entry.App = app.ID
	switch {
	case err != nil:
		return err
	case app.Public:
		return secretNeeded
	}
	entry.Anonymous = false
	if app.Disabled {
		return disabledApp
	}
	text := form.Get("token")
	if text == "" {
		return missingToken
	}
	about, err := i.introspection(r.Context(), app, text)
	if err != nil {
		return badBearer(err)
	}
	reply.NoStore(w)
	if len(about.more) > 0 {
		return reply.JSON(w, http.StatusOK, extended(about))
	}
	return reply.JSON(w, http.StatusOK, about)
}

// introspection returns the answer about a token, to an application.
func (i *introspector) introspection(ctx context.Context, asks storage.App, text string) (introspection, error) {
	var facts token.Facts
	var err error
	refresh := false
	switch {
	case strings.HasPrefix(text, handle.RefreshPrefix):
		facts, err = i.refreshFacts(ctx, asks, text)
		refresh = true // without a token_type, which RFC 7662 2.2 has of RFC 6749 7.1, about access tokens
	case handle.LooksLikeAPIKey(text):
		facts.Caller, err = i.tokens.Verify(ctx, text)
		facts.IssuedAt = facts.Caller.GrantedAt
	default:
		facts, err = i.tokens.verifier.Facts(ctx, text, append(i.tokens.Resources(), i.issuer)...)
	}
	if err == nil {
		kind := tokenType(facts.Caller.KeyThumbprint)
		if refresh {
			kind = ""
		}
		return i.active(ctx, asks, facts, kind)
	}
	if errors.Is(err, ErrInvalidToken) {
		return introspection{}, nil
	}
	return introspection{}, err
}

// active returns the answer about a good token, unless its application or its user has gone, or the application does
// not admit the user any more. The application that asks was read a moment ago, and is there.
func (i *introspector) active(ctx context.Context, asks storage.App, f token.Facts,
	kind string) (introspection, error) {
	c, app := f.Caller, asks
	if c.AppID != asks.ID {
		var err error
		app, err = i.tokens.c.Store.App(ctx, c.AppID)
		if errors.Is(err, storage.ErrNotFound) || err == nil && app.Disabled {
			return introspection{}, nil
		}
		if err != nil {
			return introspection{}, err
		}
	}
	about := introspection{
		Active: true, Scope: c.Scope, ClientID: c.AppID, TokenType: kind, ExpiresAt: c.ExpiresAt.Unix(),
		IssuedAt:  f.IssuedAt.Unix(),
		NotBefore: f.IssuedAt.Unix(), Subject: c.AppID, Audience: c.Audience, Issuer: i.issuer, TokenID: c.TokenID,
	}
	if about.Actor = chainOf(c.Actors); c.KeyThumbprint != "" {
		about.Confirms = &confirmation{c.KeyThumbprint}
	}
	if c.UserID == "" {
		return about, nil
	}
	user, err := i.c.Users.User(ctx, c.UserID)
	if errors.Is(err, storage.ErrNotFound) || err == nil && user.Disabled {
		return introspection{}, nil
	}
	if err != nil {
		return introspection{}, err
	}
	if admitted, err := i.store.Admits(ctx, app, user); err != nil || !admitted {
		return introspection{}, err
	}
	about.Subject = c.UserID
	if scope.Has(c.Scope, scope.Profile) {
		about.Username = user.Username
	}
	if scope.Has(c.Scope, scope.Groups) || i.learns(app.Claims) {
		about.more, err = i.moreTo(ctx, asks, app, user, c.Scope)
	}
	return about, err
}

// moreTo returns what an application that asks about a token of an application learns of its user beside the usual
// members. Of groups that it must not know of it learns by no token of another one.
func (i *introspector) moreTo(ctx context.Context, asks, app storage.App, user storage.User,
	granted string) ([]byte, error) {
	names, err := i.groups(ctx, &app, user.Sub, granted)
	if err != nil {
		return nil, err
	}
	return i.more(ctx, question{app: &app, user: user, granted: granted, in: claim.InIntrospection,
		groups: asks.Shown(names)}), nil
}

// refreshFacts returns what a refresh token of an application holds. One that is unknown, of
// another application, spent or over is ErrInvalidToken.
func (i *introspector) refreshFacts(ctx context.Context, asks storage.App, text string) (token.Facts, error) {
	now := time.Now()
	t, err := i.store.Token(ctx, handle.KeyOf(text))
	if errors.Is(err, storage.ErrNotFound) {
		return token.Facts{}, ErrInvalidToken
	}
	if err != nil {
		return token.Facts{}, err
	}
	c := storage.Caller{AppID: t.AppID, UserID: t.UserID, Scope: t.Scope, Audience: i.issuer, Grant: t.Grant,
		GrantedAt: t.GrantedAt, ExpiresAt: t.ExpiresAt}
	if t.Kind != driver.KindRefresh || !t.Live(now) || t.AppID != asks.ID || i.tokens.revoked.Stops(c) {
		return token.Facts{}, ErrInvalidToken
	}
	if c.KeyThumbprint, err = engine.KeyOf(t); err != nil {
		return token.Facts{}, err
	}
	return token.Facts{Caller: c, IssuedAt: t.IssuedAt}, i.tokens.revoked.Stale(now)
}
