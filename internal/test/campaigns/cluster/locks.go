package main

import (
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// guesser types wrong passwords from one address, at all nodes in turn: after ten of them the address
// is locked at each.
type guesser struct{ *actor }

const guesses = 10

func (g *guesser) step() {
	defer g.pause(20 * time.Second)
	began := time.Now()
	from := fmt.Sprintf("172.%d.%d.%d", 16+g.rand.IntN(16), g.rand.IntN(256), g.rand.IntN(256))
	at := g.node()
	for i := range guesses {
		if g.site.options.redis {
			at = (at + 1) % len(g.site.nodes)
		}
		a := g.guess(at, from)
		if a.unknown { // how many were counted nobody knows
			g.lostSight("address locked")
			return
		}
		if a.status != http.StatusUnauthorized && !g.counted(began) {
			g.violated("wrong password %d of an address is answered %v", i+1, a)
			return
		}
	}
	for i := range g.site.nodes {
		if !g.site.options.redis {
			i = at
		}
		a := g.guess(i, from)
		switch {
		case a.unknown || a.status != http.StatusTooManyRequests && g.counted(began):
			g.lostSight("address locked")
			return
		case a.status != http.StatusTooManyRequests:
			g.violated("after %d wrong passwords of an address at all nodes, node %d answers %v", guesses, i, a)
			return
		}
	}
	g.did("address locked")
}

// counted reports whether the nodes have perhaps counted by themselves, or forgotten: without a Redis
// the guesser asks one node, which has forgotten only what it counted before it was started anew.
func (g *guesser) counted(since time.Time) bool {
	if !g.site.options.redis {
		return g.any(since.Add(-settles), time.Now(), func(w wrong) bool { return w.excuses || w.aimed })
	}
	return g.alone(since, time.Now())
}

// guess is a wrong password for a name that nobody has. A crowd is waited for.
func (g *guesser) guess(node int, from string) (a answer) {
	for range 30 {
		a = g.post(node, "/oauth/signin", url.Values{"username": {g.fresh("nobody")}, "password": {"wrong"}},
			"X-Forwarded-For", from)
		if !a.crowded() {
			break
		}
		time.Sleep(time.Second)
	}
	return a
}
