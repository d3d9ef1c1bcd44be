package countertest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

// Service is one place where nodes count. At first nothing is counted there, and no other test
// counts there ever.
type Service struct {
	Node  func() counters.Set // connects one more node; whoever opened the Service closes it
	Clock Clock               // nil: nobody can move the time

	// how much too late an event may leave its window, and how wrong a time may be that is told; 0: not a nanosecond
	Grain     time.Duration
	Full      int           // so many addresses, accounts or clients fill every table; 0: what happens then is not tried
	Abandoned time.Duration // after which an attempt counts no more that its node never ended; 0: only with its process
	Events    int           // of each model of AMillion; 0: a million
}

// Clock is the time that a Service counts by.
type Clock interface {
	Now() time.Time
	Advance(d time.Duration)
}

// Run holds a Set to the contract. Each call of open returns an empty Service.
func Run(t *testing.T, open func(t testing.TB) Service) { run(t, plainly, open, contract(false)) }

// RunInBubble is Run for a Set of this process. Each Service is opened and asked in a bubble of
// testing/synctest, and its Clock may be nil: it is the time of the bubble.
func RunInBubble(t *testing.T, open func(t testing.TB) Service) {
	run(t, inBubble, open, contract(false))
}

// AMillion tries what Run tries in small, by a million events and in tables of any size.
func AMillion(t *testing.T, open func(t testing.TB) Service) { run(t, plainly, open, contract(true)) }

// AMillionInBubble is AMillion for a Set of this process.
func AMillionInBubble(t *testing.T, open func(t testing.TB) Service) {
	run(t, inBubble, open, contract(true))
}

// run tries the promises that such a Service can be tried by. The others are named in the log: that one
// cannot be tried says something of the Service and nothing of the machine.
func run(t *testing.T, in surroundings, open func(t testing.TB) Service, chapters []chapter) {
	var s Service
	in(t, func(t *testing.T, bubble Clock) { s = opened(t, bubble, open) })
	for _, c := range chapters {
		t.Run(c.about, func(t *testing.T) {
			for _, p := range c.promises {
				if why := p.lacks(s); why != "" {
					t.Logf("not tried: %s: %s", p.name, why)
					continue
				}
				t.Run(p.name, func(t *testing.T) {
					t.Parallel()
					in(t, func(t *testing.T, bubble Clock) { p.hold(t, bubble, open) })
				})
			}
		})
	}
}

// opened returns a Service with its Clock.
func opened(t testing.TB, bubble Clock, open func(t testing.TB) Service) Service {
	s := open(t)
	if s.Clock == nil {
		s.Clock = bubble
	}
	return s
}

// surroundings runs a test where its time passes.
type surroundings func(t *testing.T, test func(t *testing.T, bubble Clock))

func plainly(t *testing.T, test func(t *testing.T, bubble Clock)) { test(t, nil) }

func inBubble(t *testing.T, test func(t *testing.T, bubble Clock)) {
	synctest.Test(t, func(t *testing.T) { test(t, bubbleClock{}) })
}

// bubbleClock is the time of the bubble that it is asked in.
type bubbleClock struct{}

func (bubbleClock) Now() time.Time          { return time.Now() }
func (bubbleClock) Advance(d time.Duration) { time.Sleep(d) }

// contract returns the promises, or those that are tried at length.
func contract(long bool) []chapter {
	sized := []chapter{{"full tables", floods(long)}, {"model", models(long)}}
	if long {
		return sized
	}
	return append([]chapter{
		{"rates", rates()},
		{"limits", changingLimits()},
		{"addresses", addresses()},
		{"undo", undoing()},
		{"networks", networks()},
		{"locks", locking()},
		{"in flight", inFlight()},
		{"delays", delaying()},
		{"counts", counting()},
		{"texts", texts()},
		{"apart", apart()},
		{"contexts", contexts()},
		{"many callers", crowds()},
		{"real time", realTime()},
	}, sized...)
}

// chapter is the promises about one thing.
type chapter struct {
	about    string
	promises []promise
}

// promise is a sentence of the contract, and the test of it.
type promise struct {
	name  string
	needs need
	test  func(p *place)
}

// need names something that a promise cannot be tried without.
type need int

const (
	nothing   need = iota
	clock          // waits for minutes
	full           // fills tables of some size, and waits
	anyFull        // fills tables of any size, and waits
	abandoned      // nodes that go away and leave attempts behind
	real           // a clock that nobody can move
)

// lacks says why a Service cannot be tried by a promise, "" if it can.
func (p promise) lacks(s Service) string {
	switch {
	case (p.needs == full || p.needs == anyFull) && s.Full == 0:
		return "nothing says how its tables are filled (Service.Full)"
	case p.needs == full && s.Full > fewFull:
		return "fills large tables: AMillion does"
	case p.needs == abandoned && s.Abandoned == 0:
		return "attempts end with their process (Service.Abandoned)"
	case p.needs == real && s.Clock != nil:
		return "its clock can be moved, so the other promises are tried"
	case p.needs != nothing && p.needs != real && s.Clock == nil:
		return "waits for minutes, and its clock cannot be moved (Service.Clock)"
	}
	return ""
}

// fewFull bounds the entries that are few.
const fewFull = 20_000

func (p promise) hold(t testing.TB, bubble Clock, open func(t testing.TB) Service) {
	at := &place{TB: t, open: func() Service { return opened(t, bubble, open) }}
	at.fresh()
	p.test(at)
}
