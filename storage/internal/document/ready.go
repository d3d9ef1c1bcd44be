package document

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

const (
	// quietFor is the time for which a successful write counts as proof, and the least time
	// between two probes.
	quietFor  = 5 * time.Second
	ProbeWait = time.Second // the timeout of a probe
)

// probe is the one document that Ready writes if there were no other writes: always the same.
type probe struct {
	At      time.Time `json:"at"`
	Version int64     `json:"-"`
	carried
}

var probes = Kind[probe]{
	Name:    "probe",
	ID:      func(probe) string { return "write" },
	Version: func(p *probe) *int64 { return &p.Version },
}

// Working reports whether the last write succeeded, and writes one small document if there was none for some seconds.
//
// It trusts a successful write for five seconds, and probes with one document of its own after that. A write that
// was refused, found nothing to do or lost its caller proves nothing about the disk and is left out.
func Working(ctx context.Context, s *Store) error {
	w := s.writes
	if err := w.may(); err != nil {
		return Unavailable("write", err)
	}
	turn := w.turn(time.Now())
	if turn.mine {
		w.probed(turn.done, s.probe())
	}
	select {
	case <-turn.done:
	case <-ctx.Done():
		return Unavailable("wait for a probe write", ctx.Err())
	}
	if err := w.last(); err != nil {
		return Unavailable("the last write", err)
	}
	return w.failing(s.probe)
}

// probe writes. A caller of Ready that goes away must not cancel it: others wait for it too.
func (s *Store) probe() error {
	ctx, cancel := context.WithTimeout(context.Background(), ProbeWait)
	defer cancel()
	p, err := Find(ctx, s, probes, "write")
	if err != nil {
		return err
	}
	p.At = time.Now().UTC()
	_, err = Put(ctx, s, probes, p)
	if errors.Is(err, ErrExists) || errors.Is(err, ErrConflict) {
		return nil // another process has written it just now
	}
	return err
}

// writes is a Backend that remembers how the last write went.
type writes struct {
	driver.Backend
	mu      sync.Mutex
	at      time.Time // of the last verdict
	err     error     // nil: it succeeded
	began   time.Time // when the last probe began
	streaks [sorts]streak
	probing chan struct{}
	left    atomic.Pointer[error] // why nothing is written any more; nil: it is
}

// may returns why nothing is written any more; nil: it is.
func (w *writes) may() error {
	if left := w.left.Load(); left != nil {
		return *left
	}
	return nil
}

// turn is a place in the line for a probe: done is closed when there is nothing to wait for.
type turn struct {
	mine bool // the caller is to probe
	done chan struct{}
}

var nothing = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

func (w *writes) turn(now time.Time) turn {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch fresh := !w.at.IsZero() && now.Sub(w.at) < quietFor; {
	case w.probing != nil:
		return turn{done: w.probing}
	case fresh && w.err == nil, !w.began.IsZero() && now.Sub(w.began) < quietFor:
		return turn{done: nothing}
	}
	w.began, w.probing = now, make(chan struct{})
	return turn{mine: true, done: w.probing}
}

func (w *writes) probed(done chan struct{}, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at, w.err, w.probing = time.Now(), err, nil
	close(done)
}

func (w *writes) last() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// ended records the outcome of a write. One that was refused, had nothing to do, or whose
// caller has gone away proves nothing about the disk.
func (w *writes) ended(ctx context.Context, of sort, wrote bool, err error) {
	if err == nil && !wrote || ctx.Err() != nil && err != nil || verdict(err) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at, w.err = time.Now(), err
	w.streaks[of].count(w.at, err)
}

func (w *writes) Issue(ctx context.Context, tokens ...driver.Token) error {
	if err := w.may(); err != nil {
		return err
	}
	err := w.Backend.Issue(ctx, tokens...)
	w.ended(ctx, ofTokens, len(tokens) > 0, err)
	return err
}

func (w *writes) Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
	if err := w.may(); err != nil {
		return err
	}
	err := w.Backend.Exchange(ctx, key, at, next...)
	w.ended(ctx, ofTokens, true, err)
	return err
}

func (w *writes) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	if err := w.may(); err != nil {
		return err
	}
	err := w.Backend.Revoke(ctx, rs...)
	w.ended(ctx, ofRevocations, len(rs) > 0, err)
	return err
}

func (w *writes) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error {
	if err := w.may(); err != nil {
		return err
	}
	err := w.Backend.Count(ctx, b, counts)
	w.ended(ctx, ofCounts, len(counts) > 0, err)
	return err
}

func (w *writes) Append(ctx context.Context, records ...driver.Record) error {
	if err := w.may(); err != nil {
		return err
	}
	err := w.Backend.Append(ctx, records...)
	w.ended(ctx, ofRecords, len(records) > 0, err)
	return err
}

func (w *writes) Prune(ctx context.Context, through uint64, n int) (int, error) {
	if err := w.may(); err != nil {
		return 0, err
	}
	removed, err := w.Backend.Prune(ctx, through, n)
	w.ended(ctx, ofRecords, removed > 0, err)
	return removed, err
}

func (w *writes) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	if err := w.may(); err != nil {
		return 0, err
	}
	version, err := w.Backend.Put(ctx, docs...)
	w.ended(ctx, ofDocuments, len(docs) > 0, err)
	return version, err
}

func (w *writes) Sweep(ctx context.Context, at time.Time, n int) (int, error) {
	if err := w.may(); err != nil {
		return 0, err
	}
	removed, err := w.Backend.Sweep(ctx, at, n)
	w.ended(ctx, ofDocuments, removed > 0, err)
	return removed, err
}
