package gateway

import (
	"context"
	"errors"

	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// maxHeads bounds a report.
const maxHeads = 20

// State returns what is known of the trail without reading it.
func (t *Trail) State(ctx context.Context) (event.TrailState, error) {
	stats := t.trail.Stats()
	s := event.TrailState{Waiting: stats.Waiting, Lost: stats.Lost + stats.LostAnonymous}
	var err error
	if s.Appended, err = t.archive.Appended(ctx); err != nil {
		return s, err
	}
	c, err := audit.ReadCheckpoint(ctx, t.archive)
	if errors.Is(err, storage.ErrCheckpoint) {
		s.Forged = true
		return s, nil
	}
	s.Removed, s.Through, s.Until, s.Since = c.Removed, c.Through, c.Last, c.Since
	return s, err
}

// Verify reads the whole trail and checks that it is whole, as "keystile audit verify" does. It tells read
// how many records each step has read; nil: nobody. The error is trouble with reading.
func (t *Trail) Verify(ctx context.Context, read func(records int)) (event.TrailReport, error) {
	r, err := audit.Verify(ctx, countedArchive{t.archive, read})
	found := event.TrailReport{Records: uint64(r.Records), Broken: uint64(r.Broken), Lost: uint64(r.Lost),
		Repeated: uint64(r.Repeated)}
	for _, b := range r.Breaks {
		found.Breaks = append(found.Breaks, b.String())
	}
	for _, h := range r.Heads[max(0, len(r.Heads)-maxHeads):] {
		found.Heads = append(found.Heads, h.String())
	}
	return found, err
}

// countedArchive tells how much of a trail was read.
type countedArchive struct {
	audit.Archive
	read func(records int)
}

func (c countedArchive) Records(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
	page, err := c.Archive.Records(ctx, after, n)
	if c.read != nil {
		c.read(len(page))
	}
	return page, err
}
