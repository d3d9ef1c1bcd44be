package usage

import (
	"time"

	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/storage/driver"
)

// histogram counts latencies by range.
type histogram [ledger.Ranges]int64

func (h *histogram) add(i int, calls int64) {
	h[i] = driver.Count{Calls: h[i]}.Plus(driver.Count{Calls: calls}).Calls
}

// quantile returns the latency that a part q of all calls did not exceed, 0 if there are none. Within a
// range the calls count as spread evenly; what is beyond the last bound counts as that bound.
func (h *histogram) quantile(q float64) time.Duration {
	var all float64
	for _, n := range h {
		all += float64(n)
	}
	if all == 0 {
		return 0
	}
	want, below, low := q*all, 0.0, time.Duration(0)
	for i, n := range h[:len(ledger.Bounds)] {
		high := ledger.Bounds[i]
		if n := float64(n); n > 0 && below+n >= want {
			return low + time.Duration(float64(high-low)*(want-below)/n)
		}
		below, low = below+float64(n), high
	}
	return low
}
