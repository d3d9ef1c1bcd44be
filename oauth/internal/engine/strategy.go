package engine

import (
	"context"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage/driver"
	"github.com/ory/fosite"
)

// strategy mints the tokens that fosite asks for and records them in the unit of work. The key
// under which fosite stores a token, its "signature", is the handle itself: the adapter makes the
// key of it.
type strategy struct{ *Engine }

func (s strategy) GenerateAuthorizeCode(ctx context.Context, _ fosite.Requester) (string, string, error) {
	w := workOf(ctx)
	w.handle = handle.New("", w.now)
	w.next.Key = handle.KeyOf(w.handle)
	return w.handle, w.handle, nil
}

func (s strategy) GenerateAccessToken(ctx context.Context, _ fosite.Requester) (string, string, error) {
	text, err := s.mintAccess(workOf(ctx))
	return text, text, err
}

func (e *Engine) mintAccess(w *work) (string, error) {
	c := token.Claims{
		Issuer:   e.Issuer,
		Audience: e.audience(w),
		ClientID: w.app.ID,
		Scope:    w.scope,
		Groups:   w.groups,

		KeyThumbprint: w.key,
	}
	if w.found != nil {
		c.Subject, c.Grant = w.found.UserID, w.found.Grant
	} else {
		c.Subject, c.Grant = w.app.ID, handle.NewGrant(e.Store.Later(w.now)) // client_credentials: a grant of its own
	}
	err := e.mint(w, c, e.life(w))
	return w.access, err
}

// life returns the lifetime of the access token.
func (e *Engine) life(w *work) time.Duration {
	if w.brief {
		return min(e.lifetime(w.scope), assertedLifetime)
	}
	return e.lifetime(w.scope)
}

// audience returns the requested resource, or the issuer.
func (e *Engine) audience(w *work) string {
	if r := w.form.Get("resource"); r != "" {
		return r
	}
	if w.found != nil && w.found.Resource != "" {
		return w.found.Resource
	}
	return e.Issuer
}

// GenerateRefreshToken makes the successor of the token at hand. It keeps the scope of
// the grant even where the access token has less (RFC 6749 6), but no scope that is granted only
// once: no refresh renews it.
func (s strategy) GenerateRefreshToken(ctx context.Context, _ fosite.Requester) (string, string, error) {
	w := workOf(ctx)
	if w.again != "" { // it is stored already
		w.handle = w.again
		return w.handle, w.handle, nil
	}
	var err error
	if w.handle, err = s.nextRefresh(ctx, w); err != nil {
		w.storeErr = err
		return "", "", err
	}
	luggage, err := w.nextLuggage()
	if err != nil {
		w.storeErr = err
		return "", "", err
	}
	w.next = &driver.Token{
		Key: handle.KeyOf(w.handle), Kind: driver.KindRefresh,
		Grant: w.found.Grant, GrantedAt: w.found.GrantedAt,
		AppID: w.found.AppID, UserID: w.found.UserID, Scope: scope.WithoutElevated(w.found.Scope),
		IssuedAt: w.now, ExpiresAt: w.now.Add(s.RefreshLifetime),
		AuthTime: w.found.AuthTime, LoginType: w.found.LoginType, SignIn: luggage, Resource: w.found.Resource,
	}
	return w.handle, w.handle, nil
}

func (strategy) AuthorizeCodeSignature(_ context.Context, code string) string { return code }
func (strategy) AccessTokenSignature(_ context.Context, text string) string   { return text }
func (strategy) RefreshTokenSignature(_ context.Context, text string) string  { return text }

// The adapter has checked what it returned.

func (strategy) ValidateAuthorizeCode(context.Context, fosite.Requester, string) error { return nil }
func (strategy) ValidateRefreshToken(context.Context, fosite.Requester, string) error  { return nil }

// ValidateAccessToken: access tokens are verified in internal/token, never here.
func (strategy) ValidateAccessToken(context.Context, fosite.Requester, string) error {
	return fosite.ErrInvalidTokenFormat
}
