package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/internal/record/lease"
	"github.com/keystile/keystile/storage/driver"
)

// Reader reads a trail and its index; *storage.Store implements it.
type Reader interface {
	audit.Reader
	// Appended returns the last Seq that was given; 0 if the store cannot tell.
	Appended(ctx context.Context) (uint64, error)
	// Pick returns those of some records that are there, ascending by Seq.
	Pick(ctx context.Context, seqs ...uint64) ([]driver.Record, error)
	TrailIndex(ctx context.Context, span driver.Span, n int) ([]driver.Doc, string, error)
}

// Store is a Reader whose index is written; *storage.Store implements it.
type Store interface {
	Reader
	SaveTrailIndex(ctx context.Context, docs ...driver.Doc) (version int64, err error)
	lease.Store
}

// Indexer follows a trail and writes its index. Of several processes on one store one does it at a
// time; where two do, the version of the head decides.
type Indexer struct {
	Store Store
	Log   *slog.Logger
	Wake  <-chan struct{} // told of new records; nil: it looks every few minutes

	segment int // records of a segment; 0: segmentSize
	group   int // segments of a group; 0: groupSize

	hash   *hasher
	pruned time.Time // when it was last looked for what was removed from the trail
}

const (
	soon      = time.Second     // between two looks for a full segment
	otherWait = 5 * time.Second // until another try of what failed, or of what another process does
	longWait  = 5 * time.Minute // until a look that nobody asked for: for what was removed, and for lost wakes
	pruneWait = time.Minute     // the same for what was removed
	leaseTime = 30 * time.Second
	minRest   = 20 * time.Millisecond
)

// Run indexes until ctx ends. It logs a failure, once while it stays the same, and tries again. It
// rests for as long as each piece of work took, so that the index of an old trail, or of a flood,
// takes at most half of what the store can do.
func (x *Indexer) Run(ctx context.Context) {
	task := lease.New(x.Store, "trail", leaseTime)
	said := ""
	for {
		began := time.Now()
		busy, err := x.turn(ctx, task)
		wait := max(time.Since(began), minRest)
		if busy != worked || err != nil {
			wait = otherWait
			x.leave(ctx, task)
		}
		text := ""
		if err != nil && ctx.Err() == nil {
			if text = err.Error(); text != said {
				x.Log.ErrorContext(ctx, "new audit records are not indexed; they are found all the same, more slowly", "err", err)
			}
		}
		said = text
		if busy == idle && err == nil {
			wait = soon
			select {
			case <-x.Wake:
			case <-time.After(longWait):
			case <-ctx.Done():
			}
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			x.leave(ctx, task)
			return
		}
	}
}

// Outcomes of a turn.
type outcome int

const (
	idle   outcome = iota // nothing to do
	others                // another process does it
	worked
)

// leave lets another process index. Where that fails, it takes a little longer.
func (x *Indexer) leave(ctx context.Context, task *lease.Task) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := task.Release(last); err != nil {
		x.Log.WarnContext(last, "the next process waits until it indexes audit records", "err", err)
	}
}

// turn does one piece of work, if there is one and it is this process's.
func (x *Indexer) turn(ctx context.Context, task *lease.Task) (outcome, error) {
	do, err := x.next(ctx)
	if err != nil || do == nil {
		return idle, err
	}
	if mine, err := task.Mine(ctx); err != nil || !mine {
		return others, err
	}
	return worked, settled(do(ctx))
}

// settled makes no error of another process that was faster.
func settled(err error) error {
	if errors.Is(err, driver.ErrConflict) || errors.Is(err, driver.ErrExists) {
		return nil
	}
	return err
}

// Turn does one piece of work; false: there is none.
func (x *Indexer) Turn(ctx context.Context) (busy bool, err error) {
	do, err := x.next(ctx)
	if err != nil || do == nil {
		return false, err
	}
	return true, settled(do(ctx))
}

type work func(context.Context) error

// next returns the piece of work that is due, nil if there is none. It writes nothing, so a quiet
// service writes nothing.
func (x *Indexer) next(ctx context.Context) (work, error) {
	h, err := loadHead(ctx, x.Store)
	if errors.Is(err, errDamaged) {
		h.wipe, err = true, nil
	}
	switch {
	case err != nil:
		return nil, err
	case h.wipe:
		return func(ctx context.Context) error { return x.wipe(ctx, h) }, nil
	case h.version == 0:
		if left, err := x.leftovers(ctx, 1); err != nil || len(left) > 0 {
			return func(ctx context.Context) error { return x.save(ctx, head{wipe: true}) }, err
		}
	case len(h.segments) >= cmp.Or(x.group, groupSize):
		return func(ctx context.Context) error { return x.merge(ctx) }, nil
	}
	if now := time.Now(); now.Sub(x.pruned) >= pruneWait {
		x.pruned = now
		if do, err := x.obsolete(ctx, h); err != nil || do != nil {
			return do, err
		}
	}
	return x.full(ctx, h)
}

func (x *Indexer) save(ctx context.Context, h head) error {
	_, err := x.Store.SaveTrailIndex(ctx, h.doc())
	return err
}

// full looks for a segment's worth of new records.
func (x *Indexer) full(ctx context.Context, h head) (work, error) {
	size := cmp.Or(x.segment, segmentSize)
	given, err := x.Store.Appended(ctx)
	if err != nil {
		return nil, err
	}
	if given > 0 && given < h.cursor { // the store is another one, or older than its index
		return x.anew(h), nil
	}
	if given > 0 && given-h.cursor < uint64(size) {
		return nil, nil
	}
	records, err := x.Store.Records(ctx, max(h.cursor, 1)-1, driver.Page)
	if err != nil {
		return nil, err
	}
	if len(records) > 0 && h.cursor > 0 && records[0].Seq <= h.cursor {
		if h.foreign(records[0]) {
			return x.anew(h), nil
		}
		records = records[1:]
	}
	if len(records) < size {
		return nil, nil
	}
	return func(ctx context.Context) error { return x.index(ctx, h, records[:size]) }, nil
}

// anew begins to make the index anew.
func (x *Indexer) anew(h head) work {
	return func(ctx context.Context) error {
		x.Log.WarnContext(ctx, "the index of the audit trail is of other records, as after a restore of a part of the "+
			"store; it is made anew")
		return x.save(ctx, head{version: h.version, wipe: true})
	}
}

// Reindex has the index made anew by the next Indexer, or the one that runs. Until then a search reads
// the records themselves.
func Reindex(ctx context.Context, store Store) error {
	for range 5 {
		h, err := loadHead(ctx, store)
		if err != nil && !errors.Is(err, errDamaged) && !errors.Is(err, driver.ErrNewer) {
			return err
		}
		_, err = store.SaveTrailIndex(ctx, head{version: h.version, wipe: true}.doc())
		if settled(err) != nil {
			return fmt.Errorf("audit: the index was not removed: %w", err)
		}
		if err == nil {
			return nil
		}
	}
	return errors.New("audit: the index was changed at the same time again and again; try it once more")
}
