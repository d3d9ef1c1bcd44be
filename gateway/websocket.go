package gateway

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/internal/tunnel"
)

// closeTimeout bounds the time that one side of a WebSocket stays open after the other has closed.
const closeTimeout = 5 * time.Second

var errUnrequested = errors.New("the service switches to a protocol that nobody has asked for")

// isWebSocket reports whether a request asks to become a WebSocket (RFC 6455 4.1).
func isWebSocket(r *http.Request) bool {
	return r.Header["Upgrade"] != nil && strings.EqualFold(r.Header.Get("Upgrade"), "websocket") &&
		r.Method == http.MethodGet && r.ProtoMajor == 1 && r.ProtoMinor >= 1
}

// serveWebSocket forwards a WebSocket handshake and returns when the connection is over: when
// either side or Close ends it.
//
// The record on the audit trail is written when it is over, with the bytes that went to the client. A page of
// any origin may open one, and that opens nothing: only a bearer token counts, and browsers add none by
// themselves. Their WebSocket cannot send one, and a token in the query would end up in logs: pages use a
// stream of events, or a server of their own. Shutdown of an http.Server neither waits for WebSockets nor ends
// them; Close breaks them off, as it cannot know where a frame ends.
func (p *proxied) serveWebSocket(a *answer, r *http.Request) {
	g := p.gateway
	release, ok := g.background.hold()
	if !ok {
		g.failUncharged(a, r, closing)
		return
	}
	a.release = release
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(g.background.ctx, cancel)()

	s := &switching{a, tunnel.New(closeTimeout)}
	defer func() { // also if the copying panics
		s.tunnel.Close()
		a.bytes += s.tunnel.Sent()
	}()
	proxy := p.proxy
	proxy.ModifyResponse = s.received
	proxy.ServeHTTP(s, r.WithContext(ctx))
}

// switching is the answer to a WebSocket handshake.
type switching struct {
	*answer
	tunnel *tunnel.Tunnel
}

func (s *switching) received(res *http.Response) error {
	removeForbidden(res)
	if res.StatusCode != http.StatusSwitchingProtocols {
		return nil
	}
	conn, ok := res.Body.(io.ReadWriteCloser)
	if !ok {
		return errUnrequested
	}
	res.Body = s.tunnel.Upstream(conn)
	return nil
}

func (s *switching) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := s.answer.Hijack()
	if err != nil {
		return nil, nil, err
	}
	return s.tunnel.Client(conn, buffered.Reader), buffered, nil
}

// answerOf returns the answer that a guarded service is given.
func answerOf(w http.ResponseWriter) *answer {
	if s, ok := w.(*switching); ok {
		return s.answer
	}
	return w.(*answer)
}
