package mcpbus

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/dpop"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/mcpbus/internal/rpc"
)

// listeners holds the streams that wait for a change of the list.
type listeners struct {
	mu     sync.Mutex
	closed bool
	all    map[chan struct{}]struct{}
}

// add adds a stream, unless the bus is closed. Changes that come faster than the stream sends
// them are merged.
func (l *listeners) add(work *sync.WaitGroup) (news chan struct{}, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, false
	}
	if l.all == nil {
		l.all = map[chan struct{}]struct{}{}
	}
	news = make(chan struct{}, 1)
	l.all[news] = struct{}{}
	work.Add(1)
	return news, true
}

func (l *listeners) remove(news chan struct{}, work *sync.WaitGroup) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, news)
	work.Done()
}

func (l *listeners) notifyAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for news := range l.all {
		select {
		case news <- struct{}{}:
		default:
		}
	}
}

func (l *listeners) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

// listen handles subscriptions/listen (MCP 2026-07-28, subscriptions): a stream that notifies of
// changes of the tool list. It ends with the client's token, and with the bus.
func (x *exchange) listen(w http.ResponseWriter, m *rpc.Message) error {
	filter, ok := m.Params.Object("notifications")
	if !ok {
		write(w, http.StatusBadRequest, failed(m.ID, noFilter))
		return nil
	}
	b, key := x.bus, x.callerKey()
	if !b.streams.acquire(key) {
		return tooManyStreams.Because(&refusal{rpc.ServerError, m.ID})
	}
	defer b.streams.release(key)
	news, ok := b.listeners.add(&b.tasks)
	if !ok {
		return shuttingDown.Because(&refusal{rpc.ServerError, m.ID})
	}
	defer b.listeners.remove(news, &b.tasks)
	s := newStream(w, m.ID)
	defer s.end()
	if !filter.True("toolsListChanged") {
		s.notify("notifications/subscriptions/acknowledged", `,"notifications":{}`)
		return nil
	}
	last := x.toolView().digest(x.snapshot)
	if s.notify("notifications/subscriptions/acknowledged", `,"notifications":{"toolsListChanged":true}`) {
		x.notifyChanges(s, news, last)
	}
	return nil
}

// notifyChanges notifies the client each time its own list has changed, until the stream is to
// end. Changes that the caller cannot see are not sent.
func (x *exchange) notifyChanges(s *stream, news chan struct{}, last uint64) {
	b := x.bus
	alive := time.NewTicker(b.c.KeepAlive)
	defer alive.Stop()
	over := time.NewTimer(time.Until(x.caller.ExpiresAt))
	defer over.Stop()
	look := func() bool {
		now, known := x.digest()
		if !known || now == last {
			return true
		}
		last = now
		return s.notify("notifications/tools/list_changed", "")
	}
	for going := true; going; {
		select {
		case <-news:
			going = look()
		case <-alive.C:
			going = !x.revoked() && s.write(": alive\n\n") && look() // the user's role may have changed
		case <-over.C:
			return
		case <-b.runCtx.Done():
			return
		case <-x.request.Context().Done():
			s.broken = !errors.Is(context.Cause(x.request.Context()), reqctx.ErrEnded) // else the client is there
			return
		}
	}
}

// digest returns the digest of the caller's current list; false if it cannot be read.
func (x *exchange) digest() (sum uint64, known bool) {
	switch err := x.loadSnapshot(); {
	case errors.Is(err, noBundle): // it was deleted, so the list is empty
		return 0, true
	case err != nil:
		return 0, false
	}
	return x.toolView().digest(x.snapshot), true
}

// revoked reports whether the caller's token has been revoked, or cannot be verified any more. If
// only the gateway can tell, the stream ends when the token expires.
func (x *exchange) revoked() bool {
	if x.bus.c.Verifier == nil {
		return false
	}
	c, err := dpop.Read(nil, x.request)
	if err == nil {
		ctx := dpop.Proven(x.request.Context(), x.caller.KeyThumbprint)
		_, err = x.bus.c.Verifier.Verify(ctx, c.Token, x.address.audiences...)
	}
	return errors.Is(err, token.ErrInvalid) || errors.Is(err, token.ErrStale)
}

// stream writes an event stream that answers one request.
type stream struct {
	w          http.ResponseWriter
	controller *http.ResponseController
	id         json.RawMessage
	broken     bool // a write has failed
}

// writeTimeout bounds how long a client may take to read a few bytes.
const writeTimeout = 10 * time.Second

func newStream(w http.ResponseWriter, id json.RawMessage) *stream {
	reply.NoStore(w)
	h := w.Header()
	h["Content-Type"] = streamType
	h["X-Content-Type-Options"] = noSniff
	h.Set("X-Accel-Buffering", "no") // or nginx keeps the events
	w.WriteHeader(http.StatusOK)
	return &stream{w: w, controller: http.NewResponseController(w), id: id}
}

// notify sends a notification; more are members of its params.
func (s *stream) notify(method, more string) bool {
	return s.message(`{"jsonrpc":"2.0","method":"` + method + `","params":{` + s.meta() + more + `}}`)
}

func (s *stream) message(text string) bool { return s.write("event: message\ndata: " + text + "\n\n") }

func (s *stream) meta() string { return `"_meta":{"` + metaSubscription + `":` + string(s.id) + `}` }

func (s *stream) write(text string) bool {
	s.controller.SetWriteDeadline(time.Now().Add(writeTimeout)) // where there is none, Write fails in its own time
	_, err := s.w.Write([]byte(text))
	if err == nil {
		err = s.controller.Flush()
	}
	s.broken = err != nil
	return !s.broken
}

// response writes the response to the request, which may be large: it has no write deadline but
// that of any answer.
func (s *stream) response(body pieces) {
	s.clearDeadline()
	s.w.Write(eventHead)
	for _, piece := range body {
		s.w.Write(piece) // a client that has gone away is no failure of ours
	}
	s.w.Write(eventTail)
}

var eventHead, eventTail = []byte("event: message\ndata: "), []byte("\n\n")

// end answers the request, so that the client knows that the stream is complete, and restores
// the connection.
func (s *stream) end() {
	if !s.broken {
		s.message(`{"jsonrpc":"2.0","id":` + string(s.id) + `,"result":{"resultType":"complete",` + s.meta() + `}}`)
	}
	s.clearDeadline()
}

// clearDeadline removes the deadline of the last write.
func (s *stream) clearDeadline() { s.controller.SetWriteDeadline(time.Time{}) }
