package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/keystile/keystile/gateway/internal/shipper"
	"github.com/keystile/keystile/gateway/stream"
	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/internal/audit/search"
	"github.com/keystile/keystile/internal/record/lease"
	"github.com/keystile/keystile/internal/record/shipping"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// TrailConfig holds what OpenTrail needs.
type TrailConfig struct {
	// Store is required; *storage.Store has this.
	Store interface {
		Append(ctx context.Context, records ...driver.Record) error
		Records(ctx context.Context, after uint64, n int) ([]driver.Record, error)
		Appended(ctx context.Context) (uint64, error)
		Prune(ctx context.Context, through uint64) (int, error)
		Checkpoint(ctx context.Context) (storage.Checkpoint, error)
		SaveCheckpoint(ctx context.Context, c storage.Checkpoint) (storage.Checkpoint, error)
		Reached(now time.Time) time.Time
		// Pick returns those of some records that are there, ascending by Seq.
		Pick(ctx context.Context, seqs ...uint64) ([]driver.Record, error)
		TrailIndex(ctx context.Context, span driver.Span, n int) ([]driver.Doc, string, error)
		SaveTrailIndex(ctx context.Context, docs ...driver.Doc) (version int64, err error)
		Stream(ctx context.Context, name string) (shipping.Position, error)
		SaveStream(ctx context.Context, at shipping.Position) (shipping.Position, error)
		lease.Store
	}

	// Records that are older than Keep, or the oldest of more than MaxBytes, are removed; 0: kept
	// for ever, and any number.
	Keep     time.Duration
	MaxBytes int64

	// Observe is told of each event that Note and NoteNow are given, by their caller: it must not wait.
	// Calls of guarded services, of which there are many, are not among them. nil: nobody is told.
	Observe func(event.Event)
	// Stream says where the records are shipped to. Records that are not shipped yet are kept for up to as
	// long again as Keep, and as much again as MaxBytes.
	Stream stream.Config

	Log *slog.Logger // nil: slog.Default()
}

// Trail is the audit trail: events in order, chained so that a missing or changed one is
// detected. Open it before the packages that write to it.
//
// It has a record for each call of a guarded endpoint, even a refused one; anonymous calls are summed (package
// internal/audit). Refusals by Front have none: anybody can cause them at any rate.
type Trail struct {
	trail      *audit.Trail
	store      search.Reader
	archive    audit.Archive
	observe    func(event.Event)
	stream     *shipper.Follower // nil: nothing is shipped
	background sync.WaitGroup
	end        context.CancelFunc
}

// OpenTrail continues the trail that is in the store. Call Close at the end.
func OpenTrail(ctx context.Context, c TrailConfig) (*Trail, error) {
	if c.Store == nil {
		return nil, errors.New("gateway: TrailConfig: Store is missing")
	}
	if c.Keep < 0 || c.MaxBytes < 0 {
		return nil, errors.New("gateway: TrailConfig: Keep and MaxBytes are not negative; 0 is no limit")
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Observe == nil {
		c.Observe = func(event.Event) {}
	}
	if err := shipper.Check(&c.Stream); err != nil {
		return nil, fmt.Errorf("gateway: TrailConfig: %w", err)
	}
	appended, noted := make(chan struct{}, 1), make(chan struct{}, 1)
	trail, err := audit.Open(ctx, audit.Config{Store: told{c.Store, []chan<- struct{}{appended, noted}}, Log: c.Log})
	if err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	life, end := context.WithCancel(context.Background())
	t := &Trail{trail: trail, store: c.Store, archive: c.Store, observe: c.Observe, end: end}
	indexer := search.Indexer{Store: c.Store, Log: c.Log, Wake: appended}
	t.background.Go(func() { indexer.Run(life) })
	keeper := audit.Keeper{Store: c.Store, Keep: c.Keep, Bytes: c.MaxBytes, Reached: c.Store.Reached, Note: trail.NoteNow,
		Log: c.Log}
	if c.Stream.Target != nil {
		t.stream = shipper.FollowTrail(c.Store, c.Stream, noted, c.Log)
		t.background.Go(func() { t.stream.Run(life) })
		keeper.Shipped = func(ctx context.Context) (uint64, error) { return shipper.Shipped(ctx, c.Store, c.Stream) }
	}
	if c.Keep > 0 || c.MaxBytes > 0 {
		t.background.Go(func() { keeper.Run(life) })
	}
	return t, nil
}

// told is a store that tells others of what is appended.
type told struct {
	audit.Store
	appended []chan<- struct{}
}

func (t told) Append(ctx context.Context, records ...driver.Record) error {
	err := t.Store.Append(ctx, records...)
	for _, c := range t.appended {
		select {
		case c <- struct{}{}:
		default: // it knows
		}
	}
	return err
}

// Shipping says how the stream of audit records is doing; false: there is none.
func (t *Trail) Shipping() (s stream.Stats, on bool) {
	if t.stream == nil {
		return s, false
	}
	return t.stream.Stats(), true
}

// Note adds an event to the trail. It does not wait for the store.
func (t *Trail) Note(e event.Event) {
	t.observe(e)
	t.trail.Note(e)
}

// NoteNow adds an event to the trail and returns once it is stored, or why it is not.
func (t *Trail) NoteNow(ctx context.Context, e event.Event) error {
	t.observe(e)
	return t.trail.NoteNow(ctx, e)
}

// Search returns a page of the events that a query selects, the newest first. Events that wait in memory,
// up to a second, are not on it. A query that cannot be asked is a storage.ErrInvalid.
//
// It reads a bounded amount, however long the trail is. Its terms are indexed in the background, for
// trails of earlier versions, too; records that are not indexed yet are read one by one.
func (t *Trail) Search(ctx context.Context, q event.Query) (event.Page, error) {
	return search.Find(ctx, t.store, q)
}

// Close flushes the remaining events to the store. All writers must be done.
func (t *Trail) Close(ctx context.Context) error {
	t.end()
	t.background.Wait()
	return t.trail.Close(ctx)
}
