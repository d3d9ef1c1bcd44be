package usage

import (
	"cmp"
	"slices"

	"github.com/keystile/keystile/internal/record/ranking"
	"github.com/keystile/keystile/storage/driver"
)

// merged adds up rankings.
type merged struct {
	of    map[string]*mergedName
	floor int64 // the most calls of a name in all rankings that it is not in
	more  bool  // there are rankings that were not read
}

type mergedName struct {
	TopEntry
	floor int64 // of the rankings that it is in
}

// with adds up what was stored, and what is newer of the same processes.
func (s *stored) with(live []ranking.Ranking) merged {
	m := merged{of: map[string]*mergedName{}, more: s.more}
	newer := map[string]bool{}
	for _, r := range live {
		newer[r.ID] = true
		m.add(r)
	}
	for _, r := range s.all {
		if !newer[r.ID] {
			m.add(r)
		}
	}
	return m
}

func (m *merged) add(r ranking.Ranking) {
	m.floor = plus(m.floor, r.Floor)
	for i, name := range r.Names {
		e := m.of[name]
		if e == nil {
			e = &mergedName{TopEntry: TopEntry{Name: name}}
			m.of[name] = e
		}
		e.Calls, e.Errors = plus(e.Calls, r.Calls[i]-r.Over[i]), plus(e.Errors, r.Errors[i])
		e.AtLeast = e.AtLeast || r.Over[i] > 0
		e.floor = plus(e.floor, r.Floor)
	}
}

func plus(a, b int64) int64 { return driver.Count{Calls: a}.Plus(driver.Count{Calls: b}).Calls }

// top returns the n names with the most calls that are certain.
func (m merged) top(n int) []TopEntry {
	all := make([]TopEntry, 0, len(m.of))
	for _, e := range m.of {
		e.AtLeast = e.AtLeast || e.floor < m.floor || m.more
		all = append(all, e.TopEntry)
	}
	slices.SortFunc(all, func(a, b TopEntry) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})
	return all[:min(n, len(all))]
}
