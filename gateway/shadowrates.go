package gateway

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage/event"
)

// Shadow names the rates that are counted and reported, and refuse nobody: so an operator sees whom a
// limit would meet before it does. Its zero value is none. It is about rates alone: locks and
// delays of sign-ins, and the limits of codes and secrets, keep intruders out and are not among them.
//
// A request over such a rate does not count against it, so the reports show what would be refused. They are
// summed on the audit trail by application or network, like the acts of strangers: clients that no rate stops
// must not fill it.
type Shadow struct {
	Addresses bool     // that of addresses, with those of sessions and users that count in their place
	Tiers     []string // those of applications that are on one of these tiers
}

// shadowAddress names the rate of addresses beside tiers.
const shadowAddress = "address"

// shadows counts the requests that were let through over a rate, by the tier whose rate it is, or
// shadowAddress. Limits that are not in it refuse requests. It never changes.
type shadows map[string]*atomic.Uint64

func newShadows(s Shadow, plans []billing.Plan) (shadows, error) {
	all := shadows{}
	if s.Addresses {
		all[shadowAddress] = new(atomic.Uint64)
	}
	for _, tier := range s.Tiers {
		if !slices.ContainsFunc(plans, func(p billing.Plan) bool { return p.Tier == tier }) {
			return nil, fmt.Errorf("Config.Shadow: %q is no tier", tier)
		}
		all[tier] = new(atomic.Uint64)
	}
	return all, nil
}

// counts returns what was counted; nil if every rate refuses.
func (s shadows) counts() map[string]uint64 {
	if len(s) == 0 {
		return nil
	}
	all := make(map[string]uint64, len(s))
	for name, n := range s {
		all[name] = n.Load()
	}
	return all
}

// letThrough reports whether a request that is over its rate passes all the same, counts it, and has
// it summed on the audit trail: by minute, and by application or network. Its verdict stays what it is, so
// RateLimit headers say that nothing remains.
func (g *Gateway) letThrough(e *entry, f *reply.Failure) bool {
	limit, app := shadowAddress, ""
	if f == tooManyByApp {
		limit, app = e.account.Tier, e.account.App.ID
	}
	n := g.shadows[limit]
	if n == nil {
		return false
	}
	n.Add(1)
	over := event.Event{At: e.now, Kind: event.Limit, App: app, Detail: event.DetailShadow + limit, Anonymous: true}
	if app == "" {
		over.IP = g.c.ClientIP(e.request).String()
	}
	g.c.Trail.trail.Note(over)
	return true
}
