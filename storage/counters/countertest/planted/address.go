package planted

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/counters/countertest"
)

// holder counts addresses and the networks around them as one would write it down, but for what is wrong
// with it.
type holder struct {
	mu     sync.Mutex
	all    map[string][]held
	serial int

	rungs   func(from netip.Addr) []rung
	keep    int                                    // how many of the rungs keep what a wider one refuses
	blind   bool                                   // what an address is refused counts for its networks
	horizon func(all []held, now time.Time) []held // drops what has left a network; nil: as of an address
	speaks  func(v *counters.Verdict, factor int)  // of a network that refuses
	undo    func(h *holder, r request)
}

// held is one request that a rung counts.
type held struct {
	at     time.Time
	serial int
}

// rung is one that counts a request: the client, or a network around it.
type rung struct {
	key    string
	factor int
}

// request is one that was answered.
type request struct {
	ctx    context.Context
	ok     bool
	keys   []string
	serial int
}

// ladder returns the rungs as they should be.
func ladder(from netip.Addr) []rung {
	from = from.Unmap().WithZone("")
	if !from.Is6() {
		return []rung{{from.String(), 1}}
	}
	return []rung{{prefix(from, 64), 1}, {prefix(from, 56), 4}, {prefix(from, 48), 16}}
}

func prefix(from netip.Addr, bits int) string {
	p, _ := from.Prefix(bits)
	return p.String()
}

// holding puts a holder in the place of the right count of addresses.
func holding(spoil func(h *holder)) plant {
	return func(countertest.Clock) func(*parts) {
		h := &holder{all: map[string][]held{}, rungs: ladder, undo: (*holder).back}
		spoil(h)
		return func(p *parts) { p.hold = h.hold }
	}
}

func (h *holder) hold(ctx context.Context, from netip.Addr, per int, now time.Time) (counters.Verdict, func()) {
	if per <= 0 {
		return (&log{}).take(per, now), func() {}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.serial++
	r := request{ctx: ctx, ok: true, serial: h.serial}
	var v counters.Verdict
	for i, g := range h.rungs(from) {
		w := h.take(g, i, per, now, r.serial)
		if i == 0 {
			v = w
		}
		if w.OK {
			r.keys = append(r.keys, g.key)
			continue
		}
		if i == 0 && h.blind {
			for j, wider := range h.rungs(from)[1:] {
				h.take(wider, j+1, per, now, r.serial)
			}
		}
		h.drop(r.keys[min(h.keep, len(r.keys)):], r.serial)
		if v = (counters.Verdict{Limit: per, Reset: w.Reset, RetryAfter: w.Reset}); i > 0 && h.speaks != nil {
			h.speaks(&v, g.factor)
		}
		r.ok = false
		break
	}
	return v, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.undo(h, r)
	}
}

// take counts a request in one rung, if there is room.
func (h *holder) take(g rung, i, per int, now time.Time, serial int) counters.Verdict {
	leave := func(all []held, now time.Time) []held {
		return slices.DeleteFunc(all, func(e held) bool { return !e.at.After(now.Add(-window)) })
	}
	if i > 0 && h.horizon != nil {
		leave = h.horizon
	}
	events := leave(h.all[g.key], now)
	h.all[g.key] = events
	if n := len(events) - per*g.factor; n >= 0 {
		return counters.Verdict{Reset: events[n].at.Add(window).Sub(now)}
	}
	h.all[g.key] = append(events, held{now, serial})
	return counters.Verdict{OK: true, Limit: per, Remaining: per*g.factor - len(events) - 1,
		Reset: h.all[g.key][0].at.Add(window).Sub(now)}
}

// back takes a request back as it should be taken back.
func (h *holder) back(r request) {
	if r.ok {
		h.drop(r.keys, r.serial)
	}
}

func (h *holder) drop(keys []string, serial int) {
	for _, key := range keys {
		h.all[key] = slices.DeleteFunc(h.all[key], func(e held) bool { return e.serial == serial })
	}
}

// addressBugs take addresses for one client's that are not, or the other way round.
func addressBugs() []bug {
	const client = "addresses/an IPv4 address is a client"
	clients := func(key func(from netip.Addr) string) plant {
		return holding(func(h *holder) {
			h.rungs = func(from netip.Addr) []rung {
				all := ladder(from)
				all[0].key = key(from)
				return all
			}
		})
	}
	bits := func(bits int) plant {
		return clients(func(from netip.Addr) string {
			if from = from.Unmap().WithZone(""); from.Is6() {
				return prefix(from, bits) + " client"
			}
			return from.String()
		})
	}
	return []bug{
		{"a client of IPv6 is one address", client, bits(128)},
		{"a client of IPv6 is a /48", client, bits(48)},
		{"a client of IPv6 is a /63", client, bits(63)},
		{"an IPv4 address in IPv6 is another client", client, holding(func(h *holder) {
			h.rungs = func(from netip.Addr) []rung {
				if from.Is4In6() {
					return []rung{{from.String(), 1}}
				}
				return ladder(from)
			}
		})},
		{"zones tell clients apart", client, clients(func(from netip.Addr) string {
			if from = from.Unmap(); from.Is6() {
				return prefix(from.WithZone(""), 64) + from.Zone() + " client"
			}
			return from.String()
		})},
		{"addresses are counted by the bytes they have, whatever their kind", client, clients(func(from netip.Addr) string {
			b := from.Unmap().AsSlice()
			return string(b[:min(4, len(b))])
		})},
		{"a client of IPv4 is a /24", "addresses/each address", clients(func(from netip.Addr) string {
			if from = from.Unmap(); from.Is4() {
				return prefix(from, 24)
			}
			return prefix(from.WithZone(""), 64)
		})},
		{"an address without a limit is counted", "addresses/without a limit", each(func(p *parts) {
			hold := p.hold
			p.hold = func(ctx context.Context, from netip.Addr, per int, now time.Time) (counters.Verdict, func()) {
				if per == counters.Unlimited {
					hold(ctx, from, 3, now)
				}
				return hold(ctx, from, per, now)
			}
		})},
		{"windows of addresses begin with their first request", "addresses/no minute of an address", holding(func(h *holder) {
			rungs := h.rungs
			first := map[string]time.Time{}
			h.rungs = func(from netip.Addr) []rung {
				g := rungs(from)
				if events := h.all[g[0].key]; len(events) > 0 {
					if first[g[0].key].IsZero() {
						first[g[0].key] = events[0].at
					}
					if last := events[len(events)-1].at; last.Sub(first[g[0].key]) >= 20*time.Second {
						h.all[g[0].key] = nil
					}
				}
				return g
			}
		})},
	}
}
