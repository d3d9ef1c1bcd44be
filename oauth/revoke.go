package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/apikeys"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// revocation serves POST /oauth/revoke.
type revocation struct{ *authenticator }

// revoke serves POST /oauth/revoke (protocol 4.4, RFC 7009). token_type_hint is not needed: the
// two kinds of token look different.
func (e *revocation) revoke(w http.ResponseWriter, r *http.Request) error {
	entry := e.newEvent(r, event.Revocation)
	entry.Anonymous = true
	err := e.revokeForClient(w, r, entry)
	completeEvent(entry, err)
	if err != nil || entry.Anonymous {
		e.c.Audit.Note(*entry)
	} else if err := e.c.Audit.NoteNow(r.Context(), *entry); err != nil {
		return auditFailed.Because(err)
	}
	if err != nil {
		return err
	}
	reply.NoStore(w)
	return reply.JSON(w, http.StatusOK, revokeResponse{Msg: "success"})
}

// revokeForClient revokes the token of the request. An application without a secret is identified
// only by a valid token of its own; until then the event is anonymous.
func (e *revocation) revokeForClient(w http.ResponseWriter, r *http.Request, entry *event.Event) error {
	form, err := clientForm(w, r)
	if err != nil {
		return err
	}
	app, err := e.revoker(r, form)
	entry.App = app.ID
	if err != nil {
		return err
	}
	entry.Anonymous = app.Public
	text := form.Get("token")
	if text == "" {
		return missingToken
	}
	ended, err := e.revokeToken(r.Context(), app, text, entry)
	entry.Anonymous = entry.Anonymous && !ended
	return err
}

// revoker returns the application that revokes. Any holder of an API key may end it, such as the
// finder of a leaked one: keys are issued to the client_id of API keys, which is public.
func (e *revocation) revoker(r *http.Request, form url.Values) (storage.App, error) {
	if form.Get("client_id") == storage.KeysAppID {
		return e.tokens.c.Store.App(r.Context(), storage.KeysAppID)
	}
	return e.clientOf(r, form)
}

type revokeResponse struct {
	Code int    `json:"code"`
	Msg  string `json:"msg"`
}

// revokeToken revokes a token: a refresh token with its whole family, an access token alone. An
// unknown or expired one is no error (RFC 7009 2.2).
func (e *revocation) revokeToken(ctx context.Context, app storage.App, text string,
	entry *event.Event) (ended bool, err error) {
	switch {
	case strings.HasPrefix(text, handle.RefreshPrefix):
		return e.revokeFamily(ctx, app, text)
	case handle.LooksLikeAPIKey(text):
		return e.revokeKey(ctx, app, text, entry)
	}
	caller, err := e.tokens.verifier.Issued(text)
	switch {
	case err != nil:
		return false, nil
	case caller.AppID != app.ID:
		return false, foreignToken
	}
	return true, e.tokens.revoked.Revoke(ctx, driver.Revocation{Kind: driver.RevokeJTI, ID: caller.TokenID,
		Until: caller.ExpiresAt})
}

func (e *revocation) revokeFamily(ctx context.Context, app storage.App, text string) (ended bool, err error) {
	now := time.Now()
	t, err := e.store.Token(ctx, handle.KeyOf(text))
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	case t.Kind != driver.KindRefresh || !now.Before(t.ExpiresAt):
		return false, nil
	case t.AppID != app.ID:
		return false, foreignToken
	}
	return true, e.tokens.revoked.Revoke(ctx, e.engine.GrantEnd(t, now))
}

// revokeKey ends an API key, and names it in the audit event.
func (e *revocation) revokeKey(ctx context.Context, app storage.App, text string,
	entry *event.Event) (ended bool, err error) {
	if !handle.IsAPIKey(text) {
		return false, nil
	}
	k, err := e.store.APIKey(ctx, handle.Hash(text))
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	case !k.Live(time.Now()):
		return false, nil
	case app.ID != storage.KeysAppID:
		return false, keyOfUser
	}
	entry.User, entry.Detail = k.UserID, "API key revoked: "+k.ID
	return true, apikeys.End(ctx, e.store, e.tokens.revoked.Revoke, k.ID)
}
