package memory

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/keystile/keystile/storage"
)

// Store keeps everything in maps. The mutex guards all fields below it.
type Store struct {
	mu     sync.Mutex
	closed bool

	tokens      map[storage.Key]storage.Token
	revocations map[name]storage.Revocation
	revoked     uint64 // last Seq given to a revocation

	docs    map[name]storage.Doc
	version int64 // last version given to a document

	usage   map[row]storage.Count
	batches map[string]uint64 // highest Seq seen, by node
	records []storage.Record  // record i has Seq pruned+i+1
	pruned  uint64            // records before them that were removed
}

// name is what a document or a revocation is found by.
type name struct{ kind, id string }

var _ storage.Backend = (*Store)(nil)

// New makes an empty Store.
func New() *Store {
	return &Store{
		tokens:      map[storage.Key]storage.Token{},
		revocations: map[name]storage.Revocation{},
		docs:        map[name]storage.Doc{},
		usage:       map[row]storage.Count{},
		batches:     map[string]uint64{},
	}
}

// step runs one method's work alone.
func (s *Store) step(ctx context.Context, do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("memory: the store is closed")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return do()
}

// Sweep removes about n of what ended by at.
func (s *Store) Sweep(ctx context.Context, at time.Time, n int) (removed int, err error) {
	err = s.step(ctx, func() error {
		ended := func(end time.Time) bool {
			if removed == n || end.IsZero() || end.After(at) {
				return false
			}
			removed++
			return true
		}
		maps.DeleteFunc(s.tokens, func(_ storage.Key, t storage.Token) bool { return ended(t.ExpiresAt) })
		maps.DeleteFunc(s.revocations, func(_ name, r storage.Revocation) bool { return ended(r.Until) })
		maps.DeleteFunc(s.docs, func(_ name, d storage.Doc) bool { return ended(d.ExpiresAt) })
		maps.DeleteFunc(s.usage, func(r row, _ storage.Count) bool {
			return !r.daily && ended(r.at.Add(storage.UsageHours+1))
		})
		return nil
	})
	return removed, err
}

// Close ends the Store. There is nothing to flush, and no caller that waits.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// plain keeps the moment a time names and drops its zone and monotonic reading.
func plain(t time.Time) time.Time { return t.Round(0).UTC() }
