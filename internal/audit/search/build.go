package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/storage/driver"
)

// index writes a segment of records.
func (x *Indexer) index(ctx context.Context, h head, records []driver.Record) error {
	if h.version == 0 {
		h = newHead()
	}
	s, postings := gather(x.hasher(h.key), records)
	h.segments = append(slices.Clone(h.segments), s)
	last := records[len(records)-1]
	for i := range records { // where numbers have gaps a segment may end early
		if records[i].Seq == s.last {
			last = records[i]
		}
	}
	h.cursor, h.mark = last.Seq, markOf(last)
	segment := driver.Doc{ID: segmentID(s), Index: []string{segmentEntry(s)}, Data: makeBlock([]recordRange{s}, postings)}
	_, err := x.Store.SaveTrailIndex(ctx, h.doc(), segment)
	return err
}

// gather returns the postings of the first of some records, as many as are near each other.
func gather(hash *hasher, records []driver.Record) (s recordRange, all []posting) {
	s = recordRange{first: records[0].Seq, last: records[0].Seq, from: math.MaxInt64, until: math.MinInt64}
	var terms []uint32
	all = make([]posting, 0, fields*len(records))
	for _, r := range records {
		if r.Seq-s.first >= maxWidth/groupSize {
			break
		}
		s.last = r.Seq
		e, err := audit.Decode(r)
		if err != nil {
			e = audit.Event{At: r.At} // nothing finds it but its time
		}
		s.from, s.until = min(s.from, e.At.Unix()), max(s.until, e.At.Unix())
		terms = hash.terms(terms[:0], &e)
		for _, t := range terms {
			all = append(all, post(t, r.Seq-s.first))
		}
	}
	slices.Sort(all)
	return s, slices.Compact(all)
}

// merge makes a group of the oldest segments. Its parts are written first, in several steps, and seen by
// nobody before the last step names the group in the head and removes the segments. If it is stopped
// between, the same segments make the same parts again, and those that are there stay.
func (x *Indexer) merge(ctx context.Context) error {
	h, segments, docs, err := loadIndex(ctx, x.Store)
	size := cmp.Or(x.group, groupSize)
	if err != nil || len(segments) < size {
		return err
	}
	slices.Reverse(segments)
	slices.Reverse(docs)
	n := 1
	for n < size && segments[n].last-segments[0].first < maxWidth {
		n++
	}
	group := around(h.segments[:n])
	all := make([]posting, 0, fields*segmentSize*n)
	for _, s := range segments[:n] {
		if all, err = s.postings(all, group.first); err != nil {
			return err
		}
	}
	slices.Sort(all)
	if err := x.saveParts(ctx, h, group, h.segments[:n], byPart(all)); err != nil {
		return err
	}
	last := make([]driver.Doc, 0, n+1)
	for _, d := range docs[:n] {
		last = append(last, driver.Doc{ID: d.ID, Version: d.Version, Deleted: true})
	}
	h.groups, h.segments = append(h.groups, group), h.segments[n:]
	_, err = x.Store.SaveTrailIndex(ctx, append(last, h.doc())...)
	return err
}

// saveParts writes the parts of a group that are not there.
func (x *Indexer) saveParts(ctx context.Context, h head, group recordRange, segments []recordRange,
	cut [parts][]posting) error {
	there := map[string]bool{}
	span := driver.Between(groupEntry(0, group), driver.Is(groupEntry(parts-1, group)).To)
	for next := span.From; next != ""; {
		some, after, err := x.Store.TrailIndex(ctx, driver.Between(next, span.To), driver.MaxPut)
		if err != nil {
			return err
		}
		for _, d := range some {
			there[d.ID] = true
		}
		next = after
	}
	var docs []driver.Doc
	for i, postings := range cut {
		part := byte(i)
		if id := h.partID(part, group); !there[id] {
			entries := []string{partEntry(part, group.first), groupEntry(part, group)}
			if part < appParts {
				entries = append(entries, appsEntry(part, group.first))
			}
			docs = append(docs, driver.Doc{ID: id, Index: entries, Data: makeBlock(segments, postings)})
		}
	}
	for some := range slices.Chunk(docs, putSize) {
		if _, err := x.Store.SaveTrailIndex(ctx, some...); err != nil {
			return err
		}
	}
	return nil
}

// putSize bounds the parts that are written in one step: some 300 KB, for which no other writer waits long.
const putSize = 64
