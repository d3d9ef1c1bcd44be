package connections

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/internal/ticks"
)

// Config says what connections may be and do. The zero Config is the default.
type Config struct {
	PerAddress int                   // connections of one address; 0: 256
	Total      int                   // connections in all; 0: no bound
	Trusted    func(netip.Addr) bool // addresses that are many clients; nil: none

	Grace      time.Duration // for a body to arrive, and for an answer to be stuck; 0: 30 s
	BodyRate   int           // bytes a second that a body comes at, beyond Grace; 0: 64 KiB
	AnswerRate int           // bytes a second that an answer is read at; 0: 1 KiB
	Rest       time.Duration // for the rest of a body that nobody reads; 0: 5 s
	StreamIdle time.Duration // without a byte in either direction; 0: 1 h
}

// Limits enforces the limits of one listener.
type Limits struct {
	c    Config
	held table

	lingering ticks.Queue[*conn]

	refusedAddress, refusedFull     atomic.Uint64
	cutBody, cutAnswer, cutSilences atomic.Uint64
}

// New makes Limits.
func New(c Config) *Limits {
	c.PerAddress = cmp.Or(c.PerAddress, 256)
	c.Grace = cmp.Or(c.Grace, 30*time.Second)
	c.BodyRate = cmp.Or(c.BodyRate, 64<<10)
	c.AnswerRate = cmp.Or(c.AnswerRate, 1<<10)
	c.Rest = cmp.Or(c.Rest, 5*time.Second)
	c.StreamIdle = cmp.Or(c.StreamIdle, time.Hour)
	if c.Trusted == nil {
		c.Trusted = func(netip.Addr) bool { return false }
	}
	return &Limits{c: c, held: table{of: map[netip.Addr]int{}}}
}

// Stats holds the counters of Limits.
type Stats struct {
	Open           int    // connections now
	RefusedAddress uint64 // connections closed at once: their address had its number
	RefusedFull    uint64 // connections closed at once: too few were free
	CutBody        uint64 // bodies that did not arrive in time
	CutAnswer      uint64 // connections closed because their client did not read
	CutSilent      uint64 // connections closed because no byte went over them
}

// Stats returns what was counted so far.
func (l *Limits) Stats() Stats {
	return Stats{
		Open: l.held.size(), RefusedAddress: l.refusedAddress.Load(), RefusedFull: l.refusedFull.Load(),
		CutBody: l.cutBody.Load(), CutAnswer: l.cutAnswer.Load(), CutSilent: l.cutSilences.Load(),
	}
}

// Guard puts the limits on a server, which must not serve yet, and returns the listener to
// serve on. The server's handler, ConnContext and ConnState are wrapped.
func (l *Limits) Guard(s *http.Server, at net.Listener) net.Listener {
	next := s.Handler
	if next == nil {
		next = http.DefaultServeMux
	}
	s.Handler = handler{next}
	context0, state0 := s.ConnContext, s.ConnState
	s.ConnContext = func(ctx context.Context, nc net.Conn) context.Context {
		if context0 != nil {
			ctx = context0(ctx, nc)
		}
		if c := within(nc); c != nil {
			ctx = context.WithValue(ctx, key{}, c)
		}
		return ctx
	}
	s.ConnState = func(nc net.Conn, state http.ConnState) {
		if state == http.StateIdle || state == http.StateHijacked {
			if c := within(nc); c != nil {
				c.requestOver(state == http.StateHijacked)
			}
		}
		if state0 != nil {
			state0(nc, state)
		}
	}
	return &listener{at, l}
}

type key struct{}

// within returns the connection that another one is around, as tls.Conn is, or nil.
func within(nc net.Conn) *conn {
	for {
		if c, ok := nc.(*conn); ok {
			return c
		}
		around, ok := nc.(interface{ NetConn() net.Conn })
		if !ok {
			return nil
		}
		nc = around.NetConn()
	}
}
