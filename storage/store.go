package storage

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Store is the typed view of a Backend that other packages use. Its records carry a
// Version: 0 when they are made, the stored one afterwards. Saving a record that has
// changed meanwhile fails with ErrConflict.
type Store struct {
	backend  driver.Backend // a *writes around the Backend given to Open
	writes   *writes
	sealer   atomic.Pointer[sealer]
	apps     *memo[App]
	users    *memo[User]
	clock    clock
	features featureMemo
	changes  changes
	shards   shards
	queued   chan struct{} // see Queued
	sids     atomic.Pointer[Secret]

	unpacking chan struct{} // holds one value for each list of tools that is being unpacked

	sealing sync.RWMutex // held by every write, and to change sealer
	rekeyed bool         // sealer is not the one of Open: records may be sealed with another key
}

// Open makes a Store over a backend. The first master key seals; all of them open. The
// first Open of an empty backend leaves a mark there, so that any later one with the wrong
// key fails here instead of at the first login, and names the missing key. See
// [Store.BeginRekey] for how one key follows another.
//
// A store in which a newer version has used a feature that this one does not know is
// refused with ErrNewer: see Feature. The target of a copy that was not finished is refused with
// ErrUnfinished.
//
// Closing the Store is closing the backend.
func Open(ctx context.Context, backend driver.Backend, keys ...MasterKey) (*Store, error) {
	return open(ctx, backend, readMachine, keys)
}

func open(ctx context.Context, backend driver.Backend, read func() clockReading, keys []MasterKey) (*Store, error) {
	sealer, err := newSealer(keys)
	if err != nil {
		return nil, err
	}
	counted := &writes{Backend: newSums(backend)}
	s := &Store{backend: counted, writes: counted, apps: newMemo(App.clone), users: newMemo(User.clone), shards: newShards(), queued: make(chan struct{}, 1), unpacking: make(chan struct{}, maxUnpacking)}
	s.sealer.Store(sealer)
	s.clock.store.read = read
	if err := s.checkFeatures(ctx); err != nil {
		return nil, err
	}
	if err := s.checkMaster(ctx, sealer); err != nil {
		return nil, err
	}
	if err := s.openClock(ctx, backend); err != nil {
		return nil, err
	}
	if err := s.openChanges(ctx, backend); err != nil {
		return nil, err
	}
	return s, nil
}

// write is the one way documents reach the backend. A change of the master key waits for
// the writes on their way; those that come after it seal with the new key.
func (s *Store) write(ctx context.Context, docs ...driver.Doc) (int64, error) {
	if err := driver.CheckPut(docs...); err != nil {
		return 0, err
	}
	s.sealing.RLock()
	defer s.sealing.RUnlock()
	if s.rekeyed {
		var err error
		if docs, err = s.current(docs); err != nil {
			return 0, err
		}
	}
	version, err := s.put(ctx, docs)
	return version, unavailable("put", err)
}

// Issue stores tokens, all or none.
func (s *Store) Issue(ctx context.Context, tokens ...driver.Token) error {
	if err := s.MayGrant(); err != nil {
		return err
	}
	return unavailable("issue", s.backend.Issue(ctx, tokens...))
}

// Token returns the token of a key, spent, revoked and expired ones included.
func (s *Store) Token(ctx context.Context, key driver.Key) (driver.Token, error) {
	t, err := s.backend.Token(ctx, key)
	return t, unavailable("token", err)
}

// Exchange spends a token and stores what follows it, in one step with one winner.
func (s *Store) Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
	if at.IsZero() {
		return fmt.Errorf("%w: a token spent at the zero time would count as unspent", ErrInvalid)
	}
	if err := s.MayGrant(); err != nil {
		return err
	}
	return unavailable("exchange", s.backend.Exchange(ctx, key, at, next...))
}

// Revoke stores revocations. One of what was granted before a time, and says none, is of everything that was granted
// until now, at whichever node, and of nothing that is granted once Revoke has returned. A time that it says is by the
// clock of this machine. See Dated for what a wrong clock changes.
//
// One of a user also removes the API keys that the user had made before, which would outlive it, and tells the user's
// applications that learn of the end of sessions: what they are told waits in their queues before Revoke returns.
func (s *Store) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	_, err := s.RevokeDated(ctx, rs...)
	return err
}

// RevokeDated is Revoke, and returns the revocations as they were stored.
func (s *Store) RevokeDated(ctx context.Context, rs ...driver.Revocation) ([]driver.Revocation, error) {
	c := &s.clock.store
	dates := slices.ContainsFunc(rs, byTime)
	if dates && c.source != nil {
		now, err := c.ask(ctx)
		if err != nil {
			return nil, err
		}
		answered := c.read()
		rs = s.clock.date(rs, now, now.Sub(answered.wall))
		defer c.settle(ctx, answered.ran)
	} else {
		rs = s.Dated(rs...)
	}
	if err := s.RestoreRevocations(ctx, rs...); err != nil {
		return nil, err
	}
	return rs, nil
}

// RestoreRevocations stores revocations that the store has had and has lost, as they were.
func (s *Store) RestoreRevocations(ctx context.Context, rs ...driver.Revocation) error {
	if slices.ContainsFunc(rs, func(r driver.Revocation) bool { return r.Kind == driver.RevokeConsent }) {
		if err := s.requireFeature(ctx, consentRevocations); err != nil {
			return err
		}
	}
	if err := unavailable("revoke", s.backend.Revoke(ctx, rs...)); err != nil {
		return err
	}
	for _, r := range rs {
		if r.Kind == driver.RevokeUser {
			if err := s.endAPIKeys(ctx, r.ID, r.Before); err != nil {
				return err
			}
			if err := s.tellUserLogout(ctx, r.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// Revocations reads the feed of revocations after a Seq, up to n of them.
func (s *Store) Revocations(ctx context.Context, after uint64, n int) ([]driver.Revocation, error) {
	rs, err := s.backend.Revocations(ctx, after, n)
	s.clock.heard(rs)
	return rs, unavailable("revocations", err)
}

// Count adds one batch of counters, once.
func (s *Store) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error {
	return unavailable("count", s.backend.Count(ctx, b, counts))
}

// Usage returns the usage of one application.
func (s *Store) Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
	counts, err := s.backend.Usage(ctx, q)
	return counts, unavailable("usage", err)
}

// Append adds audit records.
func (s *Store) Append(ctx context.Context, records ...driver.Record) error {
	return unavailable("append", s.backend.Append(ctx, records...))
}

// Records reads the audit trail after a Seq, up to n records.
func (s *Store) Records(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
	records, err := s.backend.Records(ctx, after, n)
	return records, unavailable("records", err)
}

// Appended returns the Seq of the last audit record that was appended, also when that one is
// gone; 0: there was none, or the store cannot tell.
func (s *Store) Appended(ctx context.Context) (uint64, error) {
	last, err := s.backend.Appended(ctx)
	return last, unavailable("appended", err)
}

// Prune removes audit records up to a Seq in small steps and returns how many. The caller
// has saved the Checkpoint that stands for them.
func (s *Store) Prune(ctx context.Context, through uint64) (int, error) {
	total := 0
	for {
		n, err := s.backend.Prune(ctx, through, sweepStep)
		total += n
		if err != nil || n == 0 {
			return total, unavailable("prune", err)
		}
		if err := ctx.Err(); err != nil {
			return total, err
		}
	}
}

// sweepStep bounds one Sweep or Prune, so that removing never blocks writers for long.
const sweepStep = 1000
