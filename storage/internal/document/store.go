package document

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/secret"
	"github.com/keystile/keystile/storage/state"
)

// Store writes and reads documents: see [Kind]. Its methods are those that a host may call; what
// only the packages of storage may do are functions of this package.
type Store struct {
	backend  driver.Backend // writes
	writes   *writes        // around the Backend given to Open
	sealer   atomic.Pointer[sealer]
	memos    sync.Map // of the kinds that have one, by their names
	features featureMemo
	changes  changes
	shards   shards

	sealedKinds []string        // their documents hold sealed texts
	known       []state.Feature // features that this version knows

	sealing sync.RWMutex // held by every write, and to change sealer
	rekeyed bool         // sealer is not the one of Open: records may be sealed with another key
}

// Config says what a store of documents is made of.
type Config struct {
	Backend driver.Backend
	Keys    []secret.MasterKey
	Kinds   []AnyKind       // all that there are documents of
	Known   []state.Feature // the features that this version knows
}

// New makes a store over a backend that it does not read. Check comes next.
func New(c Config) (*Store, error) {
	sealer, err := newSealer(c.Keys)
	if err != nil {
		return nil, err
	}
	counted := &writes{Backend: newSums(c.Backend)}
	s := &Store{backend: counted, writes: counted, shards: newShards(), known: c.Known}
	for _, k := range c.Kinds {
		if k.seals() {
			s.sealedKinds = append(s.sealedKinds, k.kindName())
		}
	}
	s.sealer.Store(sealer)
	return s, nil
}

// Check fails if the store is not one that this version and these keys open. An empty store gets
// its first documents.
func Check(ctx context.Context, s *Store, first ...driver.Doc) error {
	if err := CheckFeatures(ctx, s); err != nil {
		return err
	}
	return s.checkMaster(ctx, s.sealer.Load(), first...)
}

// Backend returns the backend of a store, which remembers how its writes went.
func Backend(s *Store) driver.Backend { return s.backend }

// Adapter returns the backend that a store was made over: what it can do besides is asked there.
func Adapter(s *Store) driver.Backend { return s.writes.Backend }

// Write is the one way documents reach the backend. A change of the master key waits for
// the writes on their way; those that come after it seal with the new key.
func Write(ctx context.Context, s *Store, docs ...driver.Doc) (int64, error) {
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
	for _, d := range docs {
		s.forget(d.Kind, d.ID)
	}
	return version, Unavailable("put", err)
}
