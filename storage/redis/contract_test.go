package redis

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/limittest"
	"github.com/keystile/keystile/storage/limittest/planted"
)

// Now and Advance make a watch a limittest.Clock.
func (w *watch) Now() time.Time          { return w.now() }
func (w *watch) Advance(d time.Duration) { w.pass(d) }

// place returns where the nodes of one test count, by a clock that stands still unless it is moved.
func place(t testing.TB) limittest.Service {
	clock, prefix := newWatch(), "test"+strings.ToLower(rand.Text()[:12])
	return limittest.Service{
		Node: func() limittest.Counters {
			return open(t, Options{Prefix: prefix, clock: clock.now, Nodes: func() int { return 2 }})
		},
		Clock: clock, Grain: time.Millisecond, Abandoned: placeLives, Events: 200_000,
	}
}

func TestContract(t *testing.T) { limittest.Run(t, place) }

func TestContractByTheClockOfTheServer(t *testing.T) {
	limittest.Run(t, func(t testing.TB) limittest.Service {
		s := place(t)
		prefix := "test" + strings.ToLower(rand.Text()[:12])
		s.Node, s.Clock = func() limittest.Counters { return open(t, Options{Prefix: prefix}) }, nil
		return s
	})
}

func TestAMillionEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("counts to a million")
	}
	limittest.AMillion(t, place)
}

func TestPlantedBugs(t *testing.T) {
	if testing.Short() {
		t.Skip("opens hundreds of connections")
	}
	planted.Run(t, place)
}
