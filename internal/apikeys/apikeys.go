// Package apikeys makes and ends the API keys of users, for the account page, the command line and
// the revocation endpoint.
package apikeys

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/apikey"
	"github.com/keystile/keystile/storage/driver"
)

// Maker keeps API keys; *storage.Store does.
type Maker interface {
	CreateAPIKey(ctx context.Context, k apikey.Key, life time.Duration) (apikey.Key, error)
}

// Make makes an API key of a user (a sub), and returns its text, which is not kept. The name loses
// the spaces around it. A wrong name, scope or life is an ErrInvalid.
func Make(ctx context.Context, store Maker, sub, name, wanted string,
	life time.Duration) (text string, k apikey.Key, err error) {
	wanted, err = checkScope(wanted)
	if err != nil {
		return "", k, err
	}
	text = handle.NewAPIKey()
	k, err = store.CreateAPIKey(ctx, apikey.Key{ID: handle.Hash(text), UserID: sub, Name: strings.TrimSpace(name),
		Scope: wanted}, life)
	if err != nil {
		return "", k, err
	}
	return text, k, nil
}

// checkScope returns a scope in order, each name once.
func checkScope(wanted string) (string, error) {
	names := strings.Fields(wanted)
	for _, name := range names {
		if !scope.OfKeys(name) {
			return "", fmt.Errorf("%w: scope: a key cannot hold %.100q: give tools, tools/read, tools:CAPABILITY, "+
				"tools:CAPABILITY/TOOL, tools:b:BUNDLE, openid, profile or email", storage.ErrInvalid, name)
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " "), nil
}

// Remover removes API keys; *storage.Store does.
type Remover interface {
	RemoveAPIKey(ctx context.Context, id string) error
}

// heard is longer than a process goes on with a key that it has read before and is not told of.
const heard = 24 * time.Hour

// End ends an API key: first in every process that has seen it, then in the store. On an error it is
// to be called again.
func End(ctx context.Context, store Remover, revoke func(context.Context, ...driver.Revocation) error,
	id string) error {
	told := driver.Revocation{Kind: driver.RevokeJTI, ID: id, Until: time.Now().Add(heard).UTC()}
	if err := revoke(ctx, told); err != nil {
		return err
	}
	return store.RemoveAPIKey(ctx, id)
}
