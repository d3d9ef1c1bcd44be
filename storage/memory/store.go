package memory

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Store keeps everything in maps. The mutex guards all fields below it.
type Store struct {
	mu     sync.Mutex
	closed bool

	tokens      map[driver.Key]driver.Token
	revocations map[name]driver.Revocation
	revoked     uint64 // last Seq given to a revocation

	docs    map[name]driver.Doc
	version int64 // last version given to a document

	usage    map[row]driver.Count
	batches  map[string]uint64 // highest Seq seen, by node
	records  []driver.Record   // ascending by Seq
	appended uint64            // last Seq given to a record
}

// name is the key of a document or a revocation.
type name struct{ kind, id string }

var _ driver.Backend = (*Store)(nil)

// Describe returns what a Store is.
func (*Store) Describe() (kind, version, at string) { return "memory", "", "" }

// Summed says that documents need no checksum: no disk keeps them.
func (*Store) Summed() {}

// New makes an empty Store.
func New() *Store {
	return &Store{
		tokens:      map[driver.Key]driver.Token{},
		revocations: map[name]driver.Revocation{},
		docs:        map[name]driver.Doc{},
		usage:       map[row]driver.Count{},
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
		maps.DeleteFunc(s.tokens, func(_ driver.Key, t driver.Token) bool { return ended(t.ExpiresAt) })
		maps.DeleteFunc(s.revocations, func(_ name, r driver.Revocation) bool { return ended(r.Until) })
		maps.DeleteFunc(s.docs, func(_ name, d driver.Doc) bool { return ended(d.ExpiresAt) })
		maps.DeleteFunc(s.usage, func(r row, _ driver.Count) bool {
			return !r.daily && ended(r.at.Add(driver.UsageHours+1))
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
