package gateway_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/storage"
)

func TestWebSocketIsOneCallChargedWhenItOpensAndNotedWhenItEnds(t *testing.T) {
	h := newFixture(t)
	service := newSockets()
	user := behind(t, h, service.ServeHTTP)
	conn, in := connect(t, h, user)
	if got := h.used(user, "svc"); got != 1 {
		t.Errorf("charged %d while it is open, want 1", got)
	}
	for _, text := range []string{"hello", "", strings.Repeat("x", 125)} {
		echo(t, conn, in, text)
	}
	conn.Close()
	if err := ending(t, service.ended); !errors.Is(err, io.EOF) {
		t.Errorf("the service's end: %v", err)
	}
	header := <-service.header
	if header["Authorization"] != nil || header.Get("X-Keystile-Client") != h.app.ID ||
		header.Get("Origin") != "https://any.example" || header.Get("X-Request-Id") != "id-1" {
		t.Errorf("the service got %v", header)
	}
	if got := h.used(user, "svc"); got != 1 {
		t.Errorf("charged %d when it is over, want 1", got)
	}
	if e := only(t, h); e.Status != 101 || e.Bytes != 2+5+2+2+125 || e.Path != "/svc/chat" || e.User == "" {
		t.Errorf("on the trail: %+v", e)
	}
}

func TestServiceThatEndsAWebSocketEndsTheClientsToo(t *testing.T) {
	h := newFixture(t)
	service := newSockets()
	conn, in := connect(t, h, behind(t, h, service.ServeHTTP))
	echo(t, conn, in, "hello")
	conn.Write(frame(1, "bye", true))
	if text, err := io.ReadAll(in); err != nil || len(text) != 0 {
		t.Errorf("read %q, %v; want the end", text, err)
	}
	conn.Close()
	if e := only(t, h); e.Status != 101 {
		t.Errorf("on the trail: %+v", e)
	}
}

func TestCloseEndsWebSocketsAndWaitsForTheirRows(t *testing.T) {
	h := newFixture(t)
	service := newSockets()
	conn, in := connect(t, h, behind(t, h, service.ServeHTTP))
	echo(t, conn, in, "hello")
	if e := only(t, h); e.Status != 101 || e.Bytes != 7 { // only closes the gateway
		t.Errorf("on the trail: %+v", e)
	}
	if _, err := io.ReadAll(in); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) &&
		!strings.Contains(err.Error(), "reset") {
		t.Errorf("the client's end: %v", err)
	}
	ending(t, service.ended)
}

func TestCloseWaitsUntilAWebSocketIsOnTheTrail(t *testing.T) {
	closing, closed := atomic.Bool{}, make(chan struct{})
	h := newFixture(t, func(c *gateway.Config) {
		c.ClientIP = func(r *http.Request) netip.Addr {
			if closing.Load() { // the row is being written
				select {
				case <-closed:
					t.Error("Close has not waited")
				case <-time.After(50 * time.Millisecond):
				}
			}
			return netip.MustParseAddr("192.0.2.1")
		}
	})
	service := newSockets()
	conn, in := connect(t, h, behind(t, h, service.ServeHTTP))
	echo(t, conn, in, "hello")
	closing.Store(true)
	h.gateway.Close(t.Context())
	close(closed)
	only(t, h)
}

// A side that does not read must not keep Close waiting.
func TestCloseEndsAWebSocketWhoseClientDoesNotRead(t *testing.T) {
	h := newFixture(t)
	full := make(chan struct{})
	user := behind(t, h, func(w http.ResponseWriter, r *http.Request) {
		conn, _, _ := http.NewResponseController(w).Hijack()
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
		block := make([]byte, 1<<20)
		for {
			conn.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
			if _, err := conn.Write(block); err != nil {
				break
			}
		}
		close(full)
		io.Copy(io.Discard, conn)
	})
	conn, in := raw(t, h.open().Listener.Addr().String(), handshake(user))
	defer conn.Close()
	must(http.ReadResponse(in, nil))(t)
	<-full
	if e := only(t, h); e.Status != 101 || e.Bytes == 0 {
		t.Errorf("on the trail: %+v", e)
	}
}

func TestDataRightAfterTheHandshakeIsNotLost(t *testing.T) {
	h := newFixture(t)
	service := newSockets()
	user := behind(t, h, service.ServeHTTP)
	_, in := raw(t, h.open().Listener.Addr().String(), handshake(user)+string(frame(1, "early", true)))
	if resp := must(http.ReadResponse(in, nil))(t); resp.StatusCode != 101 {
		t.Fatalf("answered %d", resp.StatusCode)
	}
	if _, text, err := readFrame(in); text != "early" || err != nil {
		t.Errorf("answered %q, %v", text, err)
	}
}

func TestWebSocketIsRefusedLikeAnyCall(t *testing.T) {
	h := newFixture(t)
	service := newSockets()
	user := behind(t, h, service.ServeHTTP)
	address := h.open().Listener.Addr().String()
	for bearer, want := range map[string]int{"nothing": 401, user: 503} {
		if want == 503 {
			h.gateway.Close(t.Context())
		}
		_, in := raw(t, address, handshake(bearer))
		if resp := must(http.ReadResponse(in, nil))(t); resp.StatusCode != want ||
			!strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
			t.Errorf("%s: %d %v, want %d", bearer, resp.StatusCode, resp.Header, want)
		}
	}
	if got := service.requested.Load(); got != 0 {
		t.Errorf("the service was asked %d times", got)
	}
}

// A switch that cannot be counted does not take place, and nothing stays open.
func TestWebSocketThatCannotBeChargedIsNotOpened(t *testing.T) {
	var log logged
	h := newFixture(t, into(&log),
		func(c *gateway.Config) { c.Store, c.Tokens = nameless{c.Store, c.Tokens}, nameless{c.Store, c.Tokens} })
	service := newSockets()
	behind(t, h, service.ServeHTTP)
	_, in := raw(t, h.open().Listener.Addr().String(), handshake("any"))
	resp := must(http.ReadResponse(in, nil))(t)
	text, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != 503 || !strings.Contains(string(text), "could not be counted") ||
		resp.Header.Get("Upgrade") != "" {
		t.Errorf("answered %d %v %s", resp.StatusCode, resp.Header, text)
	}
	ending(t, service.ended)
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
		t.Errorf("logged %d errors: %s", n, log.String())
	}
}

// nameless lets an application in that has no name a ledger could hold.
type nameless struct {
	gateway.Store
	gateway.Tokens
}

func (nameless) Verify(context.Context, string, ...string) (storage.Caller, error) {
	return storage.Caller{AppID: strings.Repeat("x", 256)}, nil
}

func (nameless) App(_ context.Context, id string) (storage.App, error) {
	return storage.App{ID: id, Tier: storage.TierEnterprise}, nil
}

// The gateway does not see what follows an upgrade: behind h2c a client could send call after call,
// and name itself as it likes.
func TestUpgradeIsForWebSocketsOnly(t *testing.T) {
	for name, lines := range map[string]string{
		"h2c": "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n" +
			"HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n",
		"both":               "Upgrade: websocket, h2c\r\nConnection: Upgrade\r\n",
		"two lines":          "Upgrade: h2c\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n",
		"without Connection": "Upgrade: websocket\r\n",
		"of another method":  "",
	} {
		h := newFixture(t)
		service := newSockets()
		user := behind(t, h, service.ServeHTTP)
		method := "GET"
		if lines == "" {
			method, lines = "POST", "Upgrade: websocket\r\nConnection: Upgrade\r\nContent-Length: 0\r\n"
		}
		_, in := raw(t, h.open().Listener.Addr().String(), method+" /svc/x HTTP/1.1\r\nHost: h\r\n"+
			"Authorization: Bearer "+user+"\r\n"+lines+"\r\n")
		if resp := must(http.ReadResponse(in, nil))(t); resp.StatusCode != 200 {
			t.Errorf("%s: answered %d", name, resp.StatusCode)
		}
		if got := <-service.header; got["Upgrade"] != nil || got["Http2-Settings"] != nil || got["Connection"] != nil {
			t.Errorf("%s: the service got %v", name, got)
		}
	}
}

func TestServiceSwitchesToTheRequestedProtocolOrFails(t *testing.T) {
	for name, c := range map[string]struct{ request, protocol string }{
		"nothing was asked for": {"GET /svc/x HTTP/1.1\r\nHost: h\r\n", "websocket"},
		"another protocol":      {"", "h2c"},
	} {
		h := newFixture(t)
		closed := make(chan error, 1)
		user := behind(t, h, func(w http.ResponseWriter, r *http.Request) {
			conn, _, _ := http.NewResponseController(w).Hijack()
			defer conn.Close()
			io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: "+c.protocol+"\r\nConnection: Upgrade\r\n\r\n")
			_, err := conn.Read(make([]byte, 1))
			closed <- err
		})
		request := handshake(user)
		if c.request != "" {
			request = c.request + "Authorization: Bearer " + user + "\r\n\r\n"
		}
		_, in := raw(t, h.open().Listener.Addr().String(), request)
		if resp := must(http.ReadResponse(in, nil))(t); resp.StatusCode != 502 {
			t.Errorf("%s: answered %d", name, resp.StatusCode)
		}
		if err := ending(t, closed); err == nil {
			t.Errorf("%s: the service's connection is still open", name)
		}
		if got := h.used(user, "svc"); got != 0 {
			t.Errorf("%s: charged %d", name, got)
		}
	}
}

func TestServiceMayDeclineAWebSocket(t *testing.T) {
	h := newFixture(t)
	user := behind(t, h, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Sec-WebSocket-Version", "13")
		w.WriteHeader(426)
	})
	_, in := raw(t, h.open().Listener.Addr().String(), handshake(user))
	if resp := must(http.ReadResponse(in, nil))(t); resp.StatusCode != 426 ||
		resp.Header.Get("Sec-Websocket-Version") != "13" {
		t.Errorf("answered %d %v", resp.StatusCode, resp.Header)
	}
	if got := h.used(user, "svc"); got != 1 {
		t.Errorf("charged %d", got)
	}
}

// Services in the same program take connections over themselves.
func TestGuardedHandlerMayTakeItsConnectionAndIsChargedOnce(t *testing.T) {
	h := newFixture(t)
	h.svc = h.gateway.Guard("svc", newSockets())
	user := h.userBearer()
	conn, in := raw(t, h.open().Listener.Addr().String(), handshake(user))
	if resp := must(http.ReadResponse(in, nil))(t); resp.StatusCode != 101 {
		t.Fatalf("answered %d", resp.StatusCode)
	}
	echo(t, conn, in, "hello")
	if got := h.used(user, "svc"); got != 1 {
		t.Errorf("charged %d", got)
	}
}

func TestWebSocketThatCannotBeHijackedIsNotCharged(t *testing.T) {
	h := newFixture(t)
	h.svc = h.gateway.Guard("svc", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, _, err := http.NewResponseController(w).Hijack(); !errors.Is(err, http.ErrNotSupported) {
			t.Errorf("Hijack() = %v", err)
		}
		w.WriteHeader(429) // which is free
	}))
	user := h.userBearer()
	h.want(h.call("GET", "/svc/x", user), 429, "a call") // a recorder has no connection
	if got := h.used(user, "svc"); got != 0 {
		t.Errorf("charged %d", got)
	}
}
