package document

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/state"
)

// changes holds what a process knows of the epochs of a store that it shares with others.
//
// A change of one process holds at every other within a second of the reading of the epochs, and sooner where
// the store tells: keys, settings, applications with their tiers, owners and redirects, capabilities and tools,
// access lists, bundles, users at userinfo, and all that is revoked. Every cache of one of these has OnChange
// drop it, and reads it again until that succeeds. A role is read again after a second, because users may be in
// a table of the host's. Of users nothing else is cached, and no session, ticket, consent or order. Where the
// reading fails for ten seconds nothing is trusted any more. A cache in a process that does not call
// ReadChanges has five seconds, its own bound.
type changes struct {
	shared  driver.Shared // nil: nobody else writes to the store, and there are no epochs
	reading sync.Mutex    // of two readings the later one reads later

	mu     sync.Mutex
	last   map[string]epoch // by what they are of, as they were last read or written
	seen   map[string]mark  // by what they are of, as they were last told of
	tell   map[int]func(state.Change)
	nextID int
}

// Shared reports whether other processes write to the store too: see [driver.Shared].
func (s *Store) Shared() bool { return s.changes.shared != nil }

// Listen calls hint when other processes may have revoked or changed something, until ctx ends. It
// returns nil before that if nobody tells, and an error if it is to be called again.
func (s *Store) Listen(ctx context.Context, hint func()) error {
	if !s.Shared() {
		return nil
	}
	return s.changes.shared.Listen(ctx, hint)
}

// OnChange has f called with each change that ReadChanges finds, until stop is called, and with each
// change of users that this process makes itself, before its writer is answered. f is quick, and calls no
// method of the Store. A change that it is told of may also have failed.
func (s *Store) OnChange(f func(state.Change)) (stop func()) {
	c := &s.changes
	c.mu.Lock()
	defer c.mu.Unlock()
	id := c.nextID
	c.nextID++
	c.tell[id] = f
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.tell, id)
	}
}

// ReadChanges reads which cached documents any process has changed since it was last called, or
// since Open, and tells those who have asked for it by OnChange. It does nothing if the store is
// not Shared. On ErrRegressed they have been told that everything may have changed.
func (s *Store) ReadChanges(ctx context.Context) error {
	c := &s.changes
	if !s.Shared() {
		return nil
	}
	c.reading.Lock()
	defer c.reading.Unlock()
	stored := c.marks()
	now, err := All(ctx, s, epochs, driver.Is("all"))
	if err != nil {
		return err
	}
	return c.note(now, stored)
}

// marks returns what the store must have at this moment, by kind.
func (c *changes) marks() map[string]mark {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := map[string]mark{}
	for kind, e := range c.last {
		m[kind] = e.mark()
	}
	return m
}

// note compares epochs with what was seen before, and with what was stored before they were read,
// and tells what has changed.
func (c *changes) note(now []epoch, stored map[string]mark) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	byKind := map[string]epoch{}
	for _, e := range now {
		byKind[e.Of] = e
	}
	var found []state.Change
	var forgot []string
	for _, kind := range allEpochs {
		e, was := byKind[kind], c.seen[kind]
		e.Of = kind
		change, changed, ok := e.since(was)
		if _, _, has := e.since(stored[kind]); !ok || !has {
			was, ok = stored[kind], false
			forgot = append(forgot, fmt.Sprintf("%s: change %d of version %d was there, and now the last is %d of %d", kind,
				was.n, was.version, e.N, e.Version))
		}
		if changed {
			found = append(found, change)
		}
		c.seen[kind] = e.mark()
		if e.Version > c.last[kind].Version || !ok {
			c.last[kind] = e
		}
	}
	if len(forgot) == 0 {
		c.tellAll(found...)
		return nil
	}
	for _, kind := range followed {
		c.tellAll(state.Change{Kind: kind})
	}
	return fmt.Errorf("%w: %q", ErrRegressed, forgot)
}

// tellOwn tells of a change that this process has made, or may have made.
func (c *changes) tellOwn(change state.Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tellAll(change)
}

func (c *changes) tellAll(found ...state.Change) {
	for _, change := range found {
		for _, id := range slices.Sorted(maps.Keys(c.tell)) {
			c.tell[id](change)
		}
	}
}

// Follow reads the epochs before anything is cached.
func Follow(ctx context.Context, s *Store, b driver.Backend) error {
	shared, _ := driver.As[driver.Shared](b)
	s.changes = changes{shared: shared, last: map[string]epoch{}, seen: map[string]mark{},
		tell: map[int]func(state.Change){}}
	s.OnChange(s.forgetChanged)
	return s.ReadChanges(ctx)
}

// put writes documents and, in the same step, the epochs of those that are cached. Where another
// writer was faster with an epoch it begins anew: in each round one of them gets through.
func (s *Store) put(ctx context.Context, docs []driver.Doc) (int64, error) {
	touched, users := map[string][]string{}, []string(nil)
	for _, d := range docs {
		of := epochOf(d)
		if of != "" {
			touched[of] = append(touched[of], d.ID)
		}
		if of != "" && d.Kind == state.ChangedUsers {
			users = append(users, d.ID)
		}
	}
	if users != nil {
		defer s.changes.tellOwn(state.Change{Kind: state.ChangedUsers, IDs: users})
	}
	switch {
	case len(touched) == 0, !s.Shared() && users == nil:
		return s.backend.Put(ctx, docs...)
	case !s.Shared():
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		// Nobody tells later of what is written after its caller has gone.
		return s.backend.Put(context.WithoutCancel(ctx), docs...)
	}
	for range maxConflicts {
		next := s.changes.next(touched)
		beside, err := Docs(s, epochs, next...)
		if err != nil {
			return 0, err
		}
		version, err := s.backend.Put(ctx, slices.Concat(docs, beside)...)
		if in := (*driver.PutError)(nil); !errors.As(err, &in) || in.Kind != epochs.Name {
			if err == nil {
				s.changes.wrote(next, version)
			}
			return version, err
		}
		if err := s.readEpochs(ctx, touched); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("%w: other writers came first %d times", ErrUnavailable, maxConflicts)
}

// next returns the epochs of some kinds after the change of these documents.
func (c *changes) next(touched map[string][]string) (next []epoch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for kind, ids := range touched {
		e := c.last[kind]
		e.Of = kind
		next = append(next, e.with(ids))
	}
	return next
}

func (c *changes) wrote(next []epoch, version int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range next {
		if e.Version = version; version > c.last[e.Of].Version {
			c.last[e.Of] = e
		}
	}
}

// readEpochs reads the epochs of some kinds, for the next try to write them.
func (s *Store) readEpochs(ctx context.Context, of map[string][]string) error {
	for kind := range of {
		e, err := Find(ctx, s, epochs, kind)
		if err != nil {
			return err
		}
		s.changes.mu.Lock()
		s.changes.last[kind] = e
		s.changes.mu.Unlock()
	}
	return nil
}
