package countertest

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/counters"
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
//
// It keeps every event in a list, and judges answers by bounds: the events that are surely in the window, and
// those that may be because of Grain. It follows the answers, so one that is within the bounds is no difference
// later.
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
func (m *model) judge(own *list, around []*list, factors []int, limit int, now time.Time,
	v counters.Verdict) (wrong string, serial int) {
	m.events++
	switch {
	case limit == counters.Unlimited:
		return differs(v, counters.Verdict{OK: true, Limit: counters.Unlimited, Remaining: counters.Unlimited}), 0
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
	case v.OK != (v.RetryAfter == 0), !v.OK && v.Reset != v.RetryAfter, v.Limit != limit, v.Reset <= 0,
		v.Reset > window+window/8+m.grain+time.Millisecond:
		return "which no request is answered", 0
	case v.OK:
		return m.admit(own, around, limit, now, v, surely, perhaps)
	case v.Remaining != 0:
		return "refused, although something remains", 0
	case perhaps >= limit:
		m.refused++
		if late := v.RetryAfter - own.leaves(now, limit); !crowded && (late < -m.grain || late > m.grain) {
			return fmt.Sprintf("its wait is wrong by %v", late), 0
		}
		return "", 0
	case crowded:
		m.refused++
		return "", 0
	}
	return fmt.Sprintf("refused with %d of %d", perhaps, limit), 0
}

func (m *model) admit(own *list, around []*list, limit int, now time.Time, v counters.Verdict, surely,
	perhaps int) (wrong string, serial int) {
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
	if late := v.Reset - own.events[0].at.Add(window).Sub(now); surely == perhaps && (late < -m.grain || late > m.grain) {
		return fmt.Sprintf("its Reset is wrong by %v", late), 0
	}
	return "", m.serial
}

func differs(got, want counters.Verdict) string {
	if got != want {
		return fmt.Sprintf("want %+v", want)
	}
	return ""
}
