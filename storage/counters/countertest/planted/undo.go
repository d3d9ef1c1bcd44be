package planted

import (
	"context"
	"net/netip"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

// undoBugs take back something else.
func undoBugs() []bug {
	const one, many, left = "undo/the one that is taken back", "undo/of many at one moment", "undo/one that has left"
	back := func(undo func(h *holder, r request)) plant {
		return holding(func(h *holder) { h.undo = undo })
	}
	// pop takes the i-th of each rung, from the end if i is negative.
	pop := func(h *holder, r request, i int) {
		for _, key := range r.keys {
			if all := h.all[key]; len(all) > 0 {
				at := max(0, min(i, len(all)-1))
				if i < 0 {
					at = len(all) - 1
				}
				h.all[key] = append(all[:at:at], all[at+1:]...)
			}
		}
	}
	return []bug{
		{"nothing is taken back", "undo/a request that is taken back was", back(func(*holder, request) {})},
		{"the newest is taken back", one, back(func(h *holder, r request) {
			if r.ok {
				pop(h, r, -1)
			}
		})},
		{"the oldest is taken back", one, back(func(h *holder, r request) {
			if r.ok {
				pop(h, r, 0)
			}
		})},
		{"all of one moment are taken back", many, back(func(h *holder, r request) {
			for _, key := range r.keys {
				for _, e := range h.all[key] {
					if e.serial == r.serial {
						at := e.at
						var others []held
						for _, o := range h.all[key] {
							if !o.at.Equal(at) {
								others = append(others, o)
							}
						}
						h.all[key] = others
						break
					}
				}
			}
		})},
		{"everything of the address is taken back", many, back(func(h *holder, r request) {
			for _, key := range r.keys {
				delete(h.all, key)
			}
		})},
		{"what has left is taken off what came later", left, back(func(h *holder, r request) {
			if r.ok {
				pop(h, r, 0)
			}
		})},
		{"what has left is taken off networks", left, back(func(h *holder, r request) {
			h.back(r)
			if r.ok && len(r.keys) > 1 && len(h.all[r.keys[0]]) == 0 {
				pop(h, request{keys: r.keys[1:]}, 0)
			}
		})},
		{"what was refused is taken back", "undo/to take back what was refused", each(func(p *parts) {
			hold := p.hold
			var last func()
			p.hold = func(ctx context.Context, from netip.Addr, per int, now time.Time) (counters.Verdict, func()) {
				v, undo := hold(ctx, from, per, now)
				if !v.OK && last != nil {
					return v, last
				}
				last = undo
				return v, undo
			}
		})},
		{"what was refused cannot be taken back", "undo/to take back what was refused", each(func(p *parts) {
			hold := p.hold
			p.hold = func(ctx context.Context, from netip.Addr, per int, now time.Time) (counters.Verdict, func()) {
				v, undo := hold(ctx, from, per, now)
				if !v.OK {
					undo = nil
				}
				return v, undo
			}
		})},
		{"nothing is taken back when the context has ended", "undo/it is taken back also", back(func(h *holder, r request) {
			if r.ctx.Err() == nil {
				h.back(r)
			}
		})},
		{"the networks keep what is taken back", "undo/a request that is taken back is taken off",
			back(func(h *holder, r request) {
				r.keys = r.keys[:min(1, len(r.keys))]
				h.back(r)
			})},
		{"the /48 keeps what is taken back", "undo/a request that is taken back is taken off",
			back(func(h *holder, r request) {
				r.keys = r.keys[:min(2, len(r.keys))]
				h.back(r)
			})},
		{"what is taken back goes on to be the oldest", "undo/what is taken back leaves", back(func(h *holder, r request) {
			pop(h, r, -1)
		})},
	}
}
