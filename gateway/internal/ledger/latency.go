package ledger

import (
	"fmt"
	"slices"
	"time"
)

// Bounds are the upper ends of the ranges in which the latencies of calls are counted. A last
// range, without an upper end, has the calls that take longer. Rows of the store are named after
// them: a bound may be added between two others, and none may go.
var Bounds = []time.Duration{
	1 * time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond,
	10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	1 * time.Second, 2 * time.Second, 5 * time.Second,
	10 * time.Second, 20 * time.Second, 50 * time.Second, 100 * time.Second,
}

// Ranges is the number of ranges: one up to each bound, and one beyond the last.
const Ranges = 17

// span is the number of a range, from 1; 0: the latency is not known.
type span uint8

// spanOf returns the range of a latency.
func spanOf(took time.Duration) span {
	if took <= 0 {
		return 0
	}
	for i, bound := range Bounds { // they are few
		if took <= bound {
			return span(i + 1)
		}
	}
	return Ranges
}

// name is the Product of the rows of a range. Names sort as the ranges do.
func (s span) name() string {
	if int(s) > len(Bounds) {
		return "beyond"
	}
	return fmt.Sprintf("%06d", Bounds[s-1].Milliseconds())
}

// spanNames are the names of all ranges, by their number.
var spanNames = func() (all [Ranges + 1]string) {
	for s := span(1); s <= Ranges; s++ {
		all[s] = s.name()
	}
	return all
}()

// RangeOf returns the index of the range that a row of ByLatency counts, from 0, and whether it is
// one that this version knows.
func RangeOf(name string) (i int, ok bool) {
	i = slices.Index(spanNames[1:], name)
	return i, i >= 0
}
