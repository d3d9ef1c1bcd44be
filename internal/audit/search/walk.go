package search

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// errMoved: the index was made anew meanwhile.
var errMoved = errors.New("audit: the index of the trail is being made anew; search again")

// clause holds the terms of which a record must have one.
type clause struct {
	terms []uint32 // sorted
	rare  bool     // few records have one
}

// clausesOf returns what a query asks for, the rarest first.
func clausesOf(hash *hasher, q event.Query) (all []clause) {
	either := func(rare bool, terms ...uint32) {
		if slices.Sort(terms); len(terms) > 0 {
			all = append(all, clause{terms, rare})
		}
	}
	add := func(field byte, rare bool, values ...string) {
		var terms []uint32
		for _, v := range values {
			if v != "" {
				terms = append(terms, hash.term(field, v))
			}
		}
		either(rare, terms...)
	}
	add(byRequest, true, q.RequestID)
	add(byUser, true, q.User)
	add(byAddress, true, q.IP)
	if add(byApp, false, q.App); q.App == "" {
		add(byApp, false, q.Apps...)
	}
	if q.Agent != "" {
		either(false, hash.term(byApp, q.Agent), hash.term(byActor, q.Agent))
	}
	add(byStatus, false, q.Status)
	add(byKind, false, q.Kind)
	return all
}

// few is a number of records that are better read than looked up in another clause's postings.
const few = 200

// walker goes through the index.
type walker struct {
	*finder
	head    head
	clauses []clause
	held    []uint64    // found and not yet read, the newest first
	picked  int         // how many were read last
	cut     recordRange // the segment in which the time ends that is searched for, if one was met
}

// segments looks at the segments, the newest first.
func (w *walker) segments(ctx context.Context, segments []block) error {
	for _, b := range segments {
		if b.first >= w.below || !w.during(b.recordRange) {
			continue
		}
		found := w.all(b)
		for i, c := range w.clauses {
			among := found
			if i == 0 {
				among = nil
			} else if len(found) == 0 {
				break
			}
			var err error
			if found, err = b.seqs(c.terms, among); err != nil {
				return err
			}
		}
		if err := w.hold(ctx, w.within(b, found)); err != nil || w.done {
			return err
		}
	}
	return nil
}

// all returns every Seq of a block where nothing but a time is asked for.
func (w *walker) all(b block) (found []uint64) {
	if len(w.clauses) > 0 || !w.during(b.recordRange) {
		return nil
	}
	for _, s := range b.ranges {
		for seq := s.first; w.during(s) && seq <= s.last; seq++ {
			found = append(found, seq)
		}
	}
	return found
}

// within returns those of some Seqs that are wanted by their place and their segment's times.
func (w *walker) within(b block, found []uint64) []uint64 {
	n, _ := slices.BinarySearch(found, w.below)
	found = found[:n]
	if w.q.From.IsZero() && w.q.To.IsZero() {
		return found
	}
	for _, s := range b.ranges {
		if to := w.q.To.Unix(); !w.q.To.IsZero() && s.from < to && s.until > to {
			w.cut = s
		}
	}
	i := 0
	return slices.DeleteFunc(found, func(seq uint64) bool {
		for i < len(b.ranges)-1 && b.ranges[i].last < seq {
			i++
		}
		return !w.during(b.ranges[i])
	})
}

// hold keeps found records, ascending and older than those it holds, until they fill the page: they are read
// in as few calls as possible.
func (w *walker) hold(ctx context.Context, found []uint64) error {
	for _, seq := range slices.Backward(found) {
		w.held = append(w.held, seq)
	}
	for !w.done && len(w.held) > w.q.Limit-len(w.page.Entries) {
		if err := w.pick(ctx); err != nil {
			return err
		}
	}
	return nil
}

// rest reads what is held.
func (w *walker) rest(ctx context.Context) error {
	for !w.done && len(w.held) > 0 {
		if err := w.pick(ctx); err != nil {
			return err
		}
	}
	return nil
}

// late guesses how many of the newest that are held are of a time that is too late: of those in a segment
// in which the time ends, as many as of its seconds. A fourth more are read than that.
func (w *walker) late() int {
	in := 0
	for _, seq := range w.held {
		if w.cut.first <= seq && seq <= w.cut.last {
			in++
		} else if seq < w.cut.first {
			break
		}
	}
	if in == 0 {
		return 0
	}
	over, all := w.cut.until-w.q.To.Unix(), w.cut.until-w.cut.from
	return min(in, int(int64(in)*over/all)*5/4+1)
}

// pick reads some of what is held: what the page lacks, and then, because some did not fit, ever more.
func (w *walker) pick(ctx context.Context) error {
	lacks := w.q.Limit + 1 - len(w.page.Entries)
	if w.picked == 0 {
		lacks += w.late()
	}
	n := min(len(w.held), max(lacks, 32, 4*w.picked), driver.Page)
	asked := w.held[:n]
	records, err := w.store.Pick(ctx, asked...)
	if err != nil || !w.take(records) {
		return err
	}
	w.held, w.picked, w.below = w.held[n:], n, min(w.below, asked[n-1])
	if w.records -= n - len(records); w.records <= 0 { // those that are gone, or never were
		w.stop(time.Time{})
	}
	return nil
}
