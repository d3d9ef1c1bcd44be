package planted

import (
	"testing"
	"time"

	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/counters/countertest"
)

func open(testing.TB) countertest.Service {
	set, full := counters.New(), 1_000_000
	if testing.Short() {
		full = 0
	}
	return countertest.Service{Node: func() counters.Set { return set }, Full: full}
}

func TestContractSeesPlantedBugs(t *testing.T) { RunInBubble(t, open) }

func TestListIsLongAndNamesEachBugOnce(t *testing.T) {
	names := map[string]bool{}
	for _, b := range allBugs() {
		if key := b.caught + ": " + b.name; names[key] {
			t.Errorf("two bugs are called %q", key)
		} else {
			names[key] = true
		}
		if b.plant == nil {
			t.Errorf("%q is no bug", b.name)
		}
	}
	if len(names) < 150 {
		t.Errorf("the list has %d bugs, want 150 or more", len(names))
	}
}

// The replacement of the right count in a bug would be right without the bug.
func TestPlantedBugsAreBuiltFromRightParts(t *testing.T) {
	for path, right := range map[string]plant{
		"rates/": rate(func(l *log, limit int, now time.Time) counters.Verdict {
			l.forget(now.Add(-window))
			return l.take(limit, now)
		}),
		"limits/": rate(func(l *log, limit int, now time.Time) counters.Verdict {
			l.forget(now.Add(-window))
			return l.take(limit, now)
		}),
		"addresses/": holding(func(*holder) {}), "undo/": holding(func(*holder) {}), "networks/": holding(func(*holder) {}),
		"locks/": guarding(flaws{}), "in flight/": guarding(flaws{}), "delays/": delaying(slips{}),
		"counts/": counted(func(l *log, now time.Time, window time.Duration) { l.forget(now.Add(-window)) }, nil),
	} {
		b := bug{name: path, caught: path, plant: right}
		if said := countertest.Broken(t, path, true,
			func(t testing.TB) countertest.Service { return b.in(open(t)) }); said != "" {
			t.Error(said)
		}
	}
}

// The million requests of countertest.Exact find what lets callers in between two steps.
func TestCountsThatAreCheckedAndThenMadeAreNotExact(t *testing.T) {
	for _, b := range allBugs() {
		if b.name != "an address is checked, and then counted" && b.name != "an event is asked for, and then counted" &&
			b.name != "a bucket of tokens" {
			continue
		}
		s := b.in(open(t))
		nodes := []counters.Set{s.Node(), s.Node()}
		said := ""
		for range 5 {
			if said = countertest.Inexact(nodes, 50_000, 0); said != "" {
				break
			}
		}
		if said == "" {
			t.Errorf("%q is exact", b.name)
		}
	}
}
