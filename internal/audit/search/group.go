package search

import (
	"context"
	"slices"
	"time"
)

// groups looks at the groups, the newest first: at all of them at once for what is rare, else at a few,
// because these are likely to fill the page, then at ever more.
func (w *walker) groups(ctx context.Context) error {
	var due []stretch
	for _, g := range slices.Backward(w.head.groups) {
		if g.first < w.below && w.during(g) {
			due = append(due, g)
		}
	}
	for n := w.step(); len(due) > 0; n *= 4 {
		n = min(n, len(due), max(w.blocks/len(w.partsOf(0)), 1))
		if err := w.some(ctx, due[:n]); err != nil || w.done {
			return err
		}
		w.below = min(w.below, due[n-1].first)
		if due = due[n:]; len(due) > 0 && w.blocks <= 0 {
			w.below = min(w.below, due[0].last+1)
			w.stop(time.Unix(due[0].until, 0).UTC())
			return nil
		}
	}
	return nil
}

const (
	firstGroups = 4
	rareGroups  = 1000
)

// step is how many groups are looked at first.
func (w *walker) step() int {
	if len(w.clauses) > 0 && w.clauses[0].rare {
		return rareGroups
	}
	return firstGroups
}

// partsOf returns the parts that have the terms of a clause; of none the first, for its times.
func (w *walker) partsOf(clause int) (all []byte) {
	if clause >= len(w.clauses) {
		return []byte{0}
	}
	for _, t := range w.clauses[clause].terms {
		all = append(all, byte(t>>24))
	}
	return slices.Compact(all) // terms are sorted
}

// some looks at some groups that follow each other, the newest first.
func (w *walker) some(ctx context.Context, groups []stretch) error {
	found := make([][]uint64, len(groups))
	for i := range max(len(w.clauses), 1) {
		total := 0
		for _, f := range found {
			total += len(f)
		}
		if i > 0 && total <= few {
			break // take reads the rest of the query in the records
		}
		if err := w.narrow(ctx, groups, found, i); err != nil {
			return err
		}
	}
	for i, g := range groups {
		if err := w.pick(ctx, found[i]); err != nil || w.done {
			return err
		}
		w.below = min(w.below, g.first)
	}
	return nil
}

// narrow puts what has a clause into found; behind the first clause it takes out what has not.
func (w *walker) narrow(ctx context.Context, groups []stretch, found [][]uint64, clause int) error {
	for clause > 0 && len(found[0]) == 0 { // some were found
		groups, found = groups[1:], found[1:]
	}
	for clause > 0 && len(found[len(found)-1]) == 0 {
		groups, found = groups[:len(groups)-1], found[:len(found)-1]
	}
	fits := make([][]uint64, len(groups))
	for _, part := range w.partsOf(clause) {
		if err := w.load(ctx, part, groups, func(i int, b block) error {
			some := w.all(b)
			if len(w.clauses) > 0 {
				var err error
				if some, err = b.seqs(w.clauses[clause].terms); err != nil {
					return err
				}
			}
			fits[i] = append(fits[i], w.within(b, some)...)
			return nil
		}); err != nil {
			return err
		}
	}
	for i := range groups {
		slices.Sort(fits[i])
		if fits[i] = slices.Compact(fits[i]); clause > 0 {
			fits[i] = both(found[i], fits[i])
		}
		found[i] = fits[i]
	}
	return nil
}

// load calls do with a part of each group that is there.
func (w *walker) load(ctx context.Context, part byte, groups []stretch, do func(int, block) error) error {
	places := make(map[string]int, len(groups))
	for i, g := range groups {
		places[w.head.partID(part, g)] = i
	}
	span := partSpan(part, groups[0], groups[len(groups)-1])
	for next := span.From; next != ""; {
		span.From = next
		docs, after, err := w.store.TrailIndex(ctx, span, pageDocs)
		if err != nil {
			return err
		}
		for _, d := range docs {
			i, asked := places[d.ID]
			if !asked { // of times that are not asked for, or left by a merge that was not finished
				continue
			}
			delete(places, d.ID)
			b, err := readBlock(d.Data)
			if err == nil {
				err = do(i, b)
			}
			if err != nil {
				return err
			}
		}
		w.blocks -= max(len(docs), 1)
		next = after
	}
	if len(places) > 0 {
		return w.moved(ctx)
	}
	return nil
}

// moved tells why parts are not there: their records were removed from the trail, which is fine, or the
// index was made anew.
func (w *walker) moved(ctx context.Context) error {
	h, err := loadHead(ctx, w.store)
	if err == nil && h.key != w.head.key {
		err = errMoved
	}
	return err
}

// pageDocs is some 2 MB.
const pageDocs = 500
