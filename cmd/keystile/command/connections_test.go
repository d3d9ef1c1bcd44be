package command

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/config"
)

// hold opens connections until one is closed at once, and says how many were not.
func hold(t *testing.T, address string) (open int) {
	t.Helper()
	for range 100 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return open // it was closed before the dial was through
		}
		t.Cleanup(func() { conn.Close() })
		fmt.Fprint(conn, "GET /healthz/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
		conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		if n, _ := io.ReadAtLeast(conn, make([]byte, 512), 12); n == 0 {
			return open
		}
		open++
	}
	return open
}

// elsewhere is a client with another loopback address than those of the other tests.
func elsewhere(t *testing.T) *http.Client {
	t.Helper()
	ip := net.IPv4(127, 0, 0, 2)
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: ip})
	if err != nil {
		t.Skip("this machine has one loopback address")
	}
	l.Close()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: ip}}
	return &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DialContext: dialer.DialContext,
		DisableKeepAlives: true}}
}

func TestAddressHoldsSoManyConnectionsAtEachListener(t *testing.T) {
	t.Parallel()
	other := elsewhere(t)
	s := start(t, t.TempDir(), "--admin-listen", "127.0.0.1:0", "--limits-connections-per-ip", "5")
	admin := s.out.Find(t, s.ended, `Admin listener +(\S+)`)
	if n := hold(t, s.address); n > 5 || n == 0 {
		t.Errorf("one address holds %d connections", n)
	}
	if resp, err := other.Get(s.base + "/healthz/live"); err != nil {
		t.Errorf("another address is not served: %v", err)
	} else {
		resp.Body.Close()
	}
	resp, text := get(t, http.DefaultClient, "http://"+admin+"/metrics")
	for _, want := range []string{
		`keystile_connections_refused_total{listener="public",reason="address"} 1`, `keystile_connections_refused_total{listener="admin",reason="full"} 0`,
		`keystile_connections_open{listener="admin"} 1`, `keystile_connections_open{listener="socket"} 0`, `keystile_connections_cut_total{listener="public",reason="body"} 0`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("not in the metrics (%d): %s", resp.StatusCode, want)
		}
	}
	if n := hold(t, admin); n > 5 || n == 0 {
		t.Errorf("one address holds %d connections of the admin listener", n)
	}
	must(t, "setting", "get", "oauth_force_pkce", "--data", s.data) // the socket is not counted
}

func TestTrustedProxyHoldsMoreConnections(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--trusted-proxies", "127.0.0.1", "--limits-connections-per-ip", "5")
	if n := hold(t, s.address); n != 100 {
		t.Errorf("a trusted proxy holds %d connections", n)
	}
}

// With few files, one address must not take them all, and none may be asked for in vain.
func TestFilesOfAProcessAreNeverUsedUp(t *testing.T) {
	t.Parallel()
	other := elsewhere(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := launch(t, exec.Command("sh", "-c", `ulimit -n 256 && exec "$0" "$@"`, self, "serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0"))
	address := c.out.Find(t, c.ended, `Listening on +(\S+)`)
	for range 400 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			continue // it was closed before the dial was through
		}
		defer conn.Close()
		fmt.Fprint(conn, halfBody)
	}
	for range 10 {
		resp, err := other.Get("http://" + address + "/healthz/ready")
		if err != nil {
			t.Fatalf("another address is not served: %v", err)
		}
		resp.Body.Close()
		if resp.StatusCode != 200 {
			t.Errorf("answered %d", resp.StatusCode)
		}
	}
	if strings.Contains(c.log.String(), "too many open files") {
		t.Errorf("it has run out of files: %s", c.log)
	}
}

// pipes is a listener without a network.
type pipes struct {
	network string
	dialed  chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.dialed:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error    { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr  { return p }
func (p *pipes) Network() string { return p.network }
func (p *pipes) String() string  { return p.network }

func TestListenersNeverWaitLongForABodyOrAReader(t *testing.T) {
	for name, request := range map[string]string{
		"a body that never comes":  "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5000\r\n\r\nhalf",
		"a body that nobody wants": "POST /refused HTTP/1.1\r\nHost: h\r\nContent-Length: 5000\r\n\r\nhalf",
		"a half header":            "POST / HTTP/1.1\r\nHo",
		"a reader that never does": "GET /much HTTP/1.1\r\nHost: h\r\n\r\n",
	} {
		for i, listener := range []string{"public", "admin", "socket"} {
			t.Run(name+", "+listener, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testHeld(t, i, request, &config.Config{}) })
			})
		}
		t.Run(name+", public and fast", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testHeld(t, 0, request, &config.Config{ListenFast: true}) })
		})
	}
}

func testHeld(t *testing.T, which int, request string, c *config.Config) {
	near, stop := serveOver(t, which, c)
	io.WriteString(near, request)
	time.Sleep(35 * time.Second)
	if _, err := near.Write([]byte("x")); err == nil {
		t.Error("the connection is open")
	}
	stop()
}

func TestSilentStreamIsClosedWhenTheSettingSaysSo(t *testing.T) {
	for _, fast := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			near, stop := serveOver(t, 0, &config.Config{StreamIdle: 10 * time.Minute, ListenFast: fast})
			io.WriteString(near, "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n")
			began := time.Now()
			if n, err := io.Copy(io.Discard, near); n == 0 || err != nil {
				t.Errorf("read %d bytes, %v", n, err)
			}
			if took := time.Since(began); took < 10*time.Minute || took > 15*time.Minute {
				t.Errorf("closed after %v", took)
			}
			stop()
		})
	}
}

func TestPublicListenerAloneIsFast(t *testing.T) {
	public, admin := &http.Server{}, &http.Server{}
	for _, fast := range []bool{false, true} {
		s := servers{listeners: []listener{{server: public, at: &pipes{network: "tcp"}},
			{server: admin, at: &pipes{network: "tcp"}}, {server: admin, at: &pipes{network: "unix"}}}}
		s.limit(&config.Config{ListenFast: fast}, public, nil)
		for i, l := range s.listeners {
			if got := l.fast != nil; got != (fast && i == 0) {
				t.Errorf("with listen_fast %v, listener %d is fast: %v", fast, i, got)
			}
		}
	}
}

// serveOver serves three listeners, each with its limits, and dials one of them.
func serveOver(t *testing.T, which int, c *config.Config) (near net.Conn, stop func()) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	s := servers{log: log}
	for _, network := range []string{"tcp", "tcp", "unix"} {
		at := &pipes{network: network, dialed: make(chan net.Conn), closed: make(chan struct{})}
		s.listeners = append(s.listeners, listener{server: newServer(http.HandlerFunc(held), log), at: at})
	}
	dialed := s.listeners[which].at.(*pipes).dialed
	s.limit(c, s.listeners[0].server, nil)
	var work sync.WaitGroup
	for _, o := range s.listeners {
		work.Go(func() { o.serving().Serve(o.at) })
	}
	near, far := net.Pipe()
	dialed <- far
	return near, func() {
		near.Close()
		for _, o := range s.listeners {
			o.serving().Close()
		}
		work.Wait()
	}
}

// held counts what clients try to hold open.
func held(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/much":
		w.Write(make([]byte, 1<<20))
	case "/refused":
		w.WriteHeader(401)
	case "/wait":
		io.Copy(io.Discard, r.Body)
		select {
		case <-time.After(10 * time.Minute):
		case <-r.Context().Done():
		}
	case "/stream":
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	default:
		io.ReadAll(r.Body)
	}
}
