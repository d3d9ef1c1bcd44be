package search

import (
	"context"
	"slices"

	"github.com/keystile/keystile/storage/driver"
)

// obsolete looks for blocks whose records were all removed from the trail.
func (x *Indexer) obsolete(ctx context.Context, h head) (work, error) {
	if len(h.groups)+len(h.segments) == 0 {
		return nil, nil
	}
	oldest, err := x.Store.Records(ctx, 0, 1)
	if err != nil || len(oldest) == 0 {
		return nil, err
	}
	before := oldest[0].Seq
	gone := func(s recordRange) bool { return s.last < before }
	if !slices.ContainsFunc(h.groups, gone) && !slices.ContainsFunc(h.segments, gone) {
		return nil, nil
	}
	return func(ctx context.Context) error { return x.forget(ctx, before, gone) }, nil
}

// forget removes blocks in front of a record: first the parts of groups, also those of a merge that was
// never finished, then the segments and their names in the head.
func (x *Indexer) forget(ctx context.Context, before uint64, gone func(recordRange) bool) error {
	h, _, docs, err := loadIndex(ctx, x.Store)
	if err != nil || h.version == 0 || h.wipe {
		return err
	}
	through := uint64(0)
	for _, g := range h.groups {
		if gone(g) {
			through = max(through, g.last)
		}
	}
	if through > 0 {
		if err := x.remove(ctx, groupSpan(through+1)); err != nil {
			return err
		}
	}
	h.groups = slices.DeleteFunc(h.groups, gone)
	var last []driver.Doc
	slices.Reverse(docs)
	for i, s := range h.segments {
		if gone(s) {
			last = append(last, driver.Doc{ID: docs[i].ID, Version: docs[i].Version, Deleted: true})
		}
	}
	if len(last) >= driver.MaxPut { // a merge is due first
		return nil
	}
	h.segments = slices.DeleteFunc(slices.Clone(h.segments), gone)
	x.pruned = x.pruned.Add(-pruneWait) // there may be more
	_, err = x.Store.SaveTrailIndex(ctx, append(last, h.doc())...)
	return err
}

// remove removes all documents in a span.
func (x *Indexer) remove(ctx context.Context, span driver.Span) error {
	for {
		docs, _, err := x.Store.TrailIndex(ctx, span, putSize)
		if err != nil || len(docs) == 0 {
			return err
		}
		if err := x.delete(ctx, docs); err != nil {
			return err
		}
	}
}

func (x *Indexer) delete(ctx context.Context, docs []driver.Doc) error {
	gone := make([]driver.Doc, len(docs))
	for i, d := range docs {
		gone[i] = driver.Doc{ID: d.ID, Version: d.Version, Deleted: true}
	}
	_, err := x.Store.SaveTrailIndex(ctx, gone...)
	return err
}

// leftovers returns some documents beside the head.
func (x *Indexer) leftovers(ctx context.Context, n int) ([]driver.Doc, error) {
	for _, span := range wholeSpans {
		docs, _, err := x.Store.TrailIndex(ctx, span, n)
		if err != nil || len(docs) > 0 {
			return docs, err
		}
	}
	return nil, nil
}

// wipe removes some documents of an index that is made anew, and when none are left begins it.
func (x *Indexer) wipe(ctx context.Context, h head) error {
	docs, err := x.leftovers(ctx, putSize)
	if err != nil {
		return err
	}
	if len(docs) > 0 {
		return x.delete(ctx, docs)
	}
	fresh := newHead()
	fresh.version = h.version
	return x.save(ctx, fresh)
}
