package token

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Run with -race: nothing here may wait for, or see half of, anything else.
func TestEverythingAtOnce(t *testing.T) {
	v, store := verifier(t, ES256)
	v.cache = newCache(1) // so that tokens are pushed out all the time
	one, two := store.keys[0], store.keys[1]
	ctx, cancel := context.WithCancel(t.Context())
	var helpers, users sync.WaitGroup
	repeat := func(do func(i int)) {
		helpers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				do(i)
			}
		})
	}
	repeat(func(i int) {
		a, b := one, two
		if i%2 == 1 {
			a, b = two, one
		}
		a.State, b.State = storage.KeyActive, storage.KeyRetired
		b.ExpiresAt = time.Now().Add(week)
		if i%3 == 0 {
			b.State, b.ExpiresAt = storage.KeyNext, time.Time{}
		}
		store.set(a, b)
		v.keys.Reload(ctx)
		v.keys.JWKS()
	})
	repeat(func(i int) { v.revoked.Revoke(ctx, driver.Revocation{Kind: driver.RevokeJTI, ID: strconv.Itoa(i)}) })
	helpers.Go(func() { v.revoked.Follow(ctx, every(time.Millisecond, time.Hour)) })
	for u := range 4 {
		users.Go(func() {
			for i := range 50 {
				bearer, err := v.keys.SignAccess(genuine())
				if err != nil {
					t.Errorf("SignAccess() = %v, want no error", err)
					return
				}
				for range 3 {
					if _, err := v.Verify(ctx, bearer); err != nil {
						t.Errorf("user %d, token %d: Verify() = %v, want no error", u, i, err)
					}
				}
			}
		})
	}
	users.Wait()
	cancel()
	helpers.Wait()
}
