package audit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/keystile/keystile/storage"
)

// Reader is where the trail is read from. *storage.Store is one.
type Reader interface {
	Records(ctx context.Context, after uint64, n int) ([]storage.Record, error)
}

// Store is where the trail is kept. *storage.Store is one.
type Store interface {
	Reader
	Append(ctx context.Context, records ...storage.Record) error
}

var errNotRising = errors.New("audit: the Seqs of the records do not rise; this is a fault of the storage adapter")

// page reads up to n records behind a Seq.
func page(ctx context.Context, store Reader, after uint64, n int) ([]storage.Record, error) {
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

// all reads the records up to a Seq, page by page; it stops at the first error.
func all(ctx context.Context, store Reader, until uint64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		for after := uint64(0); after < until; {
			records, err := page(ctx, store, after, storage.Page)
			if err != nil {
				yield(storage.Record{}, err)
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
func last(ctx context.Context, store Reader) (storage.Record, error) {
	var found storage.Record
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
