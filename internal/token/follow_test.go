package token

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// every follows the feed alone, and tells nobody.
func every(d, staleAfter time.Duration) Follower {
	none := func(error) {}
	return Follower{Every: d, StaleAfter: staleAfter, Also: func(context.Context) error { return nil }, Forgot: none,
		Turned: none}
}

// followed runs a verifier that follows its feed every second and trusts it for ten; it
// runs inside a bubble and ends with it.
func followed(t *testing.T) (v *Verifier, feed *wire, stop func()) {
	t.Helper()
	v, _ = verifier(t, ES256)
	feed = v.revoked.feed.(*wire)
	ctx, cancel := context.WithCancel(t.Context())
	go v.revoked.Follow(ctx, every(time.Second, 10*time.Second))
	synctest.Wait()
	return v, feed, func() { cancel(); synctest.Wait() }
}

func TestRevocationOfAnotherNodeArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, feed, stop := followed(t)
		defer stop()
		bearer := mint(t, v.keys, nil)
		time.Sleep(time.Minute + time.Millisecond)
		feed.RestoreRevocations(t.Context(), driver.Revocation{Kind: driver.RevokeJTI, ID: genuine().ID,
			Until: time.Now().Add(week)})
		if _, err := v.Verify(t.Context(), bearer); err != nil {
			t.Errorf("Verify(before the next read) = %v, want no error", err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if _, err := v.Verify(t.Context(), bearer); !errors.Is(err, ErrInvalid) {
			t.Errorf("Verify(after the next read) = %v, want ErrInvalid", err)
		}
	})
}

func TestStaleFeedIsNotTrusted(t *testing.T) {
	for name, broken := range map[string]func(*wire){
		"fails": func(w *wire) { w.err = errAway },
		"hangs": func(w *wire) { w.slow = time.Hour },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v, feed, stop := followed(t)
				defer stop()
				bearer := mint(t, v.keys, nil)
				feed.mu.Lock()
				broken(feed)
				feed.mu.Unlock()
				time.Sleep(10 * time.Second)
				synctest.Wait()
				if _, err := v.Verify(t.Context(), bearer); err != nil {
					t.Errorf("Verify(10 s after a good read) = %v, want no error", err)
				}
				time.Sleep(time.Nanosecond)
				if caller, err := v.Verify(t.Context(), bearer); !errors.Is(err, ErrStale) || errors.Is(err, ErrInvalid) ||
					!reflect.DeepEqual(caller, storage.Caller{}) {
					t.Errorf("Verify(later) = %v, %v, want ErrStale", caller, err)
				}
				if _, err := v.Verify(t.Context(), bearer+"A"); !errors.Is(err, ErrInvalid) {
					t.Errorf("Verify(bad token, later) = %v, want ErrInvalid", err)
				}
			})
		})
	}
}

func TestFeedThatComesBackIsTrustedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, feed, stop := followed(t)
		defer stop()
		bearer := mint(t, v.keys, nil)
		feed.fail(errAway)
		time.Sleep(time.Minute)
		synctest.Wait()
		if _, err := v.Verify(t.Context(), bearer); !errors.Is(err, ErrStale) || !errors.Is(err, errAway) {
			t.Errorf("Verify() = %v, want ErrStale because %v", err, errAway)
		}
		feed.fail(nil)
		time.Sleep(time.Second)
		synctest.Wait()
		if _, err := v.Verify(t.Context(), bearer); err != nil {
			t.Errorf("Verify() = %v, want no error", err)
		}
	})
}

func TestAgeOfTheSetCountsFromItsOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, _ := verifier(t, ES256)
		bearer := mint(t, v.keys, nil)
		time.Sleep(time.Minute)
		if _, err := v.Verify(t.Context(), bearer); err != nil {
			t.Errorf("Verify(nobody follows) = %v, want no error", err)
		}
		v.revoked.feed.(*wire).slow = time.Hour
		ctx, cancel := context.WithCancel(t.Context())
		go v.revoked.Follow(ctx, every(time.Second, 10*time.Second))
		synctest.Wait()
		if _, err := v.Verify(t.Context(), bearer); !errors.Is(err, ErrStale) {
			t.Errorf("Verify(read a minute ago, then never) = %v, want ErrStale", err)
		}
		cancel()
		synctest.Wait()
		if _, err := v.Verify(t.Context(), bearer); err != nil {
			t.Errorf("Verify(nobody follows any more) = %v, want no error", err)
		}
	})
}

func TestAgeOfTheSetCountsFromTheBeginningOfARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, feed, stop := followed(t)
		defer stop()
		bearer := mint(t, v.keys, nil)
		feed.mu.Lock()
		feed.slow = 15 * time.Second
		feed.mu.Unlock()
		time.Sleep(16 * time.Second) // the read began after one second
		synctest.Wait()
		if _, err := v.Verify(t.Context(), bearer); !errors.Is(err, ErrStale) {
			t.Errorf("Verify(just after a read of 15 s) = %v, want ErrStale: what it saw is as old", err)
		}
	})
}

func TestFollowReadsAtItsPaceAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, feed, stop := followed(t)
		time.Sleep(time.Minute)
		synctest.Wait()
		stop()
		reads := feed.reads
		time.Sleep(time.Hour)
		if want := 1 + 1 + 60; reads != want || feed.reads != want {
			t.Errorf("the feed was read %d times, then %d, want %d: at opening, at once and every second", reads, feed.reads,
				want)
		}
	})
}
