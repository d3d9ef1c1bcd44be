package streams

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"
)

// Request answers what a Watcher asks about a request that it looks at: after three seconds, in another goroutine.
type Request interface {
	Token() Token
	Began() time.Time
}

// Token says by what a request is here, and for how long.
type Token struct {
	Bearer    string
	Key       string // that its sender has proved (RFC 9449); "": none
	Elsewhere bool   // it is for one of the other resources
	AppID     string
	ExpiresAt time.Time
}

// Stream is a request that is on its way, and its context. The zero Stream is not watched. Each call has one, so it is
// small: what few need is in memory of its own.
type Stream struct {
	life
	request Request
	w       http.ResponseWriter
	shard   *shard // nil: it is not watched

	ended, broken atomic.Bool
	late          atomic.Bool // ChargeLate has charged it

	// guarded by the shard
	listed        bool
	left          bool    // its handler has returned
	before, after *Stream // in the list of the shard
	rest          *rest   // nil: there is nothing of it
}

// rest holds what few streams need.
type rest struct {
	endedAt  time.Time  // zero: it has not ended
	taken    []net.Conn // connections that the stream has taken over
	charge   func() error
	chargeAt time.Time
}

// more returns the rest of a stream. The shard is locked.
func (s *Stream) more() *rest {
	if s.rest == nil {
		s.rest = new(rest)
	}
	return s.rest
}

// takes reports whether it has taken connections over. The shard is locked.
func (s *Stream) takes() bool { return s.rest != nil && len(s.rest.taken) > 0 }

// Watched reports whether Watch was called.
func (s *Stream) Watched() bool { return s.shard != nil }

// Ended reports whether its time was over before it was.
func (s *Stream) Ended() bool { return s.ended.Load() }

// Broken reports whether nothing may be written any more.
func (s *Stream) Broken() bool { return s.broken.Load() }

// ErrBroken is the error of a Write to a stream that was broken off.
var ErrBroken = errors.New("gateway: the token of this request has ended, or its time")

// ChargeLate calls charge once the stream has gone on for so long, and ends it if that fails.
func (s *Stream) ChargeLate(after time.Duration, charge func() error) {
	if s.shard == nil {
		return
	}
	s.shard.mu.Lock()
	defer s.shard.mu.Unlock()
	r := s.more()
	r.charge, r.chargeAt = charge, time.Now().Add(after)
}

// ChargedLate reports whether it was charged after all.
func (s *Stream) ChargedLate() bool { return s.late.Load() }

// Take returns a connection that the stream has taken over: it is closed when the stream is broken off, and the
// stream goes on until it is closed.
func (s *Stream) Take(c net.Conn) net.Conn {
	if s.shard == nil {
		return c
	}
	s.shard.mu.Lock()
	defer s.shard.mu.Unlock()
	r := s.more()
	r.taken = append(r.taken, c)
	return &taken{c, s}
}

// taken is a connection that its stream has taken over.
type taken struct {
	net.Conn
	stream *Stream
}

func (t *taken) Close() error {
	t.stream.closed(t.Conn)
	return t.Conn.Close()
}

// CloseWrite says that nothing more will come, where a connection can.
func (t *taken) CloseWrite() error {
	if half, ok := t.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

func (s *Stream) closed(c net.Conn) {
	s.shard.mu.Lock()
	defer s.shard.mu.Unlock()
	r := s.more()
	r.taken = slices.DeleteFunc(r.taken, func(t net.Conn) bool { return t == c })
	if s.left && !s.takes() {
		s.shard.remove(s)
	}
}

// Leave says that the handler has returned. Connections that it has taken over are watched on.
func (s *Stream) Leave() {
	s.shard.mu.Lock()
	s.left = true
	if !s.takes() {
		s.shard.remove(s)
	}
	s.shard.mu.Unlock()
	s.life.over()
}

// due returns what charges it now, nil if it is not the time.
func (s *Stream) due(now time.Time) (charge func() error) {
	s.shard.mu.Lock()
	defer s.shard.mu.Unlock()
	if r := s.rest; r != nil && r.charge != nil && !now.Before(r.chargeAt) && s.listed {
		charge, r.charge = r.charge, nil
	}
	return charge
}

// end ends the context, or breaks off what has not ended since. It reports whether that is the first of it.
func (s *Stream) end(now time.Time) (first bool) {
	s.shard.mu.Lock()
	conns := s.step(now)
	first = s.more().endedAt.Equal(now)
	s.shard.mu.Unlock()
	for _, c := range conns { // which may take its time
		c.Close()
	}
	return first
}

// step does what end does, and returns the connections to close. The shard is locked, so that the request is not
// over: its connection may serve another one then.
func (s *Stream) step(now time.Time) []net.Conn {
	r := s.more()
	switch {
	case !s.listed:
	case r.endedAt.IsZero():
		r.endedAt = now
		s.ended.Store(true)
		s.life.end()
	case now.Sub(r.endedAt) >= grace:
		s.broken.Store(true)
		if !s.left && len(r.taken) == 0 {
			writer := http.NewResponseController(s.w)
			writer.SetReadDeadline(past) // where it cannot be done, the context has ended all the same
			writer.SetWriteDeadline(past)
		}
		return slices.Clone(r.taken)
	}
	return nil
}

var past = time.Unix(1, 0)

var _ context.Context = (*Stream)(nil)
