package countertest

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

// Exact asks several nodes of one Service at once, by real time, and ends with an error if more was admitted
// than a limit allows, or less. Some of the keys are hot, most are cold; windows are a minute, and a second for
// counts, so that events leave while others come.
//
// No clock of a server is believed: an admitted request was counted at some time between the moments before
// and after its call, and what cannot be right wherever between them it was is wrong. So nodes may
// be asked over networks, and answer late, and nothing is found that is not there.
func Exact(t testing.TB, nodes []counters.Set, requests int, grain time.Duration) {
	t.Helper()
	start := time.Now()
	sum := ask(nodes, requests, grain)
	t.Logf("%d requests over %d nodes in %v: %v", sum.requests, len(nodes), time.Since(start).Round(time.Millisecond), sum)
	if said := sum.wrong(); said != "" {
		t.Error(said)
	}
}

// Inexact returns what Exact would say is wrong, "" if nothing is.
func Inexact(nodes []counters.Set, requests int, grain time.Duration) string {
	return ask(nodes, requests, grain).wrong()
}

// ask makes the requests and judges the answers.
func ask(nodes []counters.Set, requests int, grain time.Duration) sums {
	const callers = 16
	logs := make([][]asking, len(nodes)*callers)
	var group sync.WaitGroup
	start := time.Now()
	for n, node := range nodes {
		limiter, counter := node.Limiter(), node.Counter()
		for c := range callers {
			i := n*callers + c
			group.Go(func() {
				r := rand.New(rand.NewPCG(41, uint64(i)))
				for range (requests + len(logs) - 1) / len(logs) {
					a := draw(r)
					a.before = time.Since(start)
					switch a.kind {
					case anApp:
						v := limiter.Allow(context.Background(), fmt.Sprint("app ", a.key), a.limit, time.Now())
						a.admitted, a.wait = v.OK, v.RetryAfter
					case anAddress:
						v, _ := limiter.HoldAddress(context.Background(), netip.AddrFrom4([4]byte{10, 0, byte(a.key >> 8), byte(a.key)}),
							a.limit, time.Now())
						a.admitted, a.wait = v.OK, v.RetryAfter
					case aCount:
						a.wait = counter.Add(context.Background(), fmt.Sprint("count ", a.key), client, a.limit, a.window)
						a.admitted = a.wait == 0
					}
					a.after = time.Since(start)
					logs[i] = append(logs[i], a)
				}
			})
		}
	}
	group.Wait()
	return judge(slices.Concat(logs...), grain)
}

// asking is one request and its answer.
type asking struct {
	kind          kind
	key           int
	limit         int
	window        time.Duration
	before, after time.Duration // its call, since the start
	admitted      bool
	wait          time.Duration
}

// kind names what is asked.
type kind int

const (
	anApp kind = iota
	anAddress
	aCount
)

// draw returns a request: every second is for one of a few hot keys.
func draw(r *rand.Rand) asking {
	a := asking{kind: kind(r.IntN(3)), window: window}
	hot := r.IntN(2) == 0
	switch {
	case a.kind == aCount:
		a.key, a.limit, a.window = r.IntN(16), 200, time.Second
	case hot:
		a.key, a.limit = r.IntN(8), 4_000
	default:
		a.key, a.limit = 8+r.IntN(20_000), 3
	}
	return a
}

// sums hold what was found.
type sums struct{ requests, admitted, over, under int }

func (s sums) String() string {
	return fmt.Sprintf("%d admitted, %d over-admissions, %d refused below the limit", s.admitted, s.over, s.under)
}

// wrong says what is not exact, "" if everything is.
func (s sums) wrong() string {
	switch {
	case s.over > 0 || s.under > 0:
		return s.String()
	case s.admitted < s.requests/100 || s.admitted > s.requests*99/100:
		return fmt.Sprintf("%d of %d are admitted: the requests do not try what they should", s.admitted, s.requests)
	}
	return ""
}

// judge looks at each key by itself.
func judge(all []asking, grain time.Duration) (s sums) {
	type id struct {
		kind kind
		key  int
	}
	keys := map[id][]asking{}
	for _, a := range all {
		keys[id{a.kind, a.key}] = append(keys[id{a.kind, a.key}], a)
	}
	for _, asked := range keys {
		s.key(asked, grain)
	}
	return s
}

func (s *sums) key(asked []asking, grain time.Duration) {
	var admitted []asking
	for _, a := range asked {
		if a.admitted {
			admitted = append(admitted, a)
		}
	}
	s.requests, s.admitted = s.requests+len(asked), s.admitted+len(admitted)
	limit, window := asked[0].limit, asked[0].window
	befores, afters := make([]time.Duration, len(admitted)), make([]time.Duration, len(admitted))
	for i, a := range admitted {
		befores[i], afters[i] = a.before, a.after
	}
	slices.Sort(befores)
	slices.Sort(afters)
	slices.SortFunc(admitted, func(a, b asking) int { return cmp.Compare(a.before, b.before) })
	for i, first := range admitted {
		if within(admitted[i:], first.before+window) > limit { // all of them were counted between these two moments
			s.over++
		}
	}
	for _, a := range asked {
		most := below(befores, a.after) - below(afters, a.before-window-grain)
		if !a.admitted && most < limit {
			s.under++
		}
	}
}

// within counts those of a list, ordered by their beginnings, whose calls ended before a moment.
func within(list []asking, end time.Duration) (n int) {
	for _, a := range list {
		if a.before >= end {
			break
		}
		if a.after < end {
			n++
		}
	}
	return n
}

// below counts the times of a sorted list that are before one.
func below(sorted []time.Duration, than time.Duration) int {
	n, _ := slices.BinarySearch(sorted, than)
	return n
}
