package mcpcall

import (
	"container/list"
	"context"
	"crypto/sha256"
	"slices"
	"sync"
	"sync/atomic"
)

// link holds the negotiated revision and session of an upstream. It is immutable and replaced as
// a whole.
type link struct {
	version string // of MCP
	session string // of the legacy eras; "": the upstream keeps none
}

func (l *link) era() Era {
	if l.version == modern {
		return Modern
	}
	return Legacy
}

// peer holds the cached state of an upstream.
type peer struct {
	target *target
	link   atomic.Pointer[link] // nil: not known yet
	mirror atomic.Pointer[mirror]
	gate   chan struct{} // holds one while a call finds out the link

	uses int // guarded by peers.mu: calls under way
}

// forget drops a link, unless it was replaced meanwhile.
func (c *Client) forget(p *peer, l *link) {
	if p.link.CompareAndSwap(l, nil) && l.session != "" {
		c.background.try(func(ctx context.Context) { c.endSession(ctx, p.target, l) })
	}
}

// peers caches the upstreams that were used most recently.
type peers struct {
	max int

	mu    sync.Mutex
	order *list.List // of *peer, the one used last in front
	known map[[sha256.Size]byte]*list.Element
}

func newPeers(max int) *peers {
	return &peers{max: max, order: list.New(), known: map[[sha256.Size]byte]*list.Element{}}
}

// hold returns the peer of a target for one call, and the unused peers that were evicted for it.
func (ps *peers) hold(t *target) (p *peer, gone []*peer) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	e, known := ps.known[t.key]
	if !known {
		e = ps.order.PushFront(&peer{target: t, gate: make(chan struct{}, 1)})
		ps.known[t.key] = e
	}
	ps.order.MoveToFront(e)
	p = e.Value.(*peer)
	p.uses++
	for e := ps.order.Back(); e != nil && ps.order.Len() > ps.max; {
		old, next := e.Value.(*peer), e.Prev()
		if old.uses == 0 {
			ps.order.Remove(e)
			delete(ps.known, old.target.key)
			gone = append(gone, old)
		}
		e = next
	}
	return p, gone
}

func (ps *peers) release(p *peer) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p.uses--
}

func (ps *peers) all() (out []*peer) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for e := ps.order.Front(); e != nil; e = e.Next() {
		out = append(out, e.Value.(*peer))
	}
	return slices.Clip(out)
}

// peer returns the cached state of an upstream. The caller must release it.
func (c *Client) peer(t *target) *peer {
	p, gone := c.peers.hold(t)
	for _, old := range gone {
		if l := old.link.Load(); l != nil {
			c.forget(old, l)
		}
	}
	return p
}
