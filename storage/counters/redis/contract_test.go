package redis

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/counters/countertest"
	"github.com/keystile/keystile/storage/counters/countertest/planted"
)

// Advance makes a watch the Clock of the contract.
func (w *watch) Advance(d time.Duration) { w.pass(d) }
func (w *watch) Now() time.Time          { return w.now() }

// service opens an empty place that counts for several nodes, with so many groups of buckets.
func service(t testing.TB, tags uint64, full int) countertest.Service {
	w, prefix := newWatch(), "test"+rand.Text()[:12]
	return countertest.Service{
		Node: func() counters.Set {
			return open(t, Options{Prefix: prefix, clock: w.now, tags: tags, Nodes: func() int { return 2 }})
		},
		Clock: w, Grain: time.Millisecond, Abandoned: 5 * time.Minute, Full: full,
	}
}

// few has places for a few thousand addresses, so that they are all taken in a test.
func few(t testing.TB) countertest.Service { return service(t, 1, 3_000) }

func TestContract(t *testing.T) {
	server(t)
	countertest.Run(t, few)
}

func TestContractByTheClockOfTheServer(t *testing.T) {
	server(t)
	countertest.Run(t, func(t testing.TB) countertest.Service {
		s, prefix := service(t, 0, 0), "test"+rand.Text()[:12]
		s.Node, s.Clock = func() counters.Set { return open(t, Options{Prefix: prefix}) }, nil
		return s
	})
}

func TestMillionEventsAreCountedAsTheModelSays(t *testing.T) {
	server(t)
	if testing.Short() {
		t.Skip("counts to a million")
	}
	countertest.AMillion(t, func(t testing.TB) countertest.Service {
		s := service(t, 64, 0)
		s.Events = 100_000
		return s
	})
}

func TestPlantedBugs(t *testing.T) {
	server(t)
	if testing.Short() {
		t.Skip("opens hundreds of connections")
	}
	planted.Run(t, few)
}
