package netguard

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"
)

// inside holds what must not be reached: an HTTP server on every loopback address there is,
// which counts connections.
type inside struct {
	port  string
	count atomic.Int64
}

func listen(t *testing.T) *inside {
	t.Helper()
	in := &inside{}
	first, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, in.port, _ = net.SplitHostPort(first.Addr().String())
	listeners := []net.Listener{first}
	if second, err := net.Listen("tcp6", "[::1]:"+in.port); err == nil {
		listeners = append(listeners, second)
	}
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "inside") }),
		ConnState: func(_ net.Conn, s http.ConnState) {
			if s == http.StateNew {
				in.count.Add(1)
			}
		},
	}
	for _, l := range listeners {
		go server.Serve(l)
	}
	t.Cleanup(func() { server.Close() })
	return in
}

func guard(t testing.TB, c Config) *Guard {
	t.Helper()
	g, err := New(c)
	if err != nil {
		t.Fatalf("New(%v) = %v, want no error", c.Allow, err)
	}
	t.Cleanup(func() { g.Close(t.Context()) })
	return g
}

// get asks without any check of the text, so that the dialler alone is tested.
func get(t *testing.T, client *http.Client, target string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", target, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(r)
	if err == nil {
		resp.Body.Close()
	}
	return resp, err
}

func TestNameThatChangesItsAddressIsCheckedWhenDialled(t *testing.T) {
	in := listen(t)
	z, names := resolver(t)
	g := guard(t, Config{Resolver: names})
	z.is("rebind.example.test", "93.184.216.34", "127.0.0.1")
	first, err := names.LookupNetIP(t.Context(), "ip", "rebind.example.test")
	if err != nil || len(first) != 1 || private(plain(first[0])) != "" {
		t.Fatalf("LookupNetIP() = %v, %v, want a public address first", first, err)
	}
	_, err = get(t, g.Client(0), "http://rebind.example.test:"+in.port+"/")
	if refused := (*Refused)(nil); !errors.As(err, &refused) || refused.Addr != netip.MustParseAddr("127.0.0.1") {
		t.Errorf("Get() = %v, want a *Refused that knows 127.0.0.1", err)
	}
	z.is("both.example.test", "127.0.0.1 ::1 10.0.0.1")
	if _, err = get(t, g.Client(0), "http://both.example.test:"+in.port+"/"); err == nil {
		t.Error("Get(a name with three addresses inside) = no error, want one")
	}
	if n := in.count.Load(); n != 0 {
		t.Errorf("%d connections arrived inside, want none", n)
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	in := listen(t)
	for _, to := range []string{"http://127.0.0.1:" + in.port + "/", "http://169.254.169.254/", "file:///etc/passwd"} {
		server := &http.Server{Handler: http.RedirectHandler(to, http.StatusFound)}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go server.Serve(l)
		t.Cleanup(func() { server.Close() })

		g := guard(t, Config{Allow: []string{l.Addr().String()}})
		resp, err := get(t, g.Client(0), "http://"+l.Addr().String()+"/")
		if err != nil || resp.StatusCode != http.StatusFound {
			t.Errorf("Get(a redirect to %s) = %v, %v, want the redirect itself", to, resp, err)
		}
		follower := &http.Client{Transport: g.Transport()}
		if resp, err := get(t, follower, "http://"+l.Addr().String()+"/"); err == nil {
			t.Errorf("following a redirect to %s = %d, want an error", to, resp.StatusCode)
		}
	}
	if n := in.count.Load(); n != 0 {
		t.Errorf("%d connections arrived inside, want none", n)
	}
}

func TestClientIsMadeForManyCallsToOneHost(t *testing.T) {
	g := guard(t, Config{})
	c := g.Client(0)
	tr, ok := c.Transport.(*http.Transport)
	if !ok || tr != g.Client(time.Second).Transport || g.Transport() != g.Transport() {
		t.Fatalf("Client().Transport = %T, want the guard's one", c.Transport)
	}
	if tr.Proxy != nil || tr.MaxIdleConnsPerHost < 256 || tr.MaxResponseHeaderBytes > 1<<20 ||
		tr.ResponseHeaderTimeout != 15*time.Second || c.Timeout != 30*time.Second {
		t.Errorf("proxy %t, idle %d, header bytes %d, header time %v, timeout %v", tr.Proxy != nil, tr.MaxIdleConnsPerHost,
			tr.MaxResponseHeaderBytes, tr.ResponseHeaderTimeout, c.Timeout)
	}
	if got := g.Client(time.Second).Timeout; got != time.Second {
		t.Errorf("Client(1s).Timeout = %v", got)
	}
	if c.CheckRedirect(nil, nil) != http.ErrUseLastResponse {
		t.Error("CheckRedirect() follows")
	}
}
