package storage_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// failing is a backend whose disk can be taken away.
type failing struct {
	driver.Backend
	err    error // what writes and sweeps answer
	hangs  bool  // writes wait for the end of their context
	unread error // what the feed answers
	puts   atomic.Int64
}

func (f *failing) fail(ctx context.Context) error {
	if f.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	return f.err
}

func (f *failing) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	f.puts.Add(1)
	if err := f.fail(ctx); err != nil {
		return 0, err
	}
	return f.Backend.Put(ctx, docs...)
}

func (f *failing) Sweep(ctx context.Context, at time.Time, n int) (int, error) {
	if err := f.fail(ctx); err != nil {
		return 0, err
	}
	return f.Backend.Sweep(ctx, at, n)
}

func (f *failing) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	if err := f.fail(ctx); err != nil {
		return err
	}
	return f.Backend.Revoke(ctx, rs...)
}

func (f *failing) Revocations(ctx context.Context, after uint64, n int) ([]driver.Revocation, error) {
	if f.unread != nil {
		return nil, f.unread
	}
	return f.Backend.Revocations(ctx, after, n)
}

var errDisk = errors.New("no space left on device")

// onFailing runs a test over a backend that can fail, in a bubble of its own time.
func onFailing(t *testing.T, test func(*testing.T, *failing, *storage.Store)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		backend := &failing{Backend: memory.New()}
		test(t, backend, opened(t, backend))
	})
}

func wantReady(t *testing.T, s *storage.Store, when string, want bool) {
	t.Helper()
	if err := s.Ready(t.Context()); (err == nil) != want || err != nil && !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("%s: Ready() = %v, want ready %t", when, err, want)
	}
}

func TestStoreThatWritesNoMoreIsNotReadyAndRecoversByItself(t *testing.T) {
	onFailing(t, func(t *testing.T, backend *failing, s *storage.Store) {
		wantReady(t, s, "at the beginning", true)
		backend.err = errDisk
		if err := s.Set(t.Context(), "x", "1"); err == nil {
			t.Fatal("a write that failed is no error")
		}
		wantReady(t, s, "a write has failed", false)
		time.Sleep(time.Minute)
		wantReady(t, s, "a minute later", false)
		backend.err = nil
		time.Sleep(time.Minute)
		wantReady(t, s, "with room again, and nobody has written", true)
	})
}

func TestStoreThatNobodyWritesToIsProbed(t *testing.T) {
	onFailing(t, func(t *testing.T, backend *failing, s *storage.Store) {
		wantReady(t, s, "at the beginning", true)
		time.Sleep(time.Minute)
		backend.err = errDisk // and nobody writes
		wantReady(t, s, "the disk is full", false)
	})
}

func TestSweepThatFailsMakesAStoreUnready(t *testing.T) {
	onFailing(t, func(t *testing.T, backend *failing, s *storage.Store) {
		wantReady(t, s, "at the beginning", true)
		backend.err = errDisk
		if _, err := s.Sweep(t.Context(), time.Now()); err == nil {
			t.Fatal("a sweep that failed is no error")
		}
		wantReady(t, s, "a sweep has failed", false)
		backend.err = nil
		if _, err := s.Sweep(t.Context(), time.Now()); err != nil { // finds nothing, so it has written nothing
			t.Fatal(err)
		}
		wantReady(t, s, "an empty sweep proves nothing", false)
		if err := s.Set(t.Context(), "x", "1"); err != nil {
			t.Fatal(err)
		}
		wantReady(t, s, "a write proves it", true)
	})
}

func TestProbesAreFewAndLeaveOneDocument(t *testing.T) {
	onFailing(t, func(t *testing.T, backend *failing, s *storage.Store) {
		before := backend.puts.Load()
		for range 1000 { // ten a second
			wantReady(t, s, "asked often", true)
			time.Sleep(100 * time.Millisecond)
		}
		if probes := backend.puts.Load() - before; probes < 10 || probes > 21 {
			t.Errorf("asked 1,000 times in 100 s it has written %d times, want one in 5 s", probes)
		}
		if docs, _, err := backend.List(t.Context(), "probe", driver.Is("all"), 10); err != nil || len(docs) != 0 {
			t.Errorf("the probe has index entries: %d, %v", len(docs), err)
		}
		before = backend.puts.Load()
		for range 100 {
			if err := s.Set(t.Context(), "x", "1"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			wantReady(t, s, "written to all the time", true)
		}
		if probes := backend.puts.Load() - before - 100; probes != 0 {
			t.Errorf("a store that is written to all the time was probed %d times", probes)
		}
	})
}

func TestProbesOfABrokenStoreAreFewToo(t *testing.T) {
	onFailing(t, func(t *testing.T, backend *failing, s *storage.Store) {
		time.Sleep(time.Minute)
		backend.err = errDisk
		before := backend.puts.Load()
		for range 1000 {
			wantReady(t, s, "broken", false)
			time.Sleep(100 * time.Millisecond)
		}
		if probes := backend.puts.Load() - before; probes > 21 {
			t.Errorf("asked 1,000 times in 100 s it has tried %d times, want one in 5 s", probes)
		}
	})
}

func TestWriteThatHangsMakesAStoreUnready(t *testing.T) {
	onFailing(t, func(t *testing.T, backend *failing, s *storage.Store) {
		time.Sleep(time.Minute)
		backend.hangs = true
		done := make(chan struct{})
		began := time.Now()
		for range 10 { // all wait for one probe, none for ever
			go func() { defer func() { done <- struct{}{} }(); wantReady(t, s, "the disk hangs", false) }()
		}
		for range 10 {
			<-done
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("they were told after %v", took)
		}
		backend.hangs = false
		time.Sleep(time.Minute)
		wantReady(t, s, "it hangs no more", true)
	})
}

func TestCallerWhoGoesAwayDoesNotMakeAStoreUnready(t *testing.T) {
	onFailing(t, func(t *testing.T, backend *failing, s *storage.Store) {
		wantReady(t, s, "at the beginning", true)
		gone, leave := context.WithCancel(t.Context())
		leave()
		backend.hangs = true
		if err := s.Set(gone, "x", "1"); err == nil {
			t.Fatal("a write whose caller has gone is no error")
		}
		backend.hangs = false
		wantReady(t, s, "a caller has gone", true)
		for range 3 {
			if err := s.FirstKeys(t.Context(), "ES256", storage.SigningKey{ID: "k", Alg: "ES256",
				State: storage.KeyActive}); err != nil {
				t.Fatal(err)
			}
		}
		wantReady(t, s, "a verdict is no trouble", true)
	})
}

func TestStoreWhoseRevocationsCannotBeReadIsNotReady(t *testing.T) {
	onFailing(t, func(t *testing.T, backend *failing, s *storage.Store) {
		backend.unread = errDisk
		wantReady(t, s, "the feed is not readable", false)
		backend.unread = nil
		wantReady(t, s, "it is again", true)
	})
}
