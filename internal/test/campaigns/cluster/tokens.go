package main

import (
	"net/http"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/event"
)

// holder holds tokens: what one node gives another one takes, once.
type holder struct {
	*actor
	families []*family
}

// family is the tokens of one grant.
type family struct {
	refresh string
	doubt   bool // a redemption of it was not answered
	access  []string
}

const maxFamilies = 4

// step does one thing.
func (h *holder) step() {
	n := h.rand.IntN(maxFamilies)
	if n >= len(h.families) {
		h.open()
		return
	}
	f := h.families[n]
	switch draw := h.rand.IntN(100); {
	case draw < 40:
		h.rotate(f, h.way())
	case draw < 55:
		h.rotate(f, h.all()...)
	case draw < 70:
		h.replay()
	case draw < 78:
		h.lives(f)
	case draw < 86:
		h.remind()
	case draw < 93:
		h.endAccess(f)
	default:
		h.end(n)
	}
}

// all is every node, and the balancer.
func (h *holder) all() []int {
	ways := []int{balanced}
	for i := range h.site.nodes {
		ways = append(ways, i)
	}
	return ways
}

// open gets a code from one node and redeems it at another, or at all of them at once.
func (h *holder) open() {
	at := h.node()
	code, verifier, is := h.authorize(at, h.app, h.session())
	if is.unknown {
		h.lostSight("code issued")
		return
	}
	if code == "" {
		h.violated("authorize, with a session that was acknowledged, is answered %v, %s", is, is.header.Get("Location"))
		return
	}
	h.did("code issued")
	ways := []int{h.other(at)}
	if h.rand.IntN(4) == 0 {
		ways = h.all()
	}
	f := &family{refresh: code}
	if h.redeem("code redeemed", f, verifier, ways) {
		h.families = append(h.families, f)
	}
}

func (h *holder) rotate(f *family, ways ...int) {
	what := "refresh token rotated"
	if len(ways) > 1 {
		what = "refresh token rotated at all nodes at once"
	}
	if !h.redeem(what, f, "", ways) {
		h.drop(f)
	}
}

func (h *holder) drop(f *family) {
	for i, g := range h.families {
		if f == g {
			h.families = append(h.families[:i], h.families[i+1:]...)
			return
		}
	}
}

// redeem presents what a family is to go on with, several times at once perhaps: it works once. It
// reports whether the family goes on.
func (h *holder) redeem(what string, f *family, verifier string, ways []int) bool {
	token := f.refresh
	answers := make([]answer, len(ways))
	var sending sync.WaitGroup
	for i, way := range ways {
		sending.Go(func() { answers[i] = h.post(way, "/oauth/token", h.app.redeem(token, verifier)) })
	}
	sending.Wait()
	won, unknown := 0, 0
	for _, a := range answers {
		r := a.reply()
		switch {
		case a.unknown:
			unknown++
		case a.status == http.StatusOK && r.Refresh != "" && r.Access != "":
			won++
			f.refresh, f.access = r.Refresh, append(f.access, r.Access)
		case a.status != http.StatusBadRequest || r.Error != "invalid_grant":
			h.violated("%s: it is answered %v", what, a)
		}
	}
	switch {
	case won > 1:
		h.violated("%s: it was accepted %d times: %v", what, won, answers)
		return false
	case won == 1:
		f.doubt = false
		h.used.put(h.rand, kept{h.app, token, verifier})
		h.did(what)
		return true
	case unknown > 0 && verifier == "":
		f.doubt = true
		h.lostSight(what)
		return true
	case unknown > 0:
		h.lostSight(what)
		return false
	case !f.doubt:
		h.violated("%s: nobody has redeemed it, and it is refused: %v", what, answers)
	}
	return false // an earlier try, which was not answered, has redeemed it
}

// replay presents something that was redeemed long ago, or just now.
func (h *holder) replay() {
	k, some := h.used.draw(h.rand)
	if !some {
		return
	}
	a := h.post(h.way(), "/oauth/token", k.app.redeem(k.token, k.verifier))
	switch r := a.reply(); {
	case a.unknown:
	case r.Access != "" || a.status == http.StatusOK:
		h.violated("a code or refresh token was redeemed, and is accepted again: %v", a)
	case r.Error != "invalid_grant":
		h.violated("a replay is answered %v", a)
	default:
		h.did("replay refused")
	}
}

// lives asks whether an access token works, at any node.
func (h *holder) lives(f *family) {
	token := f.access[h.rand.IntN(len(f.access))]
	if works, unknown, a := h.works(h.way(), token); !works && !unknown {
		h.violated("an access token was handed out, and is answered %v", a)
	}
	h.did("access token accepted")
}

// works asks a node whether it accepts an access token.
func (a *actor) works(way int, token string) (works, unknown bool, is answer) {
	is = a.get(way, "/oauth/userinfo", "Authorization", "Bearer "+token)
	if !is.unknown && is.status != http.StatusOK && is.status != http.StatusUnauthorized {
		a.violated("userinfo is answered %v", is)
	}
	return is.status == http.StatusOK, is.unknown, is
}

// endAccess revokes one access token, which ends everywhere.
func (h *holder) endAccess(f *family) {
	i := h.rand.IntN(len(f.access))
	token := f.access[i]
	f.access[i] = f.access[len(f.access)-1]
	if f.access = f.access[:len(f.access)-1]; len(f.access) == 0 {
		h.drop(f)
	}
	h.revoke("access token revoked", token, token)
}

// end revokes a family by its refresh token, and looks at one of its access tokens.
func (h *holder) end(n int) {
	f := h.families[n]
	h.families = append(h.families[:n], h.families[n+1:]...)
	h.revoke("family revoked", f.refresh, f.access[len(f.access)-1])
}

// revoke has a token revoked, and watches another one end at every node. A client that is told 503 asks
// again, and trusts the answer that comes at last.
func (h *holder) revoke(what, token, watched string) {
	a := h.post(h.way(), "/oauth/revoke", h.app.form("token", token))
	for a.unknown && !h.over.Load() {
		h.lostSight(what)
		time.Sleep(again)
		a = h.post(h.way(), "/oauth/revoke", h.app.form("token", token))
	}
	switch {
	case a.unknown:
		return
	case a.status != http.StatusOK:
		h.violated("%s: it is answered %v", what, a)
		return
	}
	h.did(what)
	h.trail.owe(event.Revocation, a.id())
	h.everyNode(what, a.done, func(node int) (bool, bool, answer) {
		works, unknown, a := h.works(node, watched)
		return !works, unknown, a
	})
	h.later.put(h.rand, revoked{watched, a.done})
}

// again is the time after which somebody comes back who was told that it cannot be done now.
const again = 300 * time.Millisecond

// remind asks about an access token that was revoked some time ago.
func (h *holder) remind() {
	r, some := h.later.draw(h.rand)
	if !some {
		return
	}
	works, unknown, a := h.works(h.way(), r.token)
	if works && a.sent.Sub(r.at) > h.bound(r.at, a.sent) {
		h.violated("an access token was revoked %.2f s ago, and is accepted: %v", a.sent.Sub(r.at).Seconds(), a)
	}
	if !unknown {
		h.did("revoked token refused")
	}
}

// revoked is an access token that was revoked, and when that was answered.
type revoked struct {
	token string
	at    time.Time
}
