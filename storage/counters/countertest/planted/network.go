package planted

import (
	"net/netip"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

// networkBugs count networks in another way.
func networkBugs() []bug {
	const household, site = "networks/a /56 may do four times", "networks/a /48 may do sixteen times"
	rungs := func(change func([]rung) []rung) plant {
		return holding(func(h *holder) { h.rungs = func(from netip.Addr) []rung { return change(ladder(from)) } })
	}
	six := func(all []rung, do func([]rung) []rung) []rung {
		if len(all) < 3 {
			return all
		}
		return do(all)
	}
	return []bug{
		{"no network is counted", household, rungs(func(all []rung) []rung { return all[:1] })},
		{"a /48 is not counted", site, rungs(func(all []rung) []rung { return all[:min(2, len(all))] })},
		{"a /56 is not counted", household, rungs(func(all []rung) []rung {
			return six(all, func(all []rung) []rung { return []rung{all[0], all[2]} })
		})},
		{"a /56 may do sixteen times as much", household, rungs(func(all []rung) []rung {
			return six(all, func(all []rung) []rung { all[1].factor = 16; return all })
		})},
		{"a /56 may do as much as a client", household, rungs(func(all []rung) []rung {
			return six(all, func(all []rung) []rung { all[1].factor = 1; return all })
		})},
		{"a /48 may do four times as much", site, rungs(func(all []rung) []rung {
			return six(all, func(all []rung) []rung { all[2].factor = 4; return all })
		})},
		{"the networks of IPv4 are counted", "networks/networks of IPv4", holding(func(h *holder) {
			h.rungs = func(from netip.Addr) []rung {
				all := ladder(from)
				if len(all) == 1 && from.Unmap().Is4() {
					all = append(all, rung{prefix(from.Unmap(), 24), 4})
				}
				return all
			}
		})},
		{"what a network refuses counts for the address", "networks/what a network refuses",
			holding(func(h *holder) { h.keep = 1 })},
		{"what a /48 refuses counts for the /56", "networks/what a network refuses", holding(func(h *holder) { h.keep = 2 })},
		{"what an address is refused counts for its networks", "networks/what an address is refused",
			holding(func(h *holder) { h.blind = true })},
		{"a refusal of a network speaks of the network", "networks/a refusal of a network", holding(func(h *holder) {
			h.speaks = func(v *counters.Verdict, factor int) { v.Limit *= factor }
		})},
		{"a network tells to come back at once", "networks/a refusal of a network", holding(func(h *holder) {
			h.speaks = func(v *counters.Verdict, _ int) { v.RetryAfter = 0 }
		})},
		{"a network tells to come back in a second", "networks/a refusal of a network", holding(func(h *holder) {
			h.speaks = func(v *counters.Verdict, _ int) { v.Reset, v.RetryAfter = time.Second, time.Second }
		})},
		{"networks are counted by the minutes of the clock", "networks/no minute of a network", holding(func(h *holder) {
			h.horizon = func(all []held, now time.Time) []held {
				return slices.DeleteFunc(all,
					func(e held) bool { return e.at.UnixNano()/int64(window) < now.UnixNano()/int64(window) })
			}
		})},
		{"requests leave a network a quarter of a minute early", "networks/no minute of a network", holding(func(h *holder) {
			h.horizon = func(all []held, now time.Time) []held {
				return slices.DeleteFunc(all, func(e held) bool { return !e.at.After(now.Add(-window * 3 / 4)) })
			}
		})},
		{"requests never leave a network", "networks/a network is as at first", holding(func(h *holder) {
			h.horizon = func(all []held, _ time.Time) []held { return all }
		})},
	}
}
