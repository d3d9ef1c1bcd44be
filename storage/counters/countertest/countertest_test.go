package countertest

import (
	"slices"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

func inProcess(testing.TB) Service {
	set := counters.New()
	return Service{Node: func() counters.Set { return set }, Full: 1_000_000}
}

func TestCountersOfOneProcessKeepTheContract(t *testing.T) { RunInBubble(t, inProcess) }

func TestMillionEventsOfOneProcessKeepTheContract(t *testing.T) {
	if testing.Short() {
		t.Skip("counts to a million")
	}
	AMillionInBubble(t, inProcess)
}

func TestMillionRequestsOverEightHandlesAreExact(t *testing.T) {
	if testing.Short() {
		t.Skip("counts to a million")
	}
	set := counters.New()
	Exact(t, slices.Repeat([]counters.Set{set}, 8), 1_000_000, 0)
}

// The time at which a request was counted is known between two moments: nothing is found that may be
// right, and everything that cannot be.
func TestJudgeFindsOnlyWhatCannotBeRight(t *testing.T) {
	at := func(before, after int, admitted bool) asking {
		return asking{limit: 2, window: 10, before: time.Duration(before), after: time.Duration(after), admitted: admitted}
	}
	for _, c := range []struct {
		what        string
		all         []asking
		over, under int
	}{
		{"two of two", []asking{at(0, 1, true), at(2, 3, true)}, 0, 0},
		{"three within a window", []asking{at(0, 1, true), at(2, 3, true), at(8, 9, true)}, 1, 0},
		{"three, the last perhaps behind the window of the first", []asking{at(0, 1, true), at(2, 3, true), at(8, 10, true)},
			0, 0},
		{"three, the first perhaps before the window of the last", []asking{at(0, 5, true), at(2, 3, true), at(9, 11, true)},
			0, 0},
		{"the first call ends last", []asking{at(0, 9, true), at(1, 2, true), at(1, 3, true)}, 1, 0},
		{"refused beside two", []asking{at(0, 1, true), at(2, 3, true), at(4, 5, false)}, 0, 0},
		{"refused beside one", []asking{at(0, 1, true), at(4, 5, false)}, 0, 1},
		{"refused beside one, and one perhaps before", []asking{at(0, 1, true), at(4, 5, false), at(4, 6, true)}, 0, 0},
		{"refused beside one, and one later", []asking{at(0, 1, true), at(4, 5, false), at(5, 6, true)}, 0, 1},
		{"refused when the first has surely left", []asking{at(0, 1, true), at(2, 3, true), at(12, 13, false)}, 0, 1},
		{"refused when the first has perhaps left", []asking{at(0, 2, true), at(2, 3, true), at(12, 13, false)}, 0, 0},
	} {
		if s := judge(c.all, 0); s.over != c.over || s.under != c.under {
			t.Errorf("%s: %d over and %d under, want %d and %d", c.what, s.over, s.under, c.over, c.under)
		}
	}
}
