// Package apikeys verifies API keys.
//
// # Choices
//
// A key is read from the store at its first use, and every few minutes after that in the background,
// where the hour of its last use is written too. Between, it costs what a remembered access token
// costs. A key ends early by a revocation, like an access token: of the key itself (kind jti), or of
// its user. So changes of keys need no feed of their own, and a process that is behind refuses keys as
// it refuses tokens.
//
// The checksum of a key is no secret: anybody can make up texts that pass. So a text that is not
// remembered is counted against the address it comes from before the store is asked, where a gateway
// counts, and few are looked up at once. Unknown ones are not remembered: there is no end of them.
package apikeys

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/internal/cache"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/apikey"
)

const (
	maxKnown   = 100_000         // keys to remember
	maxLookups = 16              // of unknown texts at once; the others wait
	maxLooks   = 4               // of known keys at once, in the background; the others come later
	lookEvery  = 5 * time.Minute // between two looks at a key that is in use
	lookAgain  = 10 * time.Second
	lookTime   = 5 * time.Second
	trusted    = 30 * time.Minute // how long a key is good that could not be looked at
)

// Store keeps API keys; *storage.Store does.
type Store interface {
	APIKey(ctx context.Context, id string) (apikey.Key, error)
	UseAPIKey(ctx context.Context, k apikey.Key, at time.Time) (apikey.Key, error)
}

// Config holds what New needs.
type Config struct {
	Issuer  string
	Store   Store
	Revoked *token.Revoked
	Go      func(func(ctx context.Context)) // runs a look in the background
	Log     *slog.Logger
}

// Verifier verifies API keys.
type Verifier struct {
	c       Config
	known   *cache.Cache[[sha256.Size]byte, *entry] // good ones, by the hash of their text
	lookups chan struct{}
	looks   chan struct{}
}

// entry is a key that was found in the store.
type entry struct {
	caller storage.Caller
	read   atomic.Int64 // when it was last there, in Unix nanoseconds
	due    atomic.Int64 // when it is to be looked at again, likewise
}

// New makes a Verifier.
func New(c Config) *Verifier {
	return &Verifier{
		c: c, known: cache.New[[sha256.Size]byte, *entry](maxKnown),
		lookups: make(chan struct{}, maxLookups), looks: make(chan struct{}, maxLooks),
	}
}

func invalid(reason string) error { return fmt.Errorf("%w: %s", token.ErrInvalid, reason) }

// Verify returns who an API key speaks for. Its audience is the issuer. The errors are those of
// [token.Verifier.Verify], and of a store that does not answer.
func (v *Verifier) Verify(ctx context.Context, text string, audiences ...string) (storage.Caller, error) {
	if !handle.IsAPIKey(text) {
		return storage.Caller{}, invalid("the checksum of the API key is wrong")
	}
	if len(audiences) > 0 && !token.IsOneOf(v.c.Issuer, audiences) {
		return storage.Caller{}, invalid("an API key is for the service itself")
	}
	now, sum := time.Now(), digest(text)
	if err := v.c.Revoked.Stale(now); err != nil {
		return storage.Caller{}, err
	}
	e, ok := v.remembered(sum, now)
	if !ok {
		var err error
		if e, err = v.lookup(ctx, sum, now); err != nil {
			return storage.Caller{}, err
		}
	}
	switch {
	case !now.Before(e.caller.ExpiresAt):
		return storage.Caller{}, invalid("expired")
	case v.c.Revoked.Stops(e.caller):
		return storage.Caller{}, invalid("revoked")
	}
	v.keepLooking(e, sum, now)
	return e.caller, nil
}

func digest(text string) [sha256.Size]byte {
	var room [64]byte // texts have one length, and fit
	return sha256.Sum256(room[:copy(room[:], text)])
}

func (v *Verifier) remembered(sum [sha256.Size]byte, now time.Time) (*entry, bool) {
	e, ok := v.known.Get(sum)
	return e, ok && now.UnixNano()-e.read.Load() < int64(trusted)
}

func (v *Verifier) lookup(ctx context.Context, sum [sha256.Size]byte, now time.Time) (*entry, error) {
	if err := reqctx.Hold(ctx); err != nil {
		return nil, err
	}
	select {
	case v.lookups <- struct{}{}:
		defer func() { <-v.lookups }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if e, ok := v.remembered(sum, now); ok {
		return e, nil
	}
	k, err := v.c.Store.APIKey(ctx, hex.EncodeToString(sum[:]))
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil, invalid("no such API key")
	case err != nil:
		return nil, err
	}
	e := &entry{caller: storage.Caller{
		AppID: storage.KeysAppID, UserID: k.UserID, Scope: k.Scope, Audience: v.c.Issuer, TokenID: k.ID,
		GrantedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt,
	}}
	e.read.Store(now.UnixNano())
	if now.Before(k.ExpiresAt) && !v.c.Revoked.Stops(e.caller) {
		v.known.Put(sum, e)
	}
	return e, nil
}

// keepLooking looks at a key in the background if that is due and not too much goes on.
func (v *Verifier) keepLooking(e *entry, sum [sha256.Size]byte, now time.Time) {
	due := e.due.Load()
	if now.UnixNano() < due {
		return
	}
	select {
	case v.looks <- struct{}{}:
	default:
		return
	}
	if !e.due.CompareAndSwap(due, now.Add(lookEvery).UnixNano()) {
		<-v.looks // another request does
		return
	}
	v.c.Go(func(ctx context.Context) {
		defer func() { <-v.looks }()
		if err := v.look(ctx, e, sum); err != nil {
			e.due.Store(time.Now().Add(lookAgain).UnixNano())
			v.c.Log.Debug("an API key could not be looked at", "key", e.caller.TokenID, "err", err)
		}
	})
}

// look makes sure that a key is still there, and writes when it was used.
func (v *Verifier) look(ctx context.Context, e *entry, sum [sha256.Size]byte) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	now := time.Now()
	k, err := v.c.Store.APIKey(ctx, e.caller.TokenID)
	if errors.Is(err, storage.ErrNotFound) {
		v.known.Delete(sum)
		return nil
	}
	if err != nil {
		return err
	}
	e.read.Store(now.UnixNano())
	if now.Sub(k.UsedAt) < apikey.UsedEvery {
		return nil
	}
	_, err = v.c.Store.UseAPIKey(ctx, k, now)
	if errors.Is(err, storage.ErrConflict) { // another process has written it, or removed the key
		return nil
	}
	return err
}
