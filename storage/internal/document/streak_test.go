package document_test

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

// locked is a backend of which one sort of writes fails.
type locked struct {
	driver.Backend
	tokens, records, counts atomic.Bool
}

var errLocked = errors.New("the table is locked")

func (l *locked) Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
	if l.tokens.Load() {
		return errLocked
	}
	return l.Backend.Exchange(ctx, key, at, next...)
}

func (l *locked) Append(ctx context.Context, records ...driver.Record) error {
	if l.records.Load() {
		return errLocked
	}
	return l.Backend.Append(ctx, records...)
}

func (l *locked) Prune(ctx context.Context, through uint64, n int) (int, error) {
	if l.records.Load() {
		return 0, errLocked
	}
	return l.Backend.Prune(ctx, through, n)
}

func (l *locked) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error {
	if l.counts.Load() {
		return errLocked
	}
	return l.Backend.Count(ctx, b, counts)
}

// One sort of writes fails while all others go well. One failure, which may be that request's own, says nothing.
func TestSortOfWritesThatFailsAgainAndAgainIsNotReady(t *testing.T) {
	for name, c := range map[string]struct {
		lock  func(*locked) *atomic.Bool
		write func(*storage.Store) error
		wait  time.Duration // from the end of the lock, where nothing else is written
	}{
		"tokens": {func(l *locked) *atomic.Bool { return &l.tokens }, func(s *storage.Store) error {
			return s.Exchange(context.Background(), driver.Key{1}, time.Now())
		}, time.Second},
		"records": {func(l *locked) *atomic.Bool { return &l.records }, func(s *storage.Store) error {
			return s.Append(context.Background(), driver.Record{At: time.Now(), Data: []byte("x")})
		}, time.Second},
		"counts": {func(l *locked) *atomic.Bool { return &l.counts }, func(s *storage.Store) error {
			b := driver.Batch{Node: "n", Seq: uint64(time.Now().UnixNano())}
			return s.Count(context.Background(), b, []driver.Count{{AppID: "a", Calls: 1, At: time.Now().Truncate(time.Hour)}})
		}, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &locked{Backend: memory.New()}
				s, err := storage.Open(t.Context(), l, storage.NewMasterKey())
				if err != nil {
					t.Fatal(err)
				}
				c.lock(l).Store(true)
				for i := range 3 {
					if err := s.Set(t.Context(), "other", "goes well"); err != nil {
						t.Fatal(err)
					}
					if err := s.Ready(t.Context()); err != nil {
						t.Errorf("after %d failures it is not ready: %v", i, err)
					}
					if err := c.write(s); !errors.Is(err, storage.ErrUnavailable) {
						t.Fatalf("a write that has to fail: %v", err)
					}
				}
				for range 4 {
					if err := s.Set(t.Context(), "other", "goes well"); err != nil {
						t.Fatal(err)
					}
					if err := s.Ready(t.Context()); !errors.Is(err, storage.ErrUnavailable) || !errors.Is(err, errLocked) {
						t.Errorf("while %s fail, Ready() = %v", name, err)
					}
					time.Sleep(time.Second)
				}
				c.lock(l).Store(false)
				time.Sleep(c.wait)
				if err := s.Ready(t.Context()); err != nil {
					t.Errorf("once %s work again: %v", name, err)
				}
			})
		})
	}
}
