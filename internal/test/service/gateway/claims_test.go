package gateway_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/keystile/keystile/gateway"
)

// places has where a service may be: both keep the same from it.
var places = map[string]func(*testing.T, *fixture, http.HandlerFunc) string{
	"behind the proxy": func(t *testing.T, h *fixture, s http.HandlerFunc) string { return behind(t, h, s) },
	"in the same program": func(_ *testing.T, h *fixture, s http.HandlerFunc) string {
		h.svc = h.gateway.Guard("svc", s)
		return h.userBearer()
	},
}

// claimed are headers by which a client would be somebody else, somewhere else, or ask for something else.
var claimed = []string{
	"X-Keystile-User", "X-Keystile-Client", "X-Keystile-Tier", "X-Keystile-Scope", "X-Forwarded-For", "X-Forwarded-Host",
	"X-Forwarded-User", "X-Real-IP", "X-Request-Id",
	"X-Original-URL", "X-Original-Method", "X-Rewrite-URL", "X-HTTP-Method-Override", "True-Client-IP", "Client-IP",
	"Remote-User", "Content-Type",
}

// folded writes a name with every character that RFC 9110 5.6.2 allows beside letters, digits and -.
func folded(name string) (all []string) {
	for _, c := range "!#$%&'*+.^_`|~" {
		all = append(all, strings.ReplaceAll(name, "-", string(c)), strings.Replace(name, "-", string(c), 1), name+string(c))
	}
	return all
}

// variable returns what servers of CGI make of a name that take every other character for _.
func variable(name string) string {
	return strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' {
			return c
		}
		return '_'
	}, strings.ToUpper(name))
}

// Decision 94.
func TestHeaderNamesCannotBeTakenForTheGateways(t *testing.T) {
	for place, put := range places {
		t.Run(place, func(t *testing.T) {
			h := newFixture(t)
			var got http.Header
			user := put(t, h, func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Clone() })
			request := "GET /svc/x HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + user +
				"\r\nX-Request-Id: id-1\r\nX-Own: own\r\n"
			for _, name := range claimed {
				for _, f := range folded(name) {
					request += f + ": forged\r\n" + strings.ToLower(f) + ": forged\r\n"
				}
			}
			_, in := raw(t, h.open().Listener.Addr().String(), request+"\r\n")
			if resp := must(http.ReadResponse(in, nil))(t); resp.StatusCode != 200 {
				t.Fatalf("answered %d", resp.StatusCode)
			}
			variables := map[string]string{}
			for name, values := range got {
				if v, twice := variables[variable(name)]; twice || slices.Contains(values, "forged") {
					t.Errorf("the service got %s: %q, beside %q", name, values, v)
				}
				variables[variable(name)] = strings.Join(values, ", ")
			}
			if variables["X_OWN"] != "own" || variables["X_REQUEST_ID"] != "id-1" ||
				variables["X_KEYSTILE_CLIENT"] != map[bool]string{true: h.app.ID}[place == "behind the proxy"] {
				t.Errorf("the service got %v", variables)
			}
		})
	}
}

func TestClientDoesNotSayWhoItIsNorWhichRequestIsMeant(t *testing.T) {
	for place, put := range places {
		t.Run(place, func(t *testing.T) {
			h := newFixture(t)
			var got http.Header
			user := put(t, h, func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Clone() })
			r := h.request("GET", "/svc/x", user, nil, "from", "203.0.113.9:1", "X-Request-Id", "id-1", "Content-Type",
				"text/plain")
			for _, name := range claimed[:len(claimed)-1] {
				if name != "X-Request-Id" {
					r.Header[http.CanonicalHeaderKey(name)] = []string{"forged"}
					r.Header[strings.ToLower(name)] = []string{"forged"} // as a program may have set it
				}
			}
			sent := maps.Clone(r.Header)
			h.want(h.send(r), 200, "a call")
			for name, values := range got {
				if slices.Contains(values, "forged") {
					t.Errorf("the service got %s: %q", name, values)
				}
			}
			for name, want := range map[string]string{"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Host": "id.example.com",
				"Content-Type": "text/plain"} {
				if values := got[name]; len(values) != 1 || values[0] != want {
					t.Errorf("%s: %q, want %q once", name, values, want)
				}
			}
			if !maps.EqualFunc(r.Header, sent, slices.Equal) {
				t.Errorf("who reads the request that came finds %v, want %v", r.Header, sent)
			}
		})
	}
}

// behindATrustedProxy trusts 10.0.0.0/8.
func behindATrustedProxy(c *gateway.Config) {
	c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
}

// Only the gateway learns the findings of a trusted proxy: services see them in one form, and the trail has them.
func TestHandlerLearnsFromTheGatewayWhereItsCallerIs(t *testing.T) {
	for sent, from := range map[string]string{"198.51.100.7": "10.0.0.1:1", "6.6.6.6, 198.51.100.7": "10.0.0.1:1",
		"6.6.6.6": "198.51.100.7:1"} {
		h := newFixture(t, behindATrustedProxy)
		var got http.Header
		h.svc = h.gateway.Guard("svc",
			http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Clone() }))
		h.want(h.call("GET", "/svc/x", h.bearer(h.app), "from", from, "X-Forwarded-For", sent, "X-Forwarded-Prefix",
			"/forged", "X-Forwarded-Port", "1"), 200, "a call")
		if for_ := got["X-Forwarded-For"]; len(for_) != 1 || for_[0] != "198.51.100.7" || got["X-Forwarded-Prefix"] != nil ||
			got["X-Forwarded-Port"] != nil {
			t.Errorf("X-Forwarded-For: %s from %s: the handler got %v", sent, from, got)
		}
		if e := only(t, h); e.IP != "198.51.100.7" {
			t.Errorf("X-Forwarded-For: %s from %s: the trail has %s", sent, from, e.IP)
		}
	}
}

// Where nothing has to go the request is not copied, also where a proxy says the truth of it.
func TestHonestCallIsNotCopied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, busy, behindATrustedProxy)
		handler := h.gateway.Front(h.gateway.Guard(gateway.ProductAI,
			http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200) })))
		r := h.request("GET", "/ai/x", h.bearer(h.app), nil, "from", "10.0.0.1:1", "X-Forwarded-For", "198.51.100.7",
			"X-Forwarded-Proto", "https",
			"X-Forwarded-Host", "id.example.com", "Accept", "*/*", "User-Agent", "a", "Origin", "https://a.example",
			"Content-Type", "text/plain")
		w := &null{http.Header{}}
		// one is the Vary of its Origin
		if n := testing.AllocsPerRun(1_000, func() { delete(r.Header, "X-Request-Id"); handler.ServeHTTP(w, r) }); n > 3 {
			t.Errorf("%v allocations, want 3", n)
		}
	})
}

func TestHandshakeOfAWebSocketClaimsNothing(t *testing.T) {
	h := newFixture(t)
	service := newSockets()
	user := behind(t, h, service.ServeHTTP)
	conn, in := raw(t, h.open().Listener.Addr().String(), handshake(user, "X-Keystile.Client: forged\r\n",
		"X_Keystile~User: forged\r\n", "X-Original-Url: forged\r\n", "Cookie: keystile_known=forged\r\n"))
	defer conn.Close()
	if resp := must(http.ReadResponse(in, nil))(t); resp.StatusCode != 101 {
		t.Fatalf("answered %d", resp.StatusCode)
	}
	for name, values := range <-service.header {
		if strings.Contains(strings.Join(values, ""), "forged") {
			t.Errorf("the service got %s: %q", name, values)
		}
	}
}

// HTTP/2 writes names in small letters, and has names that begin with a colon.
func TestHTTP2NamesCannotBeTakenForTheGateways(t *testing.T) {
	h := newFixture(t)
	var got http.Header
	user := behind(t, h, func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Clone() })
	server := httptest.NewUnstartedServer(h.handler)
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	r := must(http.NewRequest("GET", server.URL+"/svc/x", nil))(t)
	r.Header = http.Header{"Authorization": {"Bearer " + user}, "x-own": {"own"}}
	for _, name := range claimed {
		for _, f := range append(folded(name), name) {
			r.Header[strings.ToLower(f)] = []string{"forged"}
		}
	}
	delete(r.Header, "x-request-id")
	delete(r.Header, "content-type")
	resp := must(server.Client().Do(r))(t)
	resp.Body.Close()
	if resp.StatusCode != 200 || resp.ProtoMajor != 2 || got.Get("X-Own") != "own" {
		t.Fatalf("answered %d over %s, the service got %v", resp.StatusCode, resp.Proto, got)
	}
	for name, values := range got {
		if slices.Contains(values, "forged") {
			t.Errorf("the service got %s: %q", name, values)
		}
	}
}

// ourCookies are set for the host that services answer from.
var ourCookies = []string{"open_sso_token", "keystile_browser", "keystile_known", "keystile_trusted", "keystile_way",
	"keystile_lang", "keystile_of_a_later_version"}

func TestGatewayCookiesNeverReachAService(t *testing.T) {
	h := newFixture(t)
	var got []string
	user := behind(t, h, func(_ http.ResponseWriter, r *http.Request) { got = r.Header["Cookie"] })
	r := h.request("GET", "/svc/x", user, nil, "Cookie", "own=1", "Cookie", "a=b; theirs=2")
	for _, name := range ourCookies {
		r.Header.Add("Cookie", name+"=SECRET")
		r.Header.Add("Cookie", "x=y;"+name+" =SECRET;="+name+"=SECRET; z=1")
	}
	h.want(h.send(r), 200, "a call")
	if sent := strings.Join(got, "; "); strings.Contains(sent, "SECRET") ||
		!strings.HasPrefix(sent, "own=1; a=b; theirs=2; x=y; z=1") {
		t.Errorf("the service got %q", got)
	}
}

// A service may not speak for the whole host: in its answer, behind it, or before it.
func TestServiceDecidesNothingForTheWholeHost(t *testing.T) {
	var lines []string
	for _, name := range ourCookies {
		for _, form := range []string{"%s=forged; Path=/", "  %s = forged", "=%s=forged; Path=/",
			"__Host-%s=forged; Path=/; Secure", "__secure-%s=forged", "\t%s", "%s", "\xc2\xa0%s=forged"} {
			lines = append(lines, fmt.Sprintf(form, name), strings.ToUpper(fmt.Sprintf(form, name)))
		}
	}
	lines = append(lines, "own=1; Path=/svc", "keystone_token=1", "own=open_sso_token")
	set := func(h http.Header, prefix string, lines []string) {
		h[prefix+"Set-Cookie"] = slices.Clone(lines)
		for _, name := range []string{"Clear-Site-Data", "Nel", "Report-To", "Alt-Svc", "Service-Worker-Allowed", "Set-Login",
			"Accept-CH", "Secure-Session-Registration"} {
			h[prefix+name] = []string{`"*"`}
		}
	}
	want := http.Header{"Set-Cookie": lines[len(lines)-3:]}
	h := newFixture(t)
	user := behind(t, h, func(w http.ResponseWriter, _ *http.Request) {
		set(w.Header(), "", lines)
		w.WriteHeader(103)
		io.WriteString(w, "answer")
		w.(http.Flusher).Flush()
		set(w.Header(), http.TrailerPrefix, lines[len(lines)-50:]) // net/http reads 4 KB of them
	})
	_, in := raw(t, h.open().Listener.Addr().String(), "GET /svc/x HTTP/1.1\r\nHost: h\r\nTE: trailers\r\n"+
		"Authorization: Bearer "+user+"\r\n\r\n")
	for _, status := range []int{103, 200} {
		resp := must(http.ReadResponse(in, nil))(t)
		if resp.StatusCode != status {
			t.Fatalf("answered %d, want %d", resp.StatusCode, status)
		}
		if status == 200 {
			if text, err := io.ReadAll(resp.Body); string(text) != "answer" || err != nil {
				t.Fatalf("%q, %v", text, err)
			}
			if !maps.EqualFunc(resp.Trailer, want, slices.Equal) {
				t.Errorf("the trailers are %v, want %v", resp.Trailer, want)
			}
		}
		for _, name := range []string{"Date", "Vary", "X-Request-Id", "Content-Type", "Content-Length",
			"Access-Control-Allow-Origin", "Access-Control-Expose-Headers"} {
			resp.Header.Del(name)
		}
		if !maps.EqualFunc(resp.Header, want, slices.Equal) {
			t.Errorf("%d: the client got %q, want %q", status, resp.Header, want)
		}
	}
}

// A handler in the same program is the host's own, which has the session cookie in its hands already.
func TestHandlerOfTheHostSetsWhatItLikes(t *testing.T) {
	h := newFixture(t)
	h.svc = h.gateway.Guard("svc", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "open_sso_token", Value: "", MaxAge: -1})
		w.Header().Set("Clear-Site-Data", `"cookies"`)
		io.WriteString(w, r.Header.Get("Cookie"))
	}))
	a := h.want(h.call("GET", "/svc/x", h.bearer(h.app), "Cookie", "open_sso_token=1"), 200, "a call")
	if a.header.Get("Clear-Site-Data") == "" || a.header.Get("Set-Cookie") == "" || a.text != "open_sso_token=1" {
		t.Errorf("answered %v %s", a.header, a.text)
	}
}
