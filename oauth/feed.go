package oauth

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/internal/logout"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

const (
	followEvery = time.Second     // between two reads of what other processes have written
	minStale    = 2 * followEvery // or the time between two reads would count as a failure

	listenPause, maxListenPause = time.Second, 30 * time.Second // before Listen is called again
)

// feed is the revocations of a Store, whose users' applications are told that they are signed out.
type feed struct{ Store }

func (f feed) RevokeDated(ctx context.Context, rs ...driver.Revocation) ([]driver.Revocation, error) {
	return logout.Revoke(ctx, f.Store, rs...)
}

func (f feed) RestoreRevocations(ctx context.Context, rs ...driver.Revocation) error {
	return logout.Restore(ctx, f.Store, rs...)
}

// successorKeyOf returns what reads, once, the key that the successors of agents' refresh tokens are derived by.
//
// By that key, a repetition writes nothing, so it asks for revocations of other nodes itself. Of two
// requests that replace a token at once, the slower reads what the other has stored and is answered with that.
func successorKeyOf(s Store) func(context.Context) (storage.Secret, error) {
	var known atomic.Pointer[storage.Secret]
	return func(ctx context.Context) (storage.Secret, error) {
		if key := known.Load(); key != nil {
			return *key, nil
		}
		key, err := s.HMACKey(ctx, "successors of refresh tokens")
		if err == nil {
			known.Store(&key)
		}
		return key, err
	}
}

// Feed says how well this process follows what others write to the same store.
type Feed struct {
	Shared      bool          // false: nobody else writes there, and there is nothing to follow
	Age         time.Duration // since the last complete read began
	Regressions uint64        // how often the store had lost what was read from it
	Err         error         // why no access token is accepted now; nil: they are
}

// Feed returns how well this process follows what others revoke and change.
func (t *Tokens) Feed() Feed {
	now := time.Now()
	return Feed{Shared: t.c.Store.Shared(), Age: t.revoked.Age(now), Regressions: t.revoked.Regressions(),
		Err: t.revoked.Stale(now)}
}

// watchKeys notes when other processes change the signing keys.
func (t *Tokens) watchKeys(c storage.Change) {
	if c.Kind == storage.ChangedKeys {
		t.keysChanged.Store(true)
	}
}

// follow reads what other processes revoke and change, each second and whenever one tells, until
// life ends.
func (t *Tokens) follow(life context.Context) {
	if !t.c.Store.Shared() {
		return
	}
	hint := make(chan struct{}, 1)
	t.work.Go(func() {
		t.listen(life, func() {
			select {
			case hint <- struct{}{}:
			default: // a read is due already
			}
		})
	})
	t.work.Go(func() {
		t.revoked.Follow(life, token.Follower{
			Every: followEvery, StaleAfter: t.c.StaleAfter, Hint: hint, Also: t.readChanges, Forgot: t.forgot, Turned: t.turned,
		})
	})
}

// readChanges reads which documents have changed, and the signing keys if they have.
func (t *Tokens) readChanges(ctx context.Context) error {
	if err := t.c.Store.ReadChanges(ctx); err != nil {
		return err
	}
	if !t.keysChanged.Swap(false) {
		return nil
	}
	err := t.ReloadKeys(ctx)
	if err != nil {
		t.keysChanged.Store(true)
	}
	return err
}

func (t *Tokens) forgot(err error) {
	t.c.Log.Error("the store is behind what was read from it, as after a failover that lost writes: all is read anew, "+
		"and until then no access token is accepted", "err", err)
}

// turned logs that reading begins to fail, and that it works again.
func (t *Tokens) turned(err error) {
	if err == nil {
		t.c.Log.Info("what other processes revoke and change is read again")
		return
	}
	t.c.Log.Warn("what other processes revoke and change cannot be read; unless it can be soon, no access token is "+
		"accepted", "stale_after", t.c.StaleAfter, "err", err)
}

// listen has hint called when other processes tell of a change, until ctx ends.
func (t *Tokens) listen(ctx context.Context, hint func()) {
	for pause := listenPause; ; {
		began := time.Now()
		err := t.c.Store.Listen(ctx, hint)
		if err == nil || ctx.Err() != nil {
			return
		}
		if time.Since(began) > maxListenPause {
			pause = listenPause
		}
		if pause == listenPause {
			t.c.Log.Warn("other processes' changes are found by looking each second: listening for them failed", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
			pause = min(2*pause, maxListenPause)
		}
	}
}
