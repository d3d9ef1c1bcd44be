package storage

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/apps"
	"github.com/keystile/keystile/storage/authn"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/internal/clock"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/people"
	"github.com/keystile/keystile/storage/service"
	"github.com/keystile/keystile/storage/tools"
)

// Store is the typed view of a Backend that other packages use. Beside its own methods it has those of the stores of
// its subjects: [people.Store], [groups.Store], [authn.Store], [apps.Store], [tools.Store] and [service.Store].
// So the method SaveApp
// is shown by go doc of package storage/apps, as Store.SaveApp, and not by that of this package. Those about all
// documents (OnChange, BeginRekey, Features) and about the clock (Dated, ClockErr) are of Store in
// storage/internal/document, and of Clock in storage/internal/clock.
//
// Its records carry a Version: 0 when they are made, the stored one afterwards. Saving a record that has changed
// meanwhile fails with ErrConflict.
type Store struct {
	*documents
	*storeClock
	*peopleStore
	*groupStore
	*authnStore
	*appStore
	*toolStore
	*serviceStore
}

// The stores that a Store is made of, under names that are unlike those of their methods.
type (
	documents    = document.Store
	storeClock   = clock.Clock
	peopleStore  = people.Store
	groupStore   = groups.Store
	authnStore   = authn.Store
	appStore     = apps.Store
	toolStore    = tools.Store
	serviceStore = service.Store
)

// kinds are all kinds of documents.
var kinds = slices.Concat(document.Kinds, clock.Kinds, people.Kinds, groups.Kinds, authn.Kinds, apps.Kinds, tools.Kinds,
	service.Kinds)

// Open makes a Store over a backend. The first master key seals; all of them open. The
// first Open of an empty backend leaves a mark there, so that any later one with the wrong
// key fails here instead of at the first login, and names the missing key. See
// [Store.BeginRekey] for how one key follows another.
//
// A store in which a newer version has used a feature that this one does not know is
// refused with ErrNewer: see Feature. The target of a copy that was not finished is refused with
// ErrUnfinished. A store whose copy is served in its place is refused with ErrMoved, unless the backend, or one that it
// wraps, has a method ReadsOnly and with that says that nothing is written to it.
//
// Closing the Store is closing the backend.
func Open(ctx context.Context, backend driver.Backend, keys ...MasterKey) (*Store, error) {
	return open(ctx, backend, clock.ReadMachine, document.Features(), keys)
}

func open(ctx context.Context, backend driver.Backend, read func() clock.Reading, known []Feature,
	keys []MasterKey) (*Store, error) {
	docs, err := document.New(document.Config{Backend: backend, Keys: keys, Kinds: kinds, Known: known})
	if err != nil {
		return nil, err
	}
	nobody, err := service.NewSetting(docs, settingStrangers, strangersNever)
	if err != nil {
		return nil, err
	}
	if err := document.Check(ctx, docs, nobody); err != nil {
		return nil, err
	}
	clock, err := clock.Open(ctx, docs, backend, read)
	if err != nil {
		return nil, err
	}
	if err := document.Follow(ctx, docs, backend); err != nil {
		return nil, err
	}
	in := groups.New(docs, clock)
	t := tools.New(docs, in)
	v := service.New(docs, clock)
	return &Store{
		documents: docs, storeClock: clock, appStore: apps.New(docs, in), toolStore: t, serviceStore: v,
		peopleStore: people.New(docs, clock, v, t), groupStore: in,
		authnStore: authn.New(docs, clock, v, t),
	}, nil
}

// Issue stores tokens, all or none.
func (s *Store) Issue(ctx context.Context, tokens ...driver.Token) error {
	if err := s.MayGrant(); err != nil {
		return err
	}
	return document.Unavailable("issue", document.Backend(s.documents).Issue(ctx, tokens...))
}

// Token returns the token of a key, spent, revoked and expired ones included.
func (s *Store) Token(ctx context.Context, key driver.Key) (driver.Token, error) {
	t, err := document.Backend(s.documents).Token(ctx, key)
	return t, document.Unavailable("token", err)
}

// Exchange spends a token and stores what follows it, in one step with one winner.
func (s *Store) Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
	if at.IsZero() {
		return fmt.Errorf("%w: a token spent at the zero time would count as unspent", ErrInvalid)
	}
	if err := s.MayGrant(); err != nil {
		return err
	}
	return document.Unavailable("exchange", document.Backend(s.documents).Exchange(ctx, key, at, next...))
}

// RevokeDated stores revocations, and returns them as they were stored. One of what was granted before a time, and says
// none, is of everything that was granted until now, at whichever node, and of nothing that is granted once RevokeDated
// has returned. A time that it says is by the clock of this machine. See Dated for what a wrong clock changes.
//
// One of a user also removes the API keys that the user had made before, which would outlive it.
func (s *Store) RevokeDated(ctx context.Context, rs ...driver.Revocation) (dated []driver.Revocation, err error) {
	err = clock.Revoke(ctx, s.storeClock, rs, func(rs []driver.Revocation) error {
		dated = rs
		return s.RestoreRevocations(ctx, rs...)
	})
	if err != nil {
		return nil, err
	}
	return dated, nil
}

// RestoreRevocations stores revocations that the store has had and has lost, as they were.
func (s *Store) RestoreRevocations(ctx context.Context, rs ...driver.Revocation) error {
	if slices.ContainsFunc(rs, func(r driver.Revocation) bool { return r.Kind == driver.RevokeConsent }) {
		if err := document.RequireFeature(ctx, s.documents, document.ConsentRevocations); err != nil {
			return err
		}
	}
	if err := document.Unavailable("revoke", document.Backend(s.documents).Revoke(ctx, rs...)); err != nil {
		return err
	}
	for _, r := range rs {
		if r.Kind == driver.RevokeUser {
			if err := s.EndAPIKeys(ctx, r.ID, r.Before); err != nil {
				return err
			}
		}
	}
	return nil
}

// Revocations reads the feed of revocations after a Seq, up to n of them.
func (s *Store) Revocations(ctx context.Context, after uint64, n int) ([]driver.Revocation, error) {
	rs, err := document.Backend(s.documents).Revocations(ctx, after, n)
	clock.Heard(s.storeClock, rs)
	return rs, document.Unavailable("revocations", err)
}

// Count adds one batch of counters, once.
func (s *Store) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error {
	return document.Unavailable("count", document.Backend(s.documents).Count(ctx, b, counts))
}

// Usage returns the usage of one application.
func (s *Store) Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
	counts, err := document.Backend(s.documents).Usage(ctx, q)
	return counts, document.Unavailable("usage", err)
}

// Append adds audit records.
func (s *Store) Append(ctx context.Context, records ...driver.Record) error {
	return document.Unavailable("append", document.Backend(s.documents).Append(ctx, records...))
}

// Records reads the audit trail after a Seq, up to n records.
func (s *Store) Records(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
	records, err := document.Backend(s.documents).Records(ctx, after, n)
	return records, document.Unavailable("records", err)
}

// Appended returns the Seq of the last audit record that was appended, also when that one is
// gone; 0: there was none, or the store cannot tell.
func (s *Store) Appended(ctx context.Context) (uint64, error) {
	last, err := document.Backend(s.documents).Appended(ctx)
	return last, document.Unavailable("appended", err)
}

// Prune removes audit records up to a Seq in small steps and returns how many. The caller
// has saved the Checkpoint that stands for them.
func (s *Store) Prune(ctx context.Context, through uint64) (int, error) {
	total := 0
	for {
		n, err := document.Backend(s.documents).Prune(ctx, through, sweepStep)
		total += n
		if err != nil || n == 0 {
			return total, document.Unavailable("prune", err)
		}
		if err := ctx.Err(); err != nil {
			return total, err
		}
	}
}

// sweepStep bounds one Sweep or Prune, so that removing never blocks writers for long.
const sweepStep = 1000
