package main

import (
	"cmp"
	"math"
	"slices"
)

// bundle returns the cost of one sign-in with all that comes with it.
func (w world) bundle() cost {
	return signIn.times(w.Passwords).plus(grant).plus(refresh.times(w.Refreshes)).plus(machine.times(w.Machines)).
		plus(call.times(w.Calls)).plus(userinfo.times(w.UserInfos)).plus(revoke.times(w.Revocations)).
		plus(record.times(w.records()))
}

// records returns how many the audit trail gets with one sign-in: of the sign-in, of tokens, calls and revocations.
func (w world) records() float64 { return 1 + 1 + w.Refreshes + w.Machines + w.Calls + w.Revocations }

// requests returns how many requests are counted for one sign-in.
func (w world) requests() float64 {
	return w.Passwords + 2 + w.Refreshes + w.Machines + w.Calls + w.UserInfos
}

// wall is a resource, and how many sign-ins a second it allows.
type wall struct {
	Name  string
	Holds float64
}

// walls returns what each resource allows to a number of nodes and primaries, the smallest first.
func (w world) walls(nodes, primaries float64) []wall {
	b := w.bundle()
	primaries = min(primaries, nodes) // a node is of one primary
	each := nodes / primaries
	connected := nodes
	if most := w.Connections / w.LeastConns; each > most {
		connected = primaries * most
	}
	all := []wall{
		{"processors of the nodes", w.Busy * w.NodeCores * 1e6 / b.Node * connected},
		{"processors of the primaries", w.Busy * w.PrimaryCores * 1e6 / b.DB * primaries},
		{"log of the primaries", w.LogBytes / b.WAL * primaries},
		{"feed of revocations (one counter)", min(revocations, 1/w.Commit) / w.Revocations * primaries},
		{"audit trail, numbers (one counter)", w.trail() * primaries},
		{"Redis, all keys", redisSpread * w.RedisServers / w.requests() * primaries},
		{"Redis, the busiest application's key", redisHot / (w.requests() * w.HotShare)},
		{"notifications", w.notified(each) * primaries},
	}
	if each*w.LeastConns > w.Connections {
		all[0].Name = "connections of the primaries"
	}
	slices.SortStableFunc(all, func(a, b wall) int { return cmp.Compare(a.Holds, b.Holds) })
	return all
}

// trail returns how many sign-ins a second the audit trail of one primary takes. An append of up to a thousand
// records holds the counter for a commit; where many nodes wait for it, their appends get fuller.
func (w world) trail() float64 { return min(records, min(appends, 1/w.Commit)*1000) / w.records() }

// notified returns how many sign-ins a second the notifications of one primary allow: each revocation wakes
// every node that listens, and as many listen as ought to. Above that none does.
func (w world) notified(nodes float64) float64 {
	if nodes > w.Listeners {
		return math.Inf(1)
	}
	return w.Wakes / w.Listeners / w.Revocations
}

// holds returns how many sign-ins a second a number of nodes and primaries holds, and what ends first.
func (w world) holds(nodes, primaries float64) wall { return w.walls(nodes, primaries)[0] }

// needs returns the fewest nodes and primaries, in the proportion that suits both, that hold a rate;
// false if no number does. ignored are walls that are thought away.
func (w world) needs(rate float64, ignored ...string) (nodes, primaries float64, ok bool) {
	for primaries = 1; primaries <= 4096; primaries++ {
		enough := func(n float64) bool {
			for _, x := range w.walls(n, primaries) {
				if x.Holds < rate && !slices.Contains(ignored, x.Name) {
					return false
				}
			}
			return true
		}
		for nodes = primaries; nodes <= 1000*primaries; nodes = math.Ceil(nodes * 1.02) {
			if enough(nodes) {
				return nodes, primaries, true
			}
		}
	}
	return 0, 0, false
}
