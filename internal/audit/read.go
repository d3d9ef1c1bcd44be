package audit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Reader reads the trail from storage; *storage.Store implements it.
type Reader interface {
	Records(ctx context.Context, after uint64, n int) ([]driver.Record, error)
}

// Archive is a trail whose oldest records may have been removed. *storage.Store is one.
type Archive interface {
	Reader
	// Appended returns the last Seq that was given; 0 if the store cannot tell.
	Appended(ctx context.Context) (uint64, error)
	// Checkpoint returns what stands for the removed records: Version 0 if there is none, and
	// storage.ErrCheckpoint if it does not open.
	Checkpoint(ctx context.Context) (storage.Checkpoint, error)
}

// Prunable is an Archive that records can be removed from. *storage.Store is one.
type Prunable interface {
	Archive
	// SaveCheckpoint replaces the one that was read, or fails with storage.ErrConflict.
	SaveCheckpoint(ctx context.Context, c storage.Checkpoint) (storage.Checkpoint, error)
	// Prune removes all records up to a Seq, in small steps.
	Prune(ctx context.Context, through uint64) (removed int, err error)
}

// Store reads and writes the trail; *storage.Store implements it.
type Store interface {
	Reader
	Append(ctx context.Context, records ...driver.Record) error
}

var errNotRising = errors.New("audit: the Seqs of the records do not rise; this is a fault of the storage adapter")

// page reads up to n records behind a Seq.
func page(ctx context.Context, store Reader, after uint64, n int) ([]driver.Record, error) {
	records, err := store.Records(ctx, after, n)
	if err != nil {
		return nil, fmt.Errorf("audit: read the trail after Seq %d: %w", after, err)
	}
	for _, r := range records {
		if r.Seq <= after {
			return nil, errNotRising
		}
		after = r.Seq
	}
	return records, nil
}

// all reads the records behind a Seq up to another, page by page; it stops at the first error.
func all(ctx context.Context, store Reader, after, until uint64) iter.Seq2[driver.Record, error] {
	return func(yield func(driver.Record, error) bool) {
		for after < until {
			records, err := page(ctx, store, after, driver.Page)
			if err != nil {
				yield(driver.Record{}, err)
				return
			}
			if len(records) == 0 {
				return
			}
			for _, r := range records {
				if r.Seq > until || !yield(r, nil) {
					return
				}
			}
			after = records[len(records)-1].Seq
		}
	}
}

// last finds the last record, or one with Seq 0 if there is none. A trail is read forwards
// only, so it leaps with growing steps until it is beyond the end, and then halves: some
// 50 small reads for ten million records.
func last(ctx context.Context, store Reader) (driver.Record, error) {
	var found driver.Record
	beyond := uint64(math.MaxInt64) // the largest Seq of a SQL adapter
	leaping := true
	for step := uint64(1); found.Seq < beyond; {
		at := found.Seq + (beyond-found.Seq)/2
		if leaping {
			at = min(found.Seq+step-1, beyond)
			step *= 2
		}
		records, err := page(ctx, store, at, 1)
		switch {
		case err != nil:
			return found, err
		case len(records) > 0:
			found = records[0]
		default:
			beyond, leaping = at, false
		}
	}
	return found, nil
}

// Hash returns the hash that a record claims, or that of the whole if it cannot be read, in hex.
func Hash(r driver.Record) string { return link(r.Data).String() }
