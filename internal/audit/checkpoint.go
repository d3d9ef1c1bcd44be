package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/keystile/keystile/storage"
)

// Checkpoint stands for the oldest records of a trail, which a [Keeper] or an operator has removed, up to a Seq
// and none left out. Through 0 is none. It is sealed with the master key in the store: the Seq, the hash of the
// last removed record, and where each chain stood that may go on. It is saved first, with the version that was
// read, so of two prunes at once one wins; then the records go in small steps. Records still there at or before
// its Seq count as removed. [Verify] goes on from it as if it had read all before, so it proves as much as of a
// trail that begins at 1; only that a chain began behind a record which was removed before the last is no
// longer proven. Breaks in removed records are counted in it. The last record always stays, for the next chain
// to begin behind.
//
// It is bounded: chains that ended are dropped, and of those that were killed the 5,000 newest stay. A chain
// that is silent until so many others were removed and then goes on counts as headless.
type Checkpoint struct {
	Through uint64    `json:"through"`          // every record up to this Seq was removed
	Hash    string    `json:"hash"`             // that a chain names the last of them by
	Last    time.Time `json:"last"`             // when that was noted
	Removed uint64    `json:"removed"`          // records, in all
	Broken  uint64    `json:"broken,omitempty"` // breaks that were found in them, in all
	Lost    uint64    `json:"lost,omitempty"`   // events that they said were lost
	Prunes  uint64    `json:"prunes"`           // how often records were removed
	Since   time.Time `json:"since"`            // the first time
	At      time.Time `json:"at"`               // the last time
	Chains  []Link    `json:"chains,omitempty"` // those that may go on, by Seq
	Dropped uint64    `json:"dropped,omitempty"`
}

// Link holds the position of a chain at a checkpoint.
type Link struct {
	Chain  string `json:"chain"`
	N      uint64 `json:"n"`
	Hash   string `json:"hash"`
	Seq    uint64 `json:"seq"`
	Ended  bool   `json:"ended,omitempty"`
	Again  uint64 `json:"again,omitempty"`  // the last record of a batch that was being repeated
	Behind string `json:"behind,omitempty"` // its hash
}

const (
	// maxLinks bounds a checkpoint: at most 2 MiB, sealed. A chain of a process that was killed
	// stays in it until so many others were begun, and removed, behind it.
	maxLinks = 5_000
	// stragglers is the number of Seqs behind its end for which a chain is remembered: its last batch may
	// have been sent twice.
	stragglers = 10_000
)

// ReadCheckpoint returns the checkpoint of a trail. One that does not open is storage.ErrCheckpoint.
func ReadCheckpoint(ctx context.Context, store Archive) (Checkpoint, error) {
	stored, err := store.Checkpoint(ctx)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("audit: read the checkpoint: %w", err)
	}
	return parseCheckpoint(stored)
}

func parseCheckpoint(stored storage.Checkpoint) (c Checkpoint, err error) {
	if stored.Version == 0 {
		return c, nil
	}
	if err := json.Unmarshal([]byte(stored.Text.Reveal()), &c); err != nil {
		return c, fmt.Errorf("audit: the checkpoint cannot be read; was it written by a later version? %w", err)
	}
	return c, nil
}

// needs returns the Seq that a trail reaches at least: a prune leaves the last record.
func (c Checkpoint) needs() uint64 {
	if c.Through == 0 {
		return 0
	}
	return c.Through + 1
}

// covers reports whether a kept head that was not met is of a record that was removed, and
// nothing speaks against it. known: the chain is in the checkpoint or was met behind it.
func (c Checkpoint) covers(h Head, known bool) bool {
	i := slices.IndexFunc(c.Chains, func(l Link) bool { return l.Chain == h.Chain })
	switch {
	case c.Through == 0 || h.Seq > c.Through:
		return false
	case i >= 0:
		return h.N < c.Chains[i].N
	case known: // it began behind the checkpoint
		return false
	}
	return h.Seq > 0 || c.Dropped > 0
}

// links returns where chains stand, without those that nothing can follow on.
func links(chains map[string]*progress, through uint64) (kept []Link, dropped uint64) {
	later := func(a, b *progress) int { return cmp.Compare(b.head.Seq, a.head.Seq) }
	for _, p := range slices.SortedFunc(maps.Values(chains), later) {
		if len(kept) == maxLinks || p.head.Ended && p.head.Seq+stragglers < through {
			dropped++
			continue
		}
		l := Link{Chain: p.head.Chain, N: p.head.N, Hash: p.head.Hash, Seq: p.head.Seq, Ended: p.head.Ended}
		if p.again != 0 {
			l.Again, l.Behind = p.again, p.behind.String()
		}
		kept = append(kept, l)
	}
	slices.Reverse(kept)
	return kept, dropped
}
