package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/connections"
)

// limited serves the fixture as the program does, with limits on its connections.
func (h *fixture) limited(c connections.Config) (address string, limits *connections.Limits) {
	h.Helper()
	server := httptest.NewUnstartedServer(h.handler)
	limits = connections.New(c)
	server.Listener = limits.Guard(server.Config, server.Listener)
	server.Start()
	h.Cleanup(server.Close)
	return server.Listener.Addr().String(), limits
}

func uploading(bearer string, length int) string {
	return fmt.Sprintf("POST /svc/x HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n",
		bearer, length)
}

// It has not gone away: it is there, and reads what it is told.
func TestClientThatUploadsTooSlowlyIsToldSo(t *testing.T) {
	h := newFixture(t)
	user := behind(t, h, func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
	address, limits := h.limited(connections.Config{Grace: 100 * time.Millisecond})
	_, in := raw(t, address, uploading(user, 5000)+"half")
	resp := must(http.ReadResponse(in, nil))(t)
	text := string(must(io.ReadAll(resp.Body))(t))
	if resp.StatusCode != 408 || !strings.Contains(text, `"errcode":408`) || !resp.Close {
		t.Errorf("answered %d %s, close %t", resp.StatusCode, text, resp.Close)
	}
	if limits.Stats().CutBody != 1 {
		t.Errorf("%+v", limits.Stats())
	}
	for _, e := range h.trail() {
		if e.Product == "svc" && e.Status != 408 {
			t.Errorf("the trail has %d", e.Status)
		}
	}
}

// Decision 58: phones send slowly, and a client with a token is known.
func TestCallersBodyMayComeAsSlowlyAsAPhoneSends(t *testing.T) {
	const seconds, piece = 300, 9 << 10
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		h.mux.Handle("/svc/", h.gateway.Guard("svc", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n, err := io.Copy(io.Discard, r.Body)
			fmt.Fprint(w, n, " ", err)
		})))
		near, far := net.Pipe()
		server := &http.Server{Handler: h.handler}
		at := connections.New(connections.Config{}).Guard(server, &once{conn: far, closed: make(chan struct{})})
		over := make(chan error)
		go func() { over <- server.Serve(at) }()
		io.WriteString(near, uploading(h.bearer(h.app), seconds*piece))
		go func() {
			for range seconds {
				if _, err := io.WriteString(near, strings.Repeat("x", piece)); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		}()
		resp := must(http.ReadResponse(bufio.NewReader(near), nil))(t)
		if text := string(must(io.ReadAll(resp.Body))(t)); text != fmt.Sprint(seconds*piece, " ", error(nil)) {
			t.Errorf("answered %d %s", resp.StatusCode, text)
		}
		near.Close()
		server.Close()
		<-over
		time.Sleep(time.Second) // net/http waits before it closes some connections
	})
}

// once is a listener of one connection.
type once struct {
	conn   net.Conn
	closed chan struct{}
}

func (o *once) Accept() (net.Conn, error) {
	if c := o.conn; c != nil {
		o.conn = nil
		return c, nil
	}
	<-o.closed
	return nil, net.ErrClosed
}

func (o *once) Close() error   { close(o.closed); return nil }
func (o *once) Addr() net.Addr { return &net.TCPAddr{} }

// With the rate of all callers, what came here would be waited for minutes.
func TestProductSaysHowFastABodyHasToCome(t *testing.T) {
	h := newFixture(t)
	user := behind(t, h, func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) },
		func(u *gateway.Upstream) { u.UploadRate = 1 << 30 })
	address, _ := h.limited(connections.Config{Grace: 500 * time.Millisecond})
	conn, in := raw(t, address, uploading(user, 4<<20))
	if _, err := io.WriteString(conn, strings.Repeat("x", 2<<20)); err != nil {
		t.Fatal(err)
	}
	conn.SetReadDeadline(time.Now().Add(time.Minute))
	if resp := must(http.ReadResponse(in, nil))(t); resp.StatusCode != 408 {
		t.Errorf("answered %d", resp.StatusCode)
	}
}
