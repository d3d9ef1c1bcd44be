package ranking

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/record/ranking"
)

// sketch holds the counters of a day. The smallest is at the top of a heap.
type sketch struct {
	most int // counters
	heap []*counter
	of   map[string]*counter
}

type counter struct {
	name          string
	calls, errors int64
	over          int64 // of the calls, as many may be another name's
	at            int   // in the heap
}

func newSketch(most int) *sketch { return &sketch{most: most, of: map[string]*counter{}} }

// add counts calls of a name.
func (s *sketch) add(name string, calls, errors int64) {
	c := s.of[name]
	switch {
	case c != nil:
		c.calls, c.errors = saturate(c.calls, calls), saturate(c.errors, errors)
		s.down(c.at)
	case len(s.heap) < s.most:
		c = &counter{name: strings.Clone(name), calls: calls, errors: errors, at: len(s.heap)}
		s.heap, s.of[c.name] = append(s.heap, c), c
		s.up(c.at)
	default:
		c = s.heap[0]
		delete(s.of, c.name)
		c.name, c.over, c.errors = strings.Clone(name), c.calls, errors
		c.calls = saturate(c.calls, calls)
		s.of[c.name] = c
		s.down(0)
	}
}

func saturate(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func (s *sketch) swap(i, j int) {
	s.heap[i], s.heap[j] = s.heap[j], s.heap[i]
	s.heap[i].at, s.heap[j].at = i, j
}

func (s *sketch) up(i int) {
	for i > 0 && s.heap[i].calls < s.heap[(i-1)/2].calls {
		s.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (s *sketch) down(i int) {
	for {
		least := i
		for _, child := range []int{2*i + 1, 2*i + 2} {
			if child < len(s.heap) && s.heap[child].calls < s.heap[least].calls {
				least = child
			}
		}
		if least == i {
			return
		}
		s.swap(i, least)
		i = least
	}
}

// ranking writes the counters into r, those with the most calls first.
func (s *sketch) ranking(r ranking.Ranking) ranking.Ranking {
	all := make([]counter, 0, len(s.heap))
	for _, c := range s.heap {
		all = append(all, *c)
	}
	slices.SortFunc(all, func(a, b counter) int {
		return cmp.Or(cmp.Compare(b.calls, a.calls), cmp.Compare(a.name, b.name))
	})
	r.Names, r.Calls, r.Errors, r.Over, r.Floor = nil, nil, nil, nil, 0
	for _, c := range all {
		r.Names, r.Calls = append(r.Names, c.name), append(r.Calls, c.calls)
		r.Errors, r.Over = append(r.Errors, c.errors), append(r.Over, c.over)
	}
	if len(s.heap) == s.most {
		r.Floor = s.heap[0].calls
	}
	return r
}
