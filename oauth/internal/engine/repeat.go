package engine

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// An agent that registered itself often runs several times on one device with one set of tokens, or loses an answer,
// and its user would have to sign in again. For a while its replaced refresh token is answered with the same successor
// (decision 90). That is kept nowhere: it is derived from the replaced token and the time of its replacement, by a key
// that the nodes share, so neither the store nor an old token tells it without the other.

// repeats reports whether replaced refresh tokens of an application are answered once more.
func (e *Engine) repeats(app storage.App) bool {
	return app.Client != nil && e.AgentsRefreshWindow > 0 && e.SuccessorKey != nil
}

// nextRefresh returns the refresh token that a request issues.
func (e *Engine) nextRefresh(ctx context.Context, w *work) (string, error) {
	if w.found.Kind != driver.KindRefresh || !e.repeats(w.app) {
		return handle.New(handle.RefreshPrefix, w.now), nil
	}
	return e.successor(ctx, w, w.now)
}

// successor returns the refresh token that replaces the presented one at a time.
func (e *Engine) successor(ctx context.Context, w *work, at time.Time) (string, error) {
	key, err := e.SuccessorKey(ctx)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	mac.Write([]byte(w.form.Get("refresh_token")))
	return handle.Derived(handle.RefreshPrefix, at, [24]byte(mac.Sum(nil)[:24])), nil
}

// repeat looks for the successor of a refresh token that was replaced a short while ago. If nobody has used it, it is
// the answer once more. If one has, two parties hold the tokens of one grant, which ends; otherwise it ends or not as
// byAge says.
func (e *Engine) repeat(ctx context.Context, w *work, t driver.Token, byAge bool) (ends bool, err error) {
	text, err := e.successor(ctx, w, t.SpentAt)
	if err != nil {
		return false, err
	}
	next, err := e.Store.Token(ctx, handle.KeyOf(text))
	switch {
	case errors.Is(err, storage.ErrNotFound): // it was drawn, by a node without a window
		return byAge, nil
	case err != nil:
		return false, err
	case !next.SpentAt.IsZero():
		return true, nil
	case !next.Live(w.now):
		return false, nil
	}
	over, err := e.Revoker.StopsNow(ctx, storage.Caller{AppID: t.AppID, UserID: t.UserID, Grant: t.Grant,
		GrantedAt: t.GrantedAt})
	if err != nil || over {
		return false, err
	}
	if err := e.MayGrant(); err != nil { // which the store looks at where it is written to
		return false, err
	}
	w.again = text
	return false, nil
}
