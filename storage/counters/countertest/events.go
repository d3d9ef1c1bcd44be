package countertest

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

// moment is the time of a batch of requests, and what they may move the next one to.
type moment struct {
	now  time.Time
	edge time.Duration // a Reset that was told
}

// modelLimits are the limits of the model's requests: few events, so that edges are met often.
var modelLimits = []int{counters.Unlimited, -2, 0, 1, 1, 2, 3, 3, 5, 8, 20, 60, 60, 200}

// models are the promises that a model judges, event by event.
func models(long bool) []promise {
	what := "thousands of"
	if long {
		what = "a million"
	}
	return []promise{
		{what + " requests of applications are answered as the model says", clock, func(p *place) {
			p.events(long, func(m *model, r *rand.Rand, worker int, at *moment) {
				id := fmt.Sprint("app ", worker, " ", min(r.IntN(40), r.IntN(40)))
				limit := modelLimits[r.IntN(len(modelLimits))]
				v := p.limiter.Allow(p.Context(), id, limit, at.now)
				if wrong, _ := m.judge(of(m.own, id, p.Grain), nil, nil, limit, at.now, v); wrong != "" {
					p.Errorf("Allow(%q, %d) = %+v: %s", id, limit, v, wrong)
				}
				at.edge = v.Reset
			})
		}},
		{what + " requests of addresses, some of them taken back, are answered as the model says", clock, func(p *place) {
			p.events(long, func(m *model, r *rand.Rand, worker int, at *moment) {
				if n := len(m.undo); n > 0 && r.IntN(5) == 0 {
					m.takeBack(r.IntN(n))
					return
				}
				from := modelAddress(r, worker)
				limit := modelLimits[r.IntN(len(modelLimits))]
				v, undo := p.limiter.HoldAddress(p.Context(), from, limit, at.now)
				around, factors := m.around(from)
				own := of(m.own, from.String(), p.Grain)
				wrong, serial := m.judge(own, around, factors, limit, at.now, v)
				if wrong != "" {
					p.Errorf("HoldAddress(%v, %d) = %+v: %s", from, limit, v, wrong)
				}
				m.keep(undoable{undo, append(around, own), serial}, r)
				at.edge = v.Reset
			})
		}},
	}
}

// modelAddress draws an address of the worker's own networks: of IPv4, or a /64 of a /48.
func modelAddress(r *rand.Rand, worker int) netip.Addr {
	if r.IntN(3) == 0 {
		return netip.AddrFrom4([4]byte{192, 0, byte(worker), byte(min(r.IntN(30), r.IntN(30)))})
	}
	b := inSite(r.IntN(5), min(r.IntN(6), r.IntN(6))).As16()
	b[5] = byte(worker)
	return netip.AddrFrom16(b)
}

// keep remembers some hundred requests that can be taken back.
func (m *model) keep(u undoable, r *rand.Rand) {
	if len(m.undo) < 300 {
		m.undo = append(m.undo, u)
		return
	}
	m.undo[r.IntN(len(m.undo))] = u
}

func (m *model) takeBack(i int) {
	u := m.undo[i]
	u.undo()
	for _, l := range u.lists {
		l.drop(u.serial)
	}
	m.undo = slices.Delete(m.undo, i, i+1)
	m.undone++
}

// modelWorkers ask at the same time, each about what is its own, so that a service that has to be asked over a
// network is asked by several at once. Time passes between their batches.
const modelWorkers = 8

// events runs the events of a model.
func (p *place) events(long bool, one func(m *model, r *rand.Rand, worker int, at *moment)) {
	count := p.Service.Events
	switch {
	case !long:
		count = 20_000
	case count == 0:
		count = 1_000_000
	}
	const seed, batch = 25, 32
	random := rand.New(rand.NewPCG(seed, 0))
	var all [modelWorkers]*model
	var randoms [modelWorkers]*rand.Rand
	for w := range all {
		all[w], randoms[w] = newModel(p.Grain), rand.New(rand.NewPCG(seed, uint64(1+w)))
	}
	var edge time.Duration
	for done := 0; done < count && !p.Failed(); done += batch * modelWorkers {
		p.wait(step(random, edge))
		var group sync.WaitGroup
		var moments [modelWorkers]moment
		for w := range all {
			group.Go(func() {
				moments[w].now = p.now()
				for range batch {
					one(all[w], randoms[w], w, &moments[w])
				}
			})
		}
		group.Wait()
		edge = moments[random.IntN(modelWorkers)].edge
	}
	sum := model{}
	for _, m := range all {
		sum.events, sum.refused, sum.undone = sum.events+m.events, sum.refused+m.refused, sum.undone+m.undone
	}
	p.Logf("seed %d, %d events, %d refused, %d taken back", seed, sum.events, sum.refused, sum.undone)
	if sum.refused < sum.events/100 {
		p.Errorf("%d of %d are refused: the events do not try what they should", sum.refused, sum.events)
	}
}

// step returns the next move of the time: mostly a little, sometimes to the edge of what was told, seldom far.
func step(r *rand.Rand, edge time.Duration) time.Duration {
	var d time.Duration
	switch n := r.IntN(100); {
	case n == 0:
		d = time.Duration(r.Int64N(int64(2 * window)))
	case n < 15 && edge > 0:
		return max(0, edge.Round(time.Millisecond)-time.Duration(r.IntN(2))*time.Millisecond)
	case n < 40:
		return 0
	default:
		d = time.Duration(r.Int64N(int64(window / 10)))
	}
	return d.Round(time.Millisecond)
}
