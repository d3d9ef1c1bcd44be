package oauth

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/dpop"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

const proofKind = "dpop-proof" // of the tickets of those that have been used

// proofsOf says how proofs are judged: of a store of this process alone in memory, else in the store (decision 121).
func proofsOf(c TokensConfig) dpop.Config {
	if !c.Store.Shared() {
		return dpop.Config{Origin: c.BaseURL}
	}
	key := func(ctx context.Context) (storage.Secret, error) { return c.Store.HMACKey(ctx, "DPoP nonces") }
	once := func(ctx context.Context, id []byte, until time.Time) (bool, error) {
		_, err := c.Store.SaveTicket(ctx, storage.Ticket{
			ID:   handle.Hash(proofKind + driver.Separator + base64.RawURLEncoding.EncodeToString(id)),
			Kind: proofKind, CreatedAt: time.Now().UTC(), ExpiresAt: until.UTC(),
		})
		if errors.Is(err, storage.ErrExists) {
			return false, nil
		}
		return err == nil, err
	}
	return dpop.Config{Origin: c.BaseURL, Key: dpop.Shared(key), Once: once}
}

// keyOf returns the thumbprint of the key that the tokens of a token request are to be bound to (RFC 9449 5); "": they
// are bearer tokens. An application that does not use DPoP may send anything in its header.
func (t *tokenEndpoint) keyOf(w http.ResponseWriter, r *http.Request, app *storage.App) (string, error) {
	mode := app.KeyBinding()
	if mode == storage.DPoPOff {
		return "", nil
	}
	key, err := t.tokens.proofs.Key(w.Header(), r)
	if err == nil && key == "" && mode == storage.DPoPRequired {
		return "", proofMissing
	}
	return key, dpop.AtToken(err)
}
