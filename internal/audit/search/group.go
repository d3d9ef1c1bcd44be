package search

import (
	"context"
	"slices"
	"time"
)

// groups looks at the groups, the newest first: at all of them at once for what is rare, else at a few,
// because these are likely to fill the page, then at ever more.
func (w *walker) groups(ctx context.Context) error {
	var due []recordRange
	for _, g := range slices.Backward(w.head.groups) {
		if g.first < w.below && w.during(g) {
			due = append(due, g)
		}
	}
	for n := w.step(); len(due) > 0; n *= 4 {
		n = min(n, len(due), max(w.blocks/w.cost(), 1))
		if err := w.some(ctx, due[:n]); err != nil || w.done {
			return err
		}
		if due = due[n:]; len(due) > 0 && w.blocks <= 0 {
			if err := w.rest(ctx); err != nil || w.done {
				return err
			}
			w.below = min(w.below, due[0].last+1)
			w.stop(time.Unix(due[0].until, 0).UTC())
			return nil
		}
	}
	return w.rest(ctx)
}

const (
	firstGroups = 4
	rareGroups  = 1000
)

// step returns how many groups are looked at first.
func (w *walker) step() int {
	if w.rare() {
		return rareGroups
	}
	return firstGroups
}

func (w *walker) rare() bool { return len(w.clauses) > 0 && w.clauses[0].rare }

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

// cost returns how many documents of a group are read for the first clause.
func (w *walker) cost() int {
	if n := len(w.partsOf(0)); n <= manyParts {
		return n
	}
	return appParts
}

// some looks at some groups that follow each other, the newest first. Where much has a rare clause it looks
// for the others in the newest of it, which are likely to fill the page, then in ever more.
func (w *walker) some(ctx context.Context, groups []recordRange) error {
	found := make([][]uint64, len(groups))
	if err := w.narrow(ctx, groups, found, 0); err != nil {
		return err
	}
	for size := 2 * few; len(groups) > 0; size *= 4 {
		n, total := 0, 0
		for n < len(groups) && (total < size || !w.rare()) {
			total += len(found[n])
			n++
		}
		for i := 1; i < len(w.clauses) && total > few; i++ { // of a few, the records tell the rest of the query
			if err := w.narrow(ctx, groups[:n], found[:n], i); err != nil {
				return err
			}
			total = 0
			for _, f := range found[:n] {
				total += len(f)
			}
		}
		for _, f := range found[:n] {
			if err := w.hold(ctx, f); err != nil || w.done {
				return err
			}
		}
		groups, found = groups[n:], found[n:]
	}
	return nil
}

// narrow puts what has a clause into found; behind the first clause it takes out what has not.
func (w *walker) narrow(ctx context.Context, groups []recordRange, found [][]uint64, clause int) error {
	for clause > 0 && len(found[0]) == 0 { // some were found
		groups, found = groups[1:], found[1:]
	}
	for clause > 0 && len(found[len(found)-1]) == 0 {
		groups, found = groups[:len(groups)-1], found[:len(found)-1]
	}
	fits := make([][]uint64, len(groups))
	take := func(i int, b block) error {
		some := w.all(b)
		if len(w.clauses) > 0 && (clause == 0 || len(found[i]) > 0) {
			var among []uint64
			if clause > 0 {
				among = found[i]
			}
			var err error
			if some, err = b.seqs(w.clauses[clause].terms, among); err != nil {
				return err
			}
		}
		fits[i] = append(fits[i], w.within(b, some)...)
		return nil
	}
	asked := w.partsOf(clause)
	lists := [][]byte{asked}
	if len(asked) <= manyParts {
		lists = slices.Collect(slices.Chunk(asked, 1))
	}
	for _, parts := range lists {
		if err := w.load(ctx, parts, groups, take); err != nil {
			return err
		}
	}
	for i := range fits {
		if len(asked) > 1 {
			slices.Sort(fits[i])
			fits[i] = slices.Compact(fits[i])
		}
		found[i] = fits[i]
	}
	return nil
}

// manyParts is a number of parts that are listed one by one. Only applications have more: those are listed
// together with what lies between them.
const manyParts = 2

// load calls do with some parts of each group that are there.
func (w *walker) load(ctx context.Context, parts []byte, groups []recordRange, do func(int, block) error) error {
	places := make(map[string]int, len(parts)*len(groups))
	for i, g := range groups {
		for _, part := range parts {
			places[w.head.partID(part, g)] = i
		}
	}
	span := partSpan(parts[0], groups[0], groups[len(groups)-1])
	if len(parts) > 1 {
		span = appsSpan(groups[0], groups[len(groups)-1])
	}
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
