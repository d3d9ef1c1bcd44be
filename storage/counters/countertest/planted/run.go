package planted

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/counters/countertest"
)

// Run plants each bug of the list in Services that open returns, empty ones, and holds them to the
// promises that should break. It fails if one does not, or if a promise breaks without a bug: then the
// Counters are wrong, not the list.
func Run(t *testing.T, open func(t testing.TB) countertest.Service) { run(t, false, open) }

// RunInBubble is Run for Counters of this process, see countertest.RunInBubble.
func RunInBubble(t *testing.T, open func(t testing.TB) countertest.Service) { run(t, true, open) }

func run(t *testing.T, bubbles bool, open func(t testing.TB) countertest.Service) {
	bugs := allBugs()
	t.Run("no bug", func(t *testing.T) {
		for _, path := range paths(bugs) {
			t.Run(path, func(t *testing.T) {
				t.Parallel()
				if said := countertest.Broken(t, path, bubbles, open); said != "" {
					t.Errorf("the Counters fail without a bug: %s", said)
				}
			})
		}
	})
	var tried, caught atomic.Int32
	t.Run("planted", func(t *testing.T) {
		for _, b := range bugs {
			t.Run(b.name, func(t *testing.T) {
				t.Parallel()
				said := b.seen(t, bubbles, open)
				if tried.Add(1); said == "" {
					t.Errorf("not caught by %q", b.caught)
					return
				}
				t.Log(said)
				caught.Add(1)
			})
		}
	})
	t.Logf("%d planted bugs, %d caught", tried.Load(), caught.Load())
}

// paths returns the promises that should see the bugs, each once.
func paths(bugs []bug) []string {
	var all []string
	for _, b := range bugs {
		all = append(all, b.caught)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// bug is one broken promise of Counters that keep all others.
type bug struct {
	name   string
	caught string // chapter and first words of the promise that sees it
	plant  plant
}

// plant is called once for each Service, and what it returns for each of its nodes: it says what is wrong
// there.
type plant func(clock countertest.Clock) func(p *parts)

// seen returns what the contract says of the bug. A race is lost sooner or later; all others are seen at
// once.
func (b bug) seen(t *testing.T, bubbles bool, open func(t testing.TB) countertest.Service) (said string) {
	for range 12 {
		if said = countertest.Broken(t, b.caught, bubbles,
			func(t testing.TB) countertest.Service { return b.in(open(t)) }); said != "" {
			break
		}
	}
	return said
}

// in plants the bug in every node of a Service.
func (b bug) in(s countertest.Service) countertest.Service {
	node, spoil := s.Node, b.plant(s.Clock)
	s.Node = func() counters.Set {
		p := apart(node())
		spoil(p)
		return p
	}
	return s
}

func allBugs() []bug {
	return slices.Concat(rateBugs(), verdictBugs(), nameBugs(), addressBugs(), networkBugs(), undoBugs(), lockBugs(),
		clearBugs(), delayBugs(), countBugs(), crowdBugs(), fullBugs())
}
