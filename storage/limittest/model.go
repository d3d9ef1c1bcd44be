package limittest

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/keystile/keystile/gateway/limits"
)

// list is a rate as one would write it down: every event that was admitted, in a list.
type list struct {
	events []stamp
	late   time.Duration // by which an event may leave its window too late
}

// stamp is when an event was admitted, and which one it was.
type stamp struct {
	at     time.Time
	serial int
}

// live counts the events that are in the window that ends now, and those that may be.
func (l *list) live(now time.Time) (surely, perhaps int) {
	l.events = slices.DeleteFunc(l.events, func(e stamp) bool { return !e.at.After(now.Add(-window - l.late)) })
	for _, e := range l.events {
		if e.at.After(now.Add(-window)) {
			surely++
		}
	}
	return surely, len(l.events)
}

func (l *list) drop(serial int) {
	l.events = slices.DeleteFunc(l.events, func(e stamp) bool { return e.serial == serial })
}

// leaves returns when fewer than limit events are left, at the earliest.
func (l *list) leaves(now time.Time, limit int) time.Duration {
	return l.events[len(l.events)-limit].at.Add(window).Sub(now)
}

// model judges the answers about one application, or about the addresses of one /48.
type model struct {
	grain    time.Duration
	own      map[string]*list // by application, or by client
	networks map[netip.Prefix]*list
	serial   int
	undo     []undoable
	events   int
	refused  int
	undone   int
}

// undoable is a request that can be taken back.
type undoable struct {
	undo   func()
	lists  []*list
	serial int
}

func newModel(grain time.Duration) *model {
	return &model{grain: grain, own: map[string]*list{}, networks: map[netip.Prefix]*list{}}
}

func of[K comparable](all map[K]*list, key K, late time.Duration) *list {
	if all[key] == nil {
		all[key] = &list{late: late}
	}
	return all[key]
}

// around returns the lists of the networks that a client counts in, and how often its limit each may do.
func (m *model) around(from netip.Addr) (lists []*list, factors []int) {
	if !from.Is6() {
		return nil, nil
	}
	for i, bits := range []int{56, 48} {
		p, _ := from.Prefix(bits)
		lists, factors = append(lists, of(m.networks, p, window/8+m.grain)), append(factors, []int{4, 16}[i])
	}
	return lists, factors
}

// judge says what is wrong with an answer, "" if nothing is, and counts what was admitted.
func (m *model) judge(own *list, around []*list, factors []int, limit int, now time.Time, v limits.Verdict) (wrong string, serial int) {
	m.events++
	switch {
	case limit == limits.Unlimited:
		return differs(v, limits.Verdict{OK: true, Limit: limits.Unlimited, Remaining: limits.Unlimited}), 0
	case limit <= 0:
		if v.OK || v.Remaining != 0 || v.RetryAfter != window || v.Reset != window {
			return fmt.Sprintf("with a limit of %d", limit), 0
		}
		return "", 0
	}
	surely, perhaps := own.live(now)
	crowded := false // whether a network may refuse
	for i, l := range around {
		s, most := l.live(now)
		if v.OK && s >= factors[i]*limit {
			return fmt.Sprintf("admitted although a network around it has %d of %d", s, factors[i]*limit), 0
		}
		crowded = crowded || most >= factors[i]*limit
	}
	switch {
	case v.OK != (v.RetryAfter == 0), !v.OK && v.Reset != v.RetryAfter, v.Limit != limit, v.Reset <= 0, v.Reset > window+window/8+m.grain+time.Millisecond:
		return "which no request is answered", 0
	case v.OK:
		return m.admit(own, around, limit, now, v, surely, perhaps)
	case v.Remaining != 0:
		return "refused, although something remains", 0
	case perhaps >= limit:
		m.refused++
		if late := v.RetryAfter - own.leaves(now, limit); !crowded && (late < 0 || late > m.grain) {
			return fmt.Sprintf("its wait is wrong by %v", late), 0
		}
		return "", 0
	case crowded:
		m.refused++
		return "", 0
	}
	return fmt.Sprintf("refused with %d of %d", perhaps, limit), 0
}

func (m *model) admit(own *list, around []*list, limit int, now time.Time, v limits.Verdict, surely, perhaps int) (wrong string, serial int) {
	if surely >= limit {
		return fmt.Sprintf("admitted with %d of %d", surely, limit), 0
	}
	if v.Remaining > limit-surely-1 || v.Remaining < max(0, limit-perhaps-1) {
		return fmt.Sprintf("Remaining is not right with %d to %d of %d", surely, perhaps, limit), 0
	}
	m.serial++
	for _, l := range append([]*list{own}, around...) {
		l.events = append(l.events, stamp{now, m.serial})
	}
	if late := v.Reset - own.events[0].at.Add(window).Sub(now); surely == perhaps && (late < 0 || late > m.grain) {
		return fmt.Sprintf("its Reset is wrong by %v", late), 0
	}
	return "", m.serial
}

func differs(got, want limits.Verdict) string {
	if got != want {
		return fmt.Sprintf("want %+v", want)
	}
	return ""
}

// moment is the time of a batch of requests, and what they may move the next one to.
type moment struct {
	now  time.Time
	edge time.Duration // a Reset that was told
}

// modelLimits are the limits of the model's requests: few events, so that edges are met often.
var modelLimits = []int{limits.Unlimited, -2, 0, 1, 1, 2, 3, 3, 5, 8, 20, 60, 60, 200}

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
