package mcpcall

import (
	"errors"
	"net/http"
	"strings"
	"testing"
)

func TestEraIsFoundOutOnce(t *testing.T) {
	for _, u := range []*upstream{{era: Modern}, {era: Legacy, keeps: true}, {era: Legacy}} {
		serve(t, u)
		cl := client(t, Config{})
		for range 2 {
			if _, err := cl.Discover(t.Context(), u.at()); err != nil {
				t.Fatal(err)
			}
		}
		before := u.walk()
		if _, err := cl.Discover(t.Context(), u.at()); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimPrefix(u.walk(), before); got != ", tools/list" {
			t.Errorf("%s: the third discovery asked %s, want tools/list alone", u.era, got)
		}
	}
}

func TestUpstreamThatChangesItsEraIsProbedAgain(t *testing.T) {
	for _, c := range []struct {
		from, to Era
		called   bool // before it is listed again
	}{{Modern, Legacy, false}, {Legacy, Modern, false}, {Modern, Legacy, true}, {Legacy, Modern, true}} {
		u := serve(t, &upstream{era: c.from, keeps: true})
		cl := client(t, Config{})
		if _, err := cl.Discover(t.Context(), u.at()); err != nil {
			t.Fatal(err)
		}
		u.mu.Lock()
		u.era, u.sessions = c.to, map[string]bool{}
		u.first = says("tools/call", plain(404, "text/plain", ""))
		u.mu.Unlock()
		if c.called {
			cl.Call(t.Context(), u.at(), "add", nil)
		}
		found, err := cl.Discover(t.Context(), u.at())
		if err != nil || found.Era != c.to {
			t.Errorf("Discover() = %s, %v, want %s", found.Era, err, c.to)
		}
	}
}

// Answers of a server of an older revision to a request of a newer one.
func TestHandshakeFollowsAnyRefusalOfTheModernWay(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter, *http.Request, sent){
		"404":                           plain(404, "text/plain", "Invalid session ID"),
		"405":                           plain(405, "", ""),
		"400 of a session":              plain(400, "application/json", `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}`),
		"406":                           plain(406, "", ""),
		"500":                           plain(500, "text/plain", "not initialized"),
		"an error with 200":             plain(200, "application/json", `{"jsonrpc":"2.0","id":$id,"error":{"code":-32601,"message":"Method not found"}}`),
		"an error for no request":       plain(200, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}`),
		"a version":                     plain(400, "application/json", `{"jsonrpc":"2.0","id":$id,"error":{"code":-32022,"message":"no","data":{"supported":["2024-11-05","2025-06-18","2025-03-26","1999-01-01"],"requested":"2026-07-28"}}}`),
		"a version, without a list":     plain(400, "application/json", `{"jsonrpc":"2.0","id":$id,"error":{"code":-32022,"message":"no"}}`),
		"a page without the resultType": plain(200, "application/json", `{"jsonrpc":"2.0","id":$id,"result":{"tools":[]}}`),
		"accepted":                      plain(202, "", ""),
	} {
		u := serve(t, &upstream{era: Legacy, keeps: true})
		u.first = func(w http.ResponseWriter, r *http.Request, m sent) bool {
			if m.header.Get("Mcp-Method") == "" {
				return false
			}
			answer(w, r, m)
			return true
		}
		found, err := client(t, Config{}).Discover(t.Context(), u.at())
		want := map[bool]string{true: "2025-06-18", false: "2025-11-25"}[name == "a version"]
		if err != nil || found.Version != want {
			t.Errorf("%s: Discover() = %s, %v, want %s", name, found.Version, err, want)
		}
	}
}

func TestConnectRefusalsThatAreFinal(t *testing.T) {
	for _, c := range []struct {
		name, want string
		answer     func(http.ResponseWriter, *http.Request, sent)
	}{
		{"401", "credential (HTTP 401)", plain(401, "application/json", `{"error":"invalid_token"}`)},
		{"403", "credential (HTTP 403)", plain(403, "", "")},
		{"429", "busy (HTTP 429)", plain(429, "", "")},
		{"503", "busy (HTTP 503)", plain(503, "", "")},
		{"502", "HTTP 502 Bad Gateway", plain(502, "text/html", "<html>")},
		{"redirect", "redirects (HTTP 307", plain(307, "", "")},
		{"headers", "error -32020", plain(400, "application/json", `{"jsonrpc":"2.0","id":$id,"error":{"code":-32020,"message":"x"}}`)},
		{"capability", "error -32021: needs roots", plain(400, "application/json", `{"jsonrpc":"2.0","id":$id,"error":{"code":-32021,"message":"needs roots"}}`)},
		{"no version", "no version of MCP that is known", plain(400, "application/json", `{"jsonrpc":"2.0","id":$id,"error":{"code":-32022,"message":"x","data":{"supported":["2027-01-01"]}}}`)},
	} {
		u := serve(t, &upstream{era: Legacy, first: says("tools/list", c.answer)})
		_, err := client(t, Config{}).Discover(t.Context(), u.at())
		if failure := (*Failure)(nil); !errors.As(err, &failure) || !strings.Contains(failure.Text, c.want) {
			t.Errorf("%s: Discover() = %v, want %s", c.name, err, c.want)
		}
		if got := u.walk(); got != "tools/list" {
			t.Errorf("%s: asked %s, want the list alone", c.name, got)
		}
	}
}

func TestHandshakeMayFail(t *testing.T) {
	initialized := `{"jsonrpc":"2.0","id":$id,"result":{"protocolVersion":"2025-11-25"}}`
	for _, c := range []struct {
		name, want string
		answer     func(http.ResponseWriter, *http.Request, sent)
	}{
		{"neither", "neither MCP 2026-07-28 (HTTP 405 Method Not Allowed) nor an older version (HTTP 404 Not Found)",
			plain(404, "", "")},
		{"credential", "credential", plain(401, "", "")},
		{"error", "(error -32603)", plain(200, "application/json", `{"jsonrpc":"2.0","id":$id,"error":{"code":-32603,"message":"boom"}}`)},
		{"no version", "a version of MCP that is not known", plain(200, "application/json", `{"jsonrpc":"2.0","id":$id,"result":{}}`)},
		{"a version of the future", "a version of MCP that is not known", plain(200, "application/json", `{"jsonrpc":"2.0","id":$id,"result":{"protocolVersion":"2031-01-01"}}`)},
		{"html", "not an MCP message", plain(200, "text/html", "<html>")},
		{"a session with blanks", "session id", func(w http.ResponseWriter, r *http.Request, m sent) {
			w.Header().Set("Mcp-Session-Id", "a b")
			plain(200, "application/json", initialized)(w, r, m)
		}},
		{"an endless session", "session id", func(w http.ResponseWriter, r *http.Request, m sent) {
			w.Header().Set("Mcp-Session-Id", strings.Repeat("a", 1025))
			plain(200, "application/json", initialized)(w, r, m)
		}},
	} {
		u := serve(t, &upstream{era: Legacy, first: func(w http.ResponseWriter, r *http.Request, m sent) bool {
			if m.method == "initialize" {
				c.answer(w, r, m)
			} else {
				w.WriteHeader(405)
			}
			return true
		}})
		_, err := client(t, Config{}).Discover(t.Context(), u.at())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Discover() = %v, want %s", c.name, err, c.want)
		}
	}
}

// Whether the next call finds out anew how to speak is a matter of how this one is refused.
func TestRefusalsOfACallRarelyMakeTheEraDoubtful(t *testing.T) {
	for _, c := range []struct {
		name           string
		modern, legacy bool
		answer         func(http.ResponseWriter, *http.Request, sent)
	}{
		{"404", true, true, plain(404, "text/plain", "")},
		{"405", true, true, plain(405, "", "")},
		{"400", true, true, plain(400, "text/plain", "no session")},
		{"another version", true, true, plain(200, "application/json", `{"jsonrpc":"2.0","id":$id,"error":{"code":-32022,"message":"x"}}`)},
		{"no such method", true, true, plain(404, "application/json", `{"jsonrpc":"2.0","id":$id,"error":{"code":-32601,"message":"x"}}`)},
		{"no such tool", false, true, plain(400, "application/json", `{"jsonrpc":"2.0","id":$id,"error":{"code":-32602,"message":"x"}}`)},
		{"headers", false, true, plain(400, "application/json", `{"jsonrpc":"2.0","id":$id,"error":{"code":-32020,"message":"x"}}`)},
		{"an error", false, false, plain(200, "application/json", `{"jsonrpc":"2.0","id":$id,"error":{"code":-32603,"message":"x"}}`)},
		{"503", false, false, plain(503, "", "")},
		{"401", false, false, plain(401, "", "")},
	} {
		for era, anew := range map[Era]bool{Modern: c.modern, Legacy: c.legacy} {
			u := serve(t, &upstream{era: era, first: says("tools/call", c.answer)})
			cl := client(t, Config{})
			for range 2 {
				cl.Call(t.Context(), u.at(), "x", nil)
			}
			if want := map[bool]int{true: 2, false: 1}[anew]; strings.Count(u.walk(), "tools/list") != want {
				t.Errorf("%s, %s: two calls asked %s, want %d probes", era, c.name, u.walk(), want)
			}
		}
	}
}
