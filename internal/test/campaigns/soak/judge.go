package main

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/soak/internal/level"
)

// tolerances say by how much what is measured of a process may grow over its life. RSS with mapped files is
// shown and not judged, as the kernel keeps there what it likes.
var tolerances = map[string]level.Tolerance{
	anonymous:  {Share: 0.2, Least: 16},
	heap:       {Share: 0.15, Least: 3},
	files:      {Share: 0.15, Least: 15},
	goroutines: {Share: 0.15, Least: 25},
}

// journal is the tolerance of a data folder whose node has its records in a database: what is left are a journal of
// usage, which is handed on, and mails. The folder of another node holds all that is stored, and is not judged.
var journal = level.Tolerance{Share: 0.5, Least: 4}

// tolerance returns by how much a measure may grow, and whether that is judged at all.
func (s *soak) tolerance(what string) (t level.Tolerance, judged bool) {
	if what == folder && s.site.database != nil {
		return journal, true
	}
	t, judged = tolerances[what]
	return t, judged
}

// settling is the part of the life of a process that says nothing of what it comes to.
const settling = 0.15

// passing is the number of measurements of which the least counts for memory: the hash of a password takes 19 MB while
// it is made.
const passing = 5

// judgeProcesses judges each life for itself.
func (s *soak) judgeProcesses(r *report) {
	for _, l := range s.sampler.lives {
		p := process{Node: l.node, Began: l.began.Seconds(), Verdicts: map[string]level.Verdict{}}
		for _, what := range measures {
			series := settled(l.series[what])
			if what == heap || what == anonymous {
				series = level.Floor(series, passing)
			}
			t, judged := s.tolerance(what)
			v := level.Judge(series, t)
			if v.Growing = v.Growing && judged; v.Growing {
				r.violated("node %d, from %.0f s: %s: %v", l.node, l.began.Seconds(), what, v)
			}
			p.Verdicts[what] = v
		}
		r.Processes = append(r.Processes, p)
	}
	for _, what := range []string{files, goroutines, connections} {
		if left := s.end[what] - s.idle[what]; left > mostLeft {
			r.violated("%s of node 0 without load: %.0f before and %.0f after, %d more are allowed\n%s", what, s.idle[what],
				s.end[what], mostLeft, s.held[what])
		}
	}
	if v := s.first(); v < level.Fewest {
		r.violated("node 0 was measured %d times, which is too little to judge anything", v)
	}
}

// first is the number of points of the node that is never restarted.
func (s *soak) first() int {
	for _, l := range s.sampler.lives {
		if l.node == 0 {
			return len(settled(l.series[heap]))
		}
	}
	return 0
}

func settled(series []level.Point) []level.Point { return series[int(float64(len(series))*settling):] }

func (r *report) violated(format string, args ...any) {
	r.Violations = append(r.Violations, fmt.Sprintf(format, args...))
}

// judgeRequests judges each kind of request: how long it takes, and what went wrong.
func (s *soak) judgeRequests(r *report) {
	counts, seen := map[string]*kind{}, map[alike]int{}
	of := func(name string) *kind {
		if counts[name] == nil {
			counts[name] = &kind{Name: name}
		}
		return counts[name]
	}
	for name, all := range s.meter.kinds {
		of(name).Count = len(all)
	}
	for _, p := range s.meter.problems {
		if by := s.meter.explained(p); by != "" {
			of(p.kind).Explained++
			r.Explained[fmt.Sprintf("%s, %s", by, p.class)]++
			continue
		}
		of(p.kind).Unexplained++
		like := alike{p.kind, p.class, p.status}
		if seen[like]++; seen[like] > sameShown {
			continue
		}
		r.violated("%8.1f s: %s: %s, and no fault explains it: %s", p.sent.Sub(s.meter.began).Seconds(), p.kind, p.class,
			p.says)
	}
	quarter := s.took / 4
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		k := counts[name]
		k.Second, k.Last = s.meter.times(name, quarter, 2*quarter), s.meter.times(name, 3*quarter, s.took)
		if k.Second.Count >= enough && k.Last.Count >= enough && slowed(k.Second.P50, k.Last.P50, s.slower) {
			r.violated("%s takes %v in the last quarter, and took %v in the second", name, k.Last.P50.Round(time.Millisecond),
				k.Second.P50.Round(time.Millisecond))
		}
		r.Kinds = append(r.Kinds, *k)
	}
}

// alike are problems of which a few say as much as all.
type alike struct {
	kind   string
	class  class
	status int
}

const sameShown = 3

// Bounds of what is called slower: of fewer answers a median says little, and on a busy machine a few milliseconds
// say nothing.
const (
	enough = 20
	noise  = 20 * time.Millisecond
)

func slowed(before, after time.Duration, factor float64) bool {
	return after > noise+time.Duration(float64(before)*factor)
}
