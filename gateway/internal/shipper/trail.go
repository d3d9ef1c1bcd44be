package shipper

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/keystile/keystile/gateway/stream"
	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/internal/record/shipping"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// TrailStore has a trail, and how far it was shipped; *storage.Store implements it.
type TrailStore interface {
	Records(ctx context.Context, after uint64, n int) ([]driver.Record, error)
	// Appended returns the last Seq that was given; 0 if the store cannot tell.
	Appended(ctx context.Context) (uint64, error)
	Checkpoint(ctx context.Context) (storage.Checkpoint, error)
	positions
}

const trailLease = 30 * time.Second

// trail ships audit records.
//
// A new target gets the whole trail, as far as it is still there. Records that are not shipped are kept for up
// to twice the age and size of the retention. Then the oldest are removed all the same, because a full disk
// stops more than a stream, and the log and the stream say so. A removal by hand (keystile audit prune) does
// not wait.
//
// After a restore from a backup, numbers are given out again and the position is as old as the rest: lines with
// known ids come again, and other lines with the same seq and another id. A position that does not fit the
// trail is noticed, and the whole trail is shipped.
type trail struct {
	*Follower
	store TrailStore

	waits uint64    // the first record that waits for others
	since time.Time // when it was seen
}

// FollowTrail makes a Follower of the audit trail, of a Config that was checked; wake is told of new records,
// and may be nil.
func FollowTrail(store TrailStore, c stream.Config, wake <-chan struct{}, log *slog.Logger) *Follower {
	f := &Follower{config: c, name: nameOf(c, stream.Audit), store: store, log: log, wake: wake, lease: trailLease,
		stats: stream.Stats{Stream: stream.Audit}}
	t := &trail{Follower: f, store: store}
	f.next = t.look
	return f
}

// Shipped returns the last Seq that the target of a Config has.
func Shipped(ctx context.Context, store TrailStore, c stream.Config) (through uint64, err error) {
	at, err := store.Stream(ctx, nameOf(c, stream.Audit))
	return at.Through, err
}

// look reads what waits, and returns what is due of it.
func (t *trail) look(ctx context.Context) (piece, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	at, err := t.store.Stream(ctx, t.name)
	if err != nil {
		return nil, 0, err
	}
	given, err := t.store.Appended(ctx)
	if err != nil {
		return nil, 0, err
	}
	if given > 0 && given < at.Through { // the store is another one, or older than its position
		return t.anew(at), 0, nil
	}
	if given > 0 && given == at.Through {
		t.lags(0, time.Time{})
		return nil, look, nil
	}
	records, foreign, err := t.read(ctx, at)
	switch {
	case err != nil:
		return nil, 0, err
	case foreign:
		return t.anew(at), 0, nil
	case len(records) == 0 && at.Next > 0: // what was on its way was removed
		at.Next = 0
		return func(ctx context.Context) error { return t.save(ctx, &at) }, 0, nil
	case len(records) == 0:
		t.lags(0, time.Time{})
		return nil, look, nil
	}
	t.lags(max(given, records[len(records)-1].Seq)-at.Through, records[0].At)
	if wait := t.patience(records); at.Next == 0 && wait > 0 {
		return nil, wait, nil
	}
	return func(ctx context.Context) error { return t.ship(ctx, at, records, given > 0) }, 0, nil
}

// read returns the records of the batch that is on its way, or of the next one as far as it is there.
func (t *trail) read(ctx context.Context, at shipping.Position) (records []driver.Record, foreign bool, err error) {
	after, size := max(at.Through, 1)-1, 0
	for {
		page, err := t.store.Records(ctx, after, driver.Page)
		if err != nil {
			return nil, false, err
		}
		for _, r := range page {
			if r.Seq <= at.Through {
				if r.Seq == at.Through && audit.Hash(r) != at.Hash {
					return nil, true, nil
				}
				continue
			}
			if at.Next > 0 && r.Seq > at.Next {
				return records, false, nil
			}
			records = append(records, r)
			if size += len(r.Data); at.Next == 0 && size >= t.config.MaxBytes {
				return records, false, nil
			}
		}
		if len(page) < driver.Page {
			return records, false, nil
		}
		after = page[len(page)-1].Seq
	}
}

// patience returns how long records may wait for others; 0: not at all. Their times are by the clocks of
// other processes, too, so they wait no longer than since they were seen here.
func (t *trail) patience(records []driver.Record) time.Duration {
	size := 0
	for _, r := range records {
		size += len(r.Data)
	}
	if t.config.MaxAge == 0 || size >= t.config.MaxBytes {
		return 0
	}
	now := time.Now()
	if t.waits != records[0].Seq {
		t.waits, t.since = records[0].Seq, now
	}
	age := max(now.Sub(t.since), now.Sub(records[0].At))
	return min(max(t.config.MaxAge-age, 0), 10*time.Second)
}

// ship hands records to the target. The end of the batch is kept first: whoever has to ship it once more
// ships the same records under the same key.
func (t *trail) ship(ctx context.Context, at shipping.Position, records []driver.Record, counted bool) error {
	first, last := records[0], records[len(records)-1]
	if at.Next != last.Seq {
		at.Next = last.Seq
		if err := t.save(ctx, &at); err != nil {
			return err
		}
	}
	b := stream.Batch{
		Stream: stream.Audit, Count: len(records),
		Key: fmt.Sprintf("%s/%s-%012d-%012d", stream.Audit, first.At.UTC().Format("2006/01/02/15"), first.Seq, last.Seq),
	}
	before, gaps := at.Through, []gapLine(nil)
	for _, r := range records {
		if r.Seq > before+1 {
			gone, err := t.missing(ctx, before, counted)
			if err != nil {
				return err
			}
			if gone {
				b.Lines, b.Count = appendGap(b.Lines, before+1, r.Seq-1), b.Count+1
				gaps = append(gaps, gapLine{First: before + 1, Last: r.Seq - 1})
			}
		}
		b.Lines, before = appendRecord(b.Lines, r), r.Seq
	}
	if err := t.put(ctx, b); err != nil {
		return err
	}
	for _, g := range gaps {
		t.tell(ctx, g)
	}
	at.Through, at.Hash, at.Next = last.Seq, audit.Hash(last), 0
	return t.save(ctx, &at)
}

// missing reports whether records behind a Seq were removed. A store that does not count leaves numbers out.
func (t *trail) missing(ctx context.Context, after uint64, counted bool) (bool, error) {
	if counted {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	cut, err := audit.ReadCheckpoint(ctx, t.store)
	if errors.Is(err, storage.ErrCheckpoint) {
		return true, nil
	}
	return cut.Through > after, err
}

// tell logs a gap that was shipped.
func (t *trail) tell(ctx context.Context, g gapLine) {
	if g.First == 1 {
		t.log.InfoContext(ctx, "the stream of audit records begins behind those that were removed before", "through", g.Last)
		return
	}
	t.log.ErrorContext(ctx, "audit records were removed before they were shipped: the stream has a gap, which it says",
		"from", g.First, "through", g.Last)
}

// anew begins with the first record that is there.
func (t *trail) anew(at shipping.Position) piece {
	return func(ctx context.Context) error {
		t.log.WarnContext(ctx, "the audit trail is not the one that was shipped, as after a restore; all of it is shipped",
			"stream", stream.Audit, "through", at.Through)
		at.Through, at.Hash, at.Next = 0, "", 0
		return t.save(ctx, &at)
	}
}

func (f *Follower) save(ctx context.Context, at *shipping.Position) error {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	saved, err := f.store.SaveStream(ctx, *at)
	if err == nil {
		*at = saved
	}
	return err
}
