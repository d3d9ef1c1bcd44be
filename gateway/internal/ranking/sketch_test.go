package ranking

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/keystile/keystile/internal/record/ranking"
)

// The numbers of a sketch hold for every stream: never more than its number, never less than that
// without Over, and nothing that is left out has more than Floor.
func TestErrorOfASketchIsWhatItSaysItIs(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 2))
		most, names := 1+random.IntN(40), 1+random.IntN(200)
		s, truth, failed, all := newSketch(most), map[string]int64{}, map[string]int64{}, int64(0)
		skew := rand.NewZipf(random, 1.05+random.Float64(), 1, uint64(names))
		for range 2000 {
			name, calls := fmt.Sprint("n", skew.Uint64()), 1+random.Int64N(9)
			errors := random.Int64N(calls + 1)
			s.add(name, calls, errors)
			truth[name] += calls
			failed[name] += errors
			all += calls
		}
		r := s.ranking(ranking.Ranking{})
		if len(r.Names) != min(most, len(truth)) || (r.Floor > 0) != (len(r.Names) == most) || r.Floor > all/int64(most) {
			t.Fatalf("seed %d: %d names of %d counters and %d names, floor %d of %d", seed, len(r.Names), most, len(truth),
				r.Floor, all)
		}
		in := map[string]bool{}
		for i, name := range r.Names {
			in[name] = true
			if r.Calls[i] < truth[name] || r.Calls[i]-r.Over[i] > truth[name] || r.Errors[i] > failed[name] || r.Over[i] == 0 &&
				r.Errors[i] != failed[name] {
				t.Errorf("seed %d: %s has %d calls less %d and %d errors, in truth %d and %d", seed, name, r.Calls[i], r.Over[i],
					r.Errors[i], truth[name], failed[name])
			}
			if i > 0 && r.Calls[i] > r.Calls[i-1] {
				t.Errorf("seed %d: %d stands behind %d", seed, r.Calls[i], r.Calls[i-1])
			}
		}
		for name, n := range truth {
			if !in[name] && n > r.Floor {
				t.Errorf("seed %d: %s is left out with %d calls, above the floor of %d", seed, name, n, r.Floor)
			}
		}
	}
}

func TestMillionNamesTakeAThousandCounters(t *testing.T) {
	s := newSketch(ranking.MaxNames)
	for i := range 1_000_000 {
		s.add(fmt.Sprint(i), 1, 0)
		if i%100 == 0 {
			s.add("big", 100, 1)
		}
	}
	if len(s.heap) != ranking.MaxNames || len(s.of) != ranking.MaxNames {
		t.Errorf("%d counters and %d names, want %d", len(s.heap), len(s.of), ranking.MaxNames)
	}
	if r := s.ranking(ranking.Ranking{}); r.Names[0] != "big" || r.Calls[0]-r.Over[0] != 1_000_000 {
		t.Errorf("the first is %s with %d", r.Names[0], r.Calls[0])
	}
}

func TestCounterStopsAtTheLargestNumber(t *testing.T) {
	s := newSketch(1)
	s.add("a", math.MaxInt64-1, math.MaxInt64)
	s.add("a", 5, 5)
	s.add("b", 5, 5)
	if r := s.ranking(ranking.Ranking{}); r.Calls[0] != math.MaxInt64 || r.Over[0] != math.MaxInt64 || r.Errors[0] != 5 {
		t.Errorf("the counter is %+v", r)
	}
}

func BenchmarkAdd(b *testing.B) {
	s := newSketch(ranking.MaxNames)
	names := make([]string, 100_000)
	for i := range names {
		names[i] = fmt.Sprint("ks0123456789", i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.add(names[i%len(names)], 1, 0)
	}
}
