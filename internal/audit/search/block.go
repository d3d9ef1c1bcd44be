package search

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/keystile/keystile/storage/driver"
)

func trailing(b byte) int { return bits.TrailingZeros8(b) }

// The index is made of documents of five forms, by the beginning of their entry:
//
//	a0         the head
//	a1.FIRST   the segment that begins with a record
//	pPP.FIRST  part PP of the group that begins with a record
//	gFIRST.PP  the same, to find all parts of a group
//	bFIRST.PP  the same, of the parts that have applications, to find those of many in one list
//
// A FIRST behind a1, b and p is turned over, so that a list begins with the newest.
const (
	headID    = "head"
	headEntry = "a0"

	segmentSize = driver.Page - 1 // records: with the one before them they are a page of Records
	groupSize   = 64              // segments
	parts       = 256             // documents of a group: by the high byte of a term
	maxWidth    = math.MaxInt32   // Seqs in a block: where numbers have gaps, fewer records fit
)

func newest(first uint64) string { return fmt.Sprintf("%016x", ^first) }

func segmentID(s recordRange) string    { return fmt.Sprintf("s%016x", s.first) }
func segmentEntry(s recordRange) string { return "a1." + newest(s.first) }

// segmentSpan spans the head and all segments.
var segmentSpan = driver.Between(headEntry, "a2")

// partID names a part of a group, and the index it is of: a process that was paused in a merge may write
// parts of an index that was removed since.
func (h head) partID(part byte, group recordRange) string {
	return fmt.Sprintf("p%02x.%016x.%016x.%x", part, group.first, group.last, h.key[:4])
}

func partEntry(part byte, first uint64) string { return fmt.Sprintf("p%02x.%s", part, newest(first)) }

// partSpan spans one part of the groups from one down to another.
func partSpan(part byte, from, to recordRange) driver.Span {
	return driver.Between(partEntry(part, from.first), driver.Is(partEntry(part, to.first)).To)
}

func appsEntry(part byte, first uint64) string { return fmt.Sprintf("b%s.%02x", newest(first), part) }

// appsSpan spans all parts that have applications, of the groups from one down to another.
func appsSpan(from, to recordRange) driver.Span {
	return driver.Between(appsEntry(0, from.first), driver.Is(appsEntry(appParts-1, to.first)).To)
}

func groupEntry(part byte, group recordRange) string {
	return fmt.Sprintf("g%016x.%02x", group.first, part)
}

// groupSpan spans all parts of the groups that begin in front of a Seq.
func groupSpan(before uint64) driver.Span { return driver.Between("g", fmt.Sprintf("g%016x", before)) }

// wholeSpans span all documents but the head, each under one entry.
var wholeSpans = []driver.Span{driver.Between("a1", "a2"), driver.Between("g", "h")}

// block is a document with postings: a segment, or a part of a group.
type block struct {
	ranges      []recordRange // of its segments
	recordRange               // around them
	rest        []byte        // the postings
}

const blockFormat = 1

func makeBlock(ranges []recordRange, postings []posting) []byte {
	whole := around(ranges)
	return appendPostings(appendRanges([]byte{blockFormat}, ranges), postings, whole.width())
}

func (s recordRange) width() uint64 { return s.last - s.first + 1 }

func readBlock(data []byte) (block, error) {
	if len(data) == 0 || data[0] != blockFormat {
		return block{}, errDamaged
	}
	r := reader{rest: data[1:]}
	b := block{ranges: r.ranges()}
	if b.rest = r.rest; r.bad || len(b.ranges) == 0 {
		return block{}, errDamaged
	}
	b.recordRange = around(b.ranges)
	return b, nil
}

// postings appends all of them, with their offsets from another Seq.
func (b block) postings(all []posting, from uint64) ([]posting, error) {
	r := reader{rest: b.rest}
	r.lists(b.width(), nil, func(term uint32, l list) {
		l.each(func(offset uint64) { all = append(all, post(term, b.first-from+offset)) })
	})
	if r.bad {
		return nil, errDamaged
	}
	return all, nil
}

// seqs returns the records that have one of some terms, ascending: of all, or where among is not nil of those.
func (b block) seqs(terms []uint32, among []uint64) (found []uint64, err error) {
	r := reader{rest: b.rest}
	r.lists(b.width(), terms, func(_ uint32, l list) {
		if among == nil {
			l.each(func(offset uint64) { found = append(found, b.first+offset) })
		} else {
			l.among(b.first, among, func(seq uint64) { found = append(found, seq) })
		}
	})
	if r.bad {
		return nil, errDamaged
	}
	if len(terms) > 1 {
		slices.Sort(found)
		found = slices.Compact(found)
	}
	return found, nil
}

// byPart cuts sorted postings into those of each part.
func byPart(all []posting) (cut [parts][]posting) {
	for i := range parts {
		n, _ := slices.BinarySearchFunc(all, post(uint32(i+1)<<24, 0), func(p, q posting) int {
			if i == parts-1 {
				return -1
			}
			return cmp.Compare(p, q)
		})
		cut[i], all = all[:n], all[n:]
	}
	return cut
}
