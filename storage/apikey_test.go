package storage_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/apikey"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

func drawKey(sub string) apikey.Key {
	return apikey.Key{ID: handle.Hash(handle.NewAPIKey()), UserID: sub, Name: "nightly build", Scope: "tools"}
}

func TestAPIKeyIsKeptUntilItEndsOrIsRemoved(t *testing.T) {
	s := emptyStore(t)
	k, err := s.CreateAPIKey(t.Context(), drawKey("u1"), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.CreateAPIKey(t.Context(), drawKey("u2"), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.UseAPIKey(t.Context(), k, time.Now()); err != nil {
		t.Fatal(err)
	}
	got, err := s.APIKey(t.Context(), k.ID)
	if err != nil || got.UsedAt.IsZero() || got.Scope != "tools" || !got.Live(time.Now()) || got.Live(got.ExpiresAt) {
		t.Errorf("APIKey() = %+v, %v", got, err)
	}
	if all, err := s.APIKeys(t.Context(), "u1"); err != nil || len(all) != 1 || all[0].ID != k.ID {
		t.Errorf("APIKeys(u1) = %+v, %v", all, err)
	}
	for range 2 {
		if err := s.RemoveAPIKey(t.Context(), k.ID); err != nil {
			t.Errorf("RemoveAPIKey() = %v", err)
		}
	}
	if _, err := s.UseAPIKey(t.Context(), got, time.Now()); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("UseAPIKey() of one that is gone = %v, want ErrConflict", err)
	}
	if _, err := s.APIKey(t.Context(), k.ID); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("APIKey() of one that is gone = %v", err)
	}
	if _, err := s.Sweep(t.Context(), time.Now().Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.APIKey(t.Context(), other.ID); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("APIKey() of one that has ended = %v, want it swept", err)
	}
}

func TestAPIKeyThatIsWrongIsNotKept(t *testing.T) {
	s := emptyStore(t)
	for promise, change := range map[string]func(*apikey.Key) time.Duration{
		"a year at most": func(*apikey.Key) time.Duration { return apikey.MaxLife + 1 },
		"not ended":      func(*apikey.Key) time.Duration { return 0 },
		"a name":         func(k *apikey.Key) time.Duration { k.Name = ""; return time.Hour },
		"one line":       func(k *apikey.Key) time.Duration { k.Name = "a\nb"; return time.Hour },
		"a scope":        func(k *apikey.Key) time.Duration { k.Scope = ""; return time.Hour },
		"a user":         func(k *apikey.Key) time.Duration { k.UserID = ""; return time.Hour },
		"a hash":         func(k *apikey.Key) time.Duration { k.ID = handle.NewAPIKey(); return time.Hour },
	} {
		k := drawKey("u1")
		life := change(&k)
		if _, err := s.CreateAPIKey(t.Context(), k, life); !errors.Is(err, storage.ErrInvalid) {
			t.Errorf("%s: CreateAPIKey() = %v, want ErrInvalid", promise, err)
		}
	}
}

func TestUserHasTwentyAPIKeysAtMostAlsoIfAllAreMadeAtOnce(t *testing.T) {
	s := emptyStore(t)
	var made, full atomic.Int64
	var all sync.WaitGroup
	for i := range 2 * apikey.MaxLive {
		all.Go(func() {
			switch _, err := s.CreateAPIKey(context.Background(), drawKey("u1"), time.Hour); {
			case err == nil:
				made.Add(1)
			case errors.Is(err, apikey.ErrTooMany):
				full.Add(1)
			default:
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	all.Wait()
	if made.Load() != apikey.MaxLive || full.Load() != apikey.MaxLive {
		t.Errorf("%d were made and %d refused, want %d of each", made.Load(), full.Load(), apikey.MaxLive)
	}
	keys, err := s.APIKeys(t.Context(), "u1")
	if err != nil || len(keys) != apikey.MaxLive {
		t.Fatalf("there are %d, %v", len(keys), err)
	}
	if _, err := s.CreateAPIKey(t.Context(), drawKey("u2"), time.Hour); err != nil {
		t.Errorf("another user's first: %v", err)
	}
	if err := s.RemoveAPIKey(t.Context(), keys[0].ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateAPIKey(t.Context(), drawKey("u1"), time.Hour); err != nil {
		t.Errorf("in the place of one that was revoked: %v", err)
	}
}

// A revocation is kept for as long as a token lives, which is shorter than the life of a key.
func TestSignOutEverywhereEndsAPIKeysForGood(t *testing.T) {
	s := emptyStore(t)
	before, err := s.CreateAPIKey(t.Context(), drawKey("u1"), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.CreateAPIKey(t.Context(), drawKey("u2"), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.RevokeDated(t.Context(), driver.Revocation{Kind: driver.RevokeUser, ID: "u1",
		Before: time.Now().Add(time.Second)}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.APIKey(t.Context(), before.ID); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the key of before is there: %v", err)
	}
	if _, err := s.APIKey(t.Context(), other.ID); err != nil {
		t.Errorf("another user's has gone: %v", err)
	}
	if _, err := s.CreateAPIKey(t.Context(), drawKey("u1"), time.Hour); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("one that counts as made before: %v, want ErrConflict", err)
	}
}

// midway does something once, just before a key is written.
type midway struct {
	driver.Backend
	once sync.Once
	do   func()
}

func (m *midway) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	for _, d := range docs {
		if d.Kind == "apikey" && !d.Deleted {
			m.once.Do(m.do)
		}
	}
	return m.Backend.Put(ctx, docs...)
}

func TestKeyThatIsBeingMadeDoesNotEscapeASignOutEverywhere(t *testing.T) {
	for _, earlier := range []int{0, 1} {
		t.Run(fmt.Sprint(earlier, " keys before"), func(t *testing.T) {
			b := &midway{Backend: memory.New()}
			t.Cleanup(func() { b.Close() })
			s, err := storage.Open(t.Context(), b, storage.NewMasterKey())
			if err != nil {
				t.Fatal(err)
			}
			b.do = func() {}
			for range earlier {
				if _, err := s.CreateAPIKey(t.Context(), drawKey("u1"), time.Hour); err != nil {
					t.Fatal(err)
				}
			}
			b.once, b.do = sync.Once{}, func() {
				if _, err := s.RevokeDated(t.Context(), driver.Revocation{Kind: driver.RevokeUser, ID: "u1",
					Before: time.Now()}); err != nil {
					t.Error(err)
				}
			}
			k, err := s.CreateAPIKey(t.Context(), drawKey("u1"), time.Hour)
			if !errors.Is(err, storage.ErrConflict) {
				t.Errorf("CreateAPIKey() = %+v, %v, want ErrConflict", k, err)
			}
			if left, err := s.APIKeys(t.Context(), "u1"); err != nil || len(left) != 0 {
				t.Errorf("left are %+v, %v", left, err)
			}
		})
	}
}

func TestApplicationOfAPIKeysAndThatOfTheConsoleAreBuiltIn(t *testing.T) {
	for id, name := range map[string]string{storage.KeysAppID: "API keys", storage.ConsoleAppID: "Console"} {
		t.Run(id, func(t *testing.T) { isBuiltIn(t, id, name) })
	}
}

func isBuiltIn(t *testing.T, id, name string) {
	s := emptyStore(t)
	a, err := s.App(t.Context(), id)
	if err != nil || !a.Public || a.FirstParty || a.Owner != "" || a.TierAt(time.Now()) != storage.TierFree ||
		a.Name != name {
		t.Fatalf("App() = %+v, %v", a, err)
	}
	a.Disabled = true
	for promise, do := range map[string]func() error{
		"saved": func() error { _, err := s.SaveApp(t.Context(), a); return err },
		"created": func() error {
			a := a
			a.Owner = "u1"
			_, err := s.CreateApp(t.Context(), a, 0, storage.Quota{})
			return err
		},
		"given":   func() error { _, err := s.GiveApp(t.Context(), a, "u1"); return err },
		"deleted": func() error { return s.DeleteApp(t.Context(), a, storage.Quota{}) },
		"removed": func() error { return s.RemoveClient(t.Context(), a) },
	} {
		if err := do(); !errors.Is(err, storage.ErrInvalid) {
			t.Errorf("it can be %s: %v", promise, err)
		}
	}
	if again, err := s.App(t.Context(), id); err != nil || again.Disabled {
		t.Errorf("App() = %+v, %v afterwards", again, err)
	}
	if all, _, err := s.Apps(t.Context(), "", "", 10); err != nil || len(all) != 0 {
		t.Errorf("Apps() = %+v, %v", all, err)
	}
	if got := (storage.Caller{AppID: id, UserID: "u1"}).Account(); got != id+" u1" {
		t.Errorf("Account() = %q", got)
	}
}
