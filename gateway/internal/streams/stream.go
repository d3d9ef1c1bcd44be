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

// Token says by what a request is here, and for how long.
type Token struct {
	Bearer    string
	Elsewhere bool // it is for one of the other resources
	AppID     string
	ExpiresAt time.Time
}

// Stream is a request that is on its way, and its context. The zero Stream is not watched.
type Stream struct {
	life
	token Token
	began time.Time
	w     http.ResponseWriter
	shard *shard // nil: it is not watched

	ended, broken atomic.Bool
	late          atomic.Bool // ChargeLate has charged it

	// guarded by the shard
	before, after *Stream // in the list of the shard
	listed        bool
	left          bool // its handler has returned
	endedAt       time.Time
	taken         []net.Conn // connections that it has taken over
	charge        func() error
	chargeAt      time.Time
}

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
	s.charge, s.chargeAt = charge, time.Now().Add(after)
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
	s.taken = append(s.taken, c)
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
	s.taken = slices.DeleteFunc(s.taken, func(t net.Conn) bool { return t == c })
	if s.left && len(s.taken) == 0 {
		s.shard.remove(s)
	}
}

// Leave says that the handler has returned. Connections that it has taken over are watched on.
func (s *Stream) Leave() {
	s.shard.mu.Lock()
	s.left = true
	if len(s.taken) == 0 {
		s.shard.remove(s)
	}
	s.shard.mu.Unlock()
	s.life.over()
}

// due returns what charges it now, nil if it is not the time.
func (s *Stream) due(now time.Time) (charge func() error) {
	s.shard.mu.Lock()
	defer s.shard.mu.Unlock()
	if s.charge != nil && !now.Before(s.chargeAt) && s.listed {
		charge, s.charge = s.charge, nil
	}
	return charge
}

// end ends the context, or breaks off what has not ended since. It reports whether that is the first of it.
func (s *Stream) end(now time.Time) (first bool) {
	s.shard.mu.Lock()
	conns := s.step(now)
	first = s.endedAt.Equal(now)
	s.shard.mu.Unlock()
	for _, c := range conns { // which may take its time
		c.Close()
	}
	return first
}

// step does what end does, and returns the connections to close. The shard is locked, so that the request is not
// over: its connection may serve another one then.
func (s *Stream) step(now time.Time) []net.Conn {
	switch {
	case !s.listed:
	case s.endedAt.IsZero():
		s.endedAt = now
		s.ended.Store(true)
		s.life.end()
	case now.Sub(s.endedAt) >= grace:
		s.broken.Store(true)
		if !s.left && len(s.taken) == 0 {
			writer := http.NewResponseController(s.w)
			writer.SetReadDeadline(past) // where it cannot be done, the context has ended all the same
			writer.SetWriteDeadline(past)
		}
		return slices.Clone(s.taken)
	}
	return nil
}

var past = time.Unix(1, 0)

var _ context.Context = (*Stream)(nil)
