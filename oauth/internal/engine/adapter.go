package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/ory/fosite"
)

// adapter implements fosite's storage. It reads once, writes nothing, and leaves what is to be
// written in the unit of work.
type adapter struct{ *Engine }

func (a adapter) GetClient(ctx context.Context, _ string) (fosite.Client, error) {
	return client{workOf(ctx)}, nil
}

// ClientAssertionJWTValid: private_key_jwt is not offered.
func (a adapter) ClientAssertionJWTValid(context.Context, string) error { return fosite.ErrJTIKnown }

var errNotOffered = errors.New("not offered")

func (a adapter) CreateAuthorizeCodeSession(context.Context, string, fosite.Requester) error {
	return nil // the strategy has made the record
}

// GetAuthorizeCodeSession finds and checks the code, and answers anything but a valid one with
// "not found", so that fosite draws no conclusions of its own.
func (a adapter) GetAuthorizeCodeSession(ctx context.Context, code string, _ fosite.Session) (fosite.Requester, error) {
	r, err := a.present(ctx, code, driver.KindCode, a.checkUsedCode)
	if w := workOf(ctx); err == nil && w.form.Get("redirect_uri") != w.found.RedirectURI {
		w.refusal = refuse(InvalidGrant,
			"redirect_uri differs from the one sent to the authorization endpoint: send the same, byte for byte")
		return nil, fosite.ErrNotFound
	}
	return r, err
}

func (a adapter) InvalidateAuthorizeCodeSession(ctx context.Context, _ string) error {
	workOf(ctx).spend = true
	return nil
}

func (a adapter) CreateRefreshTokenSession(context.Context, string, string, fosite.Requester) error {
	return nil
}

// GetRefreshTokenSession is GetAuthorizeCodeSession for refresh tokens.
func (a adapter) GetRefreshTokenSession(ctx context.Context, handle string,
	_ fosite.Session) (fosite.Requester, error) {
	return a.present(ctx, handle, driver.KindRefresh, a.checkUsedRefresh)
}

func (a adapter) RotateRefreshToken(ctx context.Context, _, _ string) error {
	workOf(ctx).spend = true
	return nil
}

// Access tokens are not stored.
func (a adapter) CreateAccessTokenSession(context.Context, string, fosite.Requester) error {
	return nil
}

// present reads the token behind a handle once per request. Tokens of another kind or of
// another application are unknown to this one: their replay must change nothing.
func (a adapter) present(ctx context.Context, text, kind string,
	used func(context.Context, driver.Token)) (fosite.Requester, error) {
	w := workOf(ctx)
	if w.found != nil {
		return stored(w), nil
	}
	t, err := a.Store.Token(ctx, handle.KeyOf(text))
	w.refusal = unknownToken[kind]
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil, fosite.ErrNotFound
	case err != nil:
		w.storeErr = err
		return nil, err
	case t.Kind != kind, t.AppID != w.app.ID, !w.now.Before(t.ExpiresAt):
		return nil, fosite.ErrNotFound
	}
	if w.refusal, w.storeErr = checkKey(w, t); w.storeErr != nil {
		return nil, w.storeErr
	}
	switch {
	case w.refusal != nil:
		return nil, fosite.ErrNotFound
	case !t.SpentAt.IsZero():
		if used(ctx, t); w.again == "" {
			return nil, fosite.ErrNotFound
		}
	}
	w.found, w.scope, w.refusal = &t, t.Scope, nil
	return stored(w), nil
}

var unknownToken = map[string]*Refusal{
	driver.KindCode: refuse(InvalidGrant,
		"this code is unknown here or has expired: start again at the authorization endpoint"),
	driver.KindRefresh: refuse(InvalidGrant, "this refresh token is unknown here or has expired: sign in again"),
}

// judgeUsedCode handles a code that was redeemed before. A replay that is valid otherwise, and too
// late to be a retry, ends the grant: the sender may hold the tokens (RFC 6749 4.1.2). An invalid
// one ends nothing: that would let strangers sign users out.
func (a adapter) checkUsedCode(ctx context.Context, t driver.Token) {
	w := workOf(ctx)
	w.refusal = codeUsed
	right := w.form.Get("redirect_uri") == t.RedirectURI && checkVerifier(t, w.form.Get("code_verifier")) == nil
	if right && w.now.Sub(t.SpentAt) >= a.CodeReuseLeeway {
		w.storeErr = a.endGrant(ctx, t)
	}
}

// judgeUsedRefresh handles a refresh token that was replaced before. Presented again after the
// leeway, it ends the family (RFC 9700 4.14.2). One of an agent may be answered once more.
func (a adapter) checkUsedRefresh(ctx context.Context, t driver.Token) {
	w := workOf(ctx)
	w.refusal = refreshReplaced
	ends := w.now.Sub(t.SpentAt) >= a.RefreshReuseLeeway
	if a.repeats(w.app) && w.now.Sub(t.SpentAt) < a.AgentsRefreshWindow {
		if ends, w.storeErr = a.repeat(ctx, w, t, ends); w.storeErr != nil {
			return
		}
	}
	if ends {
		w.storeErr = a.endGrant(ctx, t)
	}
}

func (a adapter) endGrant(ctx context.Context, t driver.Token) error {
	return a.Revoker.Revoke(ctx, a.GrantEnd(t, workOf(ctx).now))
}

// stored returns the request that fosite expects from its storage. Scope and grant come from the
// record; the redirect_uri is there for fosite to compare. It is made once: a code's scope stays, and fosite
// changes nothing of it.
func stored(w *work) fosite.Requester {
	if w.stored != nil {
		return w.stored
	}
	r := fosite.NewRequest()
	w.stored = r
	r.ID, r.RequestedAt, r.Client, r.Session = w.found.Grant, w.found.IssuedAt, client{w}, newSession()
	r.Form.Set("redirect_uri", w.found.RedirectURI)
	for _, s := range strings.Fields(w.scope) {
		r.AppendRequestedScope(s)
		r.GrantScope(s)
	}
	return r
}
