package usage

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/internal/ledger"
)

// A quantile lies in the range that the true one lies in.
func TestQuantileIsWithinTheRangeOfTheTrueOne(t *testing.T) {
	rangeOf := func(d time.Duration) int {
		i, _ := slices.BinarySearch(ledger.Bounds, d)
		return i
	}
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 3))
		var h histogram
		all := make([]time.Duration, 1+random.IntN(300))
		for i := range all {
			all[i] = time.Duration(1 + random.ExpFloat64()*float64(time.Second)*random.Float64())
			h.add(rangeOf(all[i]), 1)
		}
		slices.Sort(all)
		for _, q := range []float64{0.5, 0.95, 0.99} {
			at := int(float64(len(all))*q+0.9999999) - 1
			got := h.quantile(q)
			if rangeOf(got) != rangeOf(all[at]) {
				t.Errorf("seed %d: %v of %d is %v, in truth %v", seed, q, len(all), got, all[at])
			}
		}
		if a, b, c := h.quantile(0.5), h.quantile(0.95), h.quantile(0.99); a > b || b > c || a <= 0 {
			t.Errorf("seed %d: %v, %v, %v do not rise", seed, a, b, c)
		}
	}
}

func TestQuantilesOfNothingAndOfTheSlowest(t *testing.T) {
	var h histogram
	if got := h.quantile(0.5); got != 0 {
		t.Errorf("of nothing it is %v", got)
	}
	h.add(ledger.Ranges-1, 7)
	if got := h.quantile(0.5); got != 100*time.Second {
		t.Errorf("beyond the last bound it is %v, want that bound", got)
	}
	h = histogram{}
	h.add(3, 100) // 5 ms to 10 ms
	if got := h.quantile(0.5); got != 7500*time.Microsecond {
		t.Errorf("amid a range it is %v, want 7.5ms", got)
	}
}
