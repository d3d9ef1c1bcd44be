package gateway_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/gateway"
)

// open serves the fixture on an address of its own.
func (h *fixture) open() *httptest.Server {
	h.Helper()
	server := httptest.NewServer(h.handler)
	h.Cleanup(server.Close)
	return server
}

// raw sends bytes to an address and returns what is answered to them.
func raw(t *testing.T, address, text string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn := must(net.Dial("tcp", address))(t)
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}

func TestServiceCanTrustTheGatewaysHeaders(t *testing.T) {
	h := newFixture(t)
	var got http.Header
	user := behind(t, h, func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
	forged := []string{
		"X-Keystile-Client", "x-keystile-user", "X_Keystile_Client", "x_KEYSTILE_tier", "X-Keystile_Scope",
		"X-Keystile-Admin", "X-Forwarded-For", "X_Forwarded_For",
		"X-Forwarded-Port", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Prefix", "Forwarded", "X-Real-Ip",
		"X_Real_IP", "X_Request_Id", "Proxy",
		"Proxy-Authorization", "Keep-Alive", "Te", "X-Hop", "Api_key", "X-Original-Url", "X-Original-Method", "X-Rewrite-Url",
		"X-HTTP-Method-Override", "True-Client-Ip",
	}
	request := "GET /svc/x HTTP/1.1\r\nHost: id.example.com\r\nAuthorization: Bearer " + user +
		"\r\nX-Own: own\r\nX-Keystone: own\r\nX-Request-Id: id-1\r\n"
	for _, name := range forged {
		request += name + ": forged\r\n"
	}
	request += "Connection: keep-alive, X-Hop, X-Keystile-Client, X-Keystile-User, X-Request-Id, X-Forwarded-For\r\n\r\n"
	_, in := raw(t, h.open().Listener.Addr().String(), request)
	if resp := must(http.ReadResponse(in, nil))(t); resp.StatusCode != 200 {
		t.Fatalf("answered %d", resp.StatusCode)
	}
	for name, values := range got {
		if slices.Contains(values, "forged") {
			t.Errorf("the service got %s: %q", name, values)
		}
	}
	for name, want := range map[string]string{
		"X-Keystile-Client": h.app.ID, "X-Request-Id": "id-1", "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "http",
		"X-Forwarded-Host": "id.example.com",
		"X-Own":            "own", "X-Keystone": "own",
	} {
		if values := got.Values(name); len(values) != 1 || values[0] != want {
			t.Errorf("%s: %q, want %q once", name, values, want)
		}
	}
}

// Decision 45: siblings may verify tokens themselves.
func TestTokenGoesOnlyToAServiceThatIsToHaveIt(t *testing.T) {
	for _, keep := range []bool{false, true} {
		h := newFixture(t)
		var got http.Header
		user := behind(t, h, func(_ http.ResponseWriter, r *http.Request) { got = r.Header },
			func(u *gateway.Upstream) { u.KeepBearer = keep })
		h.want(h.call("GET", "/svc/x", user), 200, "a call")
		if has := got.Get("Authorization") == "Bearer "+user; has != keep || len(got.Values("Authorization")) > 1 ||
			got.Get("X-Keystile-Client") != h.app.ID {
			t.Errorf("KeepBearer %t: the service got %v", keep, got)
		}
	}
}

func TestSchemeIsTakenFromATrustedProxy(t *testing.T) {
	for _, c := range []struct{ from, sent, want string }{
		{"10.0.0.1:1", "https", "https"}, {"10.0.0.1:1", "gopher", "http"}, {"203.0.113.9:1", "https", "http"},
	} {
		h := newFixture(t, func(g *gateway.Config) {
			g.ClientIP = func(r *http.Request) netip.Addr {
				if strings.HasPrefix(r.RemoteAddr, "10.") {
					return netip.MustParseAddr("198.51.100.7")
				}
				return netip.MustParseAddrPort(r.RemoteAddr).Addr()
			}
		})
		var got http.Header
		user := behind(t, h, func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
		r := h.request("GET", "/svc/x", user, nil, "X-Forwarded-Proto", c.sent, "from", c.from)
		r.TLS = nil
		h.want(h.send(r), 200, "a call")
		if values := got.Values("X-Forwarded-Proto"); len(values) != 1 || values[0] != c.want {
			t.Errorf("%+v: %q", c, values)
		}
	}
}

func TestPrefixIsTakenOffAndTheRestStaysAsItIsWritten(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) { c.Plans = unlimited() })
	var got string
	user := behind(t, h, func(_ http.ResponseWriter, r *http.Request) {
		got = r.URL.EscapedPath() + " " + r.Header.Get("X-Forwarded-Prefix")
	})
	for path, want := range map[string]string{
		"/svc/x": "/base/x /svc", "/svc/a%2Fb": "/base/a%2Fb /svc", "/svc/": "/base/ /svc", "/svc//x": "/base//x /svc",
		"/svc/%61":   "/base/%61 /svc",
		"/svc/svc/x": "/base/svc/x /svc", "/svc/%E4%B8%AD": "/base/%E4%B8%AD /svc",
		"/svc/a%252Fb;c=d": "/base/a%252Fb;c=d /svc",
	} {
		h.want(h.call("GET", path, user), 200, path)
		if got != want {
			t.Errorf("%s reached the service as %s, want %s", path, got, want)
		}
	}
}

// A mux that decodes paths brings requests here that say something else than the prefix: the
// service would be handed what was never compared.
func TestPathWithoutThePrefixAsItIsWrittenReachesNoService(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) { c.Plans = unlimited() })
	received := 0
	user := behind(t, h, func(http.ResponseWriter, *http.Request) { received++ })
	for _, path := range []string{"/svc%2fx", "/svc%2Fx", "/%73vc/x", "/s%76%63/x", "/svc%2f/x", "/svc%2f%2e%2e/x"} {
		h.want(h.call("GET", path, user), 400, path)
	}
	other := must(h.gateway.Proxy(gateway.Upstream{Product: "svc",
		URL: upstreamOf(t, func(http.ResponseWriter, *http.Request) { received++ }), Strip: "/svc"}))(t)
	h.mux.Handle("/", other)
	for _, path := range []string{"/svcs/x", "/svc;a=b/x", "/svc%5cx", "/x/svc"} {
		a := h.want(h.send(h.request("GET", path, user, nil)), 400, path)
		if !strings.Contains(a.text, "/svc") {
			t.Errorf("%s is refused with %s, which does not say what is wanted", path, a.text)
		}
	}
	if got := h.used(user, "svc"); received != 0 || got != 0 {
		t.Errorf("the service was asked %d times, and %d calls charged", received, got)
	}
}

func upstreamOf(t *testing.T, service http.HandlerFunc) string {
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	return server.URL
}

// CORS headers and the request's id are sent once.
func TestServiceCannotSetTheGatewaysHeaders(t *testing.T) {
	for name, c := range map[string]struct {
		announced bool
		cors      gateway.CORS
		origin    []string
	}{
		"open to all":            {false, gateway.CORS{Open: []string{"/svc/"}}, []string{"*"}},
		"announced, open to all": {true, gateway.CORS{Open: []string{"/svc/"}}, []string{"*"}},
		"shared with others": {false, gateway.CORS{Shared: []string{"/svc/"},
			Origins: []string{"https://b.example"}}, nil},
		"announced, shared with others": {true, gateway.CORS{Shared: []string{"/svc/"},
			Origins: []string{"https://b.example"}}, nil},
		"of which the gateway says nothing": {true, gateway.CORS{Open: []string{"/"}[:0]}, []string{"https://a.example"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t, func(g *gateway.Config) { g.CORS = c.cors })
			user := behind(t, h, func(w http.ResponseWriter, r *http.Request) {
				if c.announced {
					w.Header().Set("Link", "</style.css>; rel=preload")
					w.Header().Set("X-Request-Id", "announced")
					w.WriteHeader(103)
					w.Header().Del("Link")
				}
				header := w.Header()
				header.Set("X-Request-Id", "theirs")
				header.Set("Access-Control-Allow-Origin", "https://a.example")
				header.Set("Vary", "Accept")
				header.Add("Set-Cookie", "open_sso_token=forged; Path=/")
				header.Add("Set-Cookie", "own=1")
				io.WriteString(w, "answer")
			})
			r, _ := http.NewRequest("GET", h.open().URL+"/svc/x", nil)
			r.Header.Set("Authorization", "Bearer "+user)
			r.Header.Set("Origin", "https://a.example")
			r.Header.Set("X-Request-Id", "id-1")
			resp := must(http.DefaultClient.Do(r))(t)
			defer resp.Body.Close()
			if got := resp.Header.Values("Access-Control-Allow-Origin"); !slices.Equal(got, c.origin) {
				t.Errorf("Access-Control-Allow-Origin: %q, want %q", got, c.origin)
			}
			if got := resp.Header.Values("X-Request-Id"); !slices.Equal(got, []string{"id-1"}) {
				t.Errorf("X-Request-Id: %q", got)
			}
			if got := resp.Header.Values("Set-Cookie"); !slices.Equal(got, []string{"own=1"}) {
				t.Errorf("Set-Cookie: %q", got)
			}
			vary := []string{"Accept"}
			if c.cors.Shared != nil {
				vary = []string{"Origin", "Accept"}
			}
			if got := resp.Header.Values("Vary"); !slices.Equal(got, vary) {
				t.Errorf("Vary: %q, want %q", got, vary)
			}
			if text, err := io.ReadAll(resp.Body); string(text) != "answer" || err != nil {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}
