package gateway_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/gateway"
)

const page = "https://console.example.com"

// shared opens two prefixes, one to every page and one to a listed one.
func shared(c *gateway.Config) {
	c.HSTS = true
	c.CORS = gateway.CORS{Open: []string{"/open/"}, Shared: []string{"/shared/"}, Origins: []string{page}}
	c.ExemptPaths = []string{"/open/free/"}
}

func TestHandlerThatWritesIntoAHeaderChangesNoLaterAnswer(t *testing.T) {
	h := newFixture(t, shared)
	var spoil bool
	front := h.gateway.Front(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for _, values := range w.Header() {
			for i := range values {
				if spoil {
					values[i] = "https://evil.example"
				}
			}
		}
	}))
	for _, path := range []string{"/open/x", "/open/free/x", "/shared/x"} {
		send := func(method string, spoils bool) http.Header {
			spoil = spoils
			r, w := httptest.NewRequest(method, path, nil), httptest.NewRecorder()
			r.Header.Set("Origin", page)
			r.Header.Set("Access-Control-Request-Method", "POST")
			front.ServeHTTP(w, r)
			return w.Header()
		}
		for _, method := range []string{"GET", "OPTIONS"} {
			before := send(method, false)
			if before.Get("Access-Control-Allow-Origin") == "" || before.Get("Strict-Transport-Security") == "" {
				t.Fatalf("%s %s: %v", method, path, before)
			}
			for _, values := range send(method, true) { // what stands before the gateway may write too
				for i := range values {
					values[i] = "https://evil.example"
				}
			}
			for name, values := range send(method, false) {
				if slices.Contains(values, "https://evil.example") {
					t.Errorf("%s %s: a later answer has %s: %q", method, path, name, values)
				}
			}
		}
	}
}

func TestVaryThatIsThereAlreadyStays(t *testing.T) {
	h := newFixture(t, shared)
	front := h.gateway.Front(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for path, want := range map[string]string{"/shared/x": "Accept-Encoding, Cookie, Origin",
		"/open/x": "Accept-Encoding, Cookie", "/x": "Accept-Encoding, Cookie"} {
		for _, method := range []string{"GET", "OPTIONS"} {
			r, w := httptest.NewRequest(method, path, nil), httptest.NewRecorder()
			r.Header.Set("Origin", page)
			r.Header.Set("Access-Control-Request-Method", "POST")
			w.Header()["Vary"] = []string{"Accept-Encoding", "Cookie"}
			front.ServeHTTP(w, r)
			if got := strings.Join(w.Header()["Vary"], ", "); got != want {
				t.Errorf("%s %s: Vary: %q, want %q", method, path, got, want)
			}
		}
	}
}

// A Vary for other reasons, such as compression before the gateway, says nothing about origins.
func TestServiceSpeaksOfOriginsWhereOnlySomethingElseVaries(t *testing.T) {
	for vary, want := range map[string]string{"Accept-Encoding": page, "Accept-Encoding, Origin": ""} {
		for _, announced := range []bool{false, true} {
			h := newFixture(t, func(c *gateway.Config) { c.CORS.Open = []string{"/elsewhere/"} })
			user := behind(t, h, func(w http.ResponseWriter, _ *http.Request) {
				if announced {
					w.WriteHeader(103)
				}
				w.Header().Set("Access-Control-Allow-Origin", page)
				io.WriteString(w, "answer")
			})
			inner := h.handler
			h.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Vary", vary)
				inner.ServeHTTP(w, r)
			})
			r, _ := http.NewRequest("GET", h.open().URL+"/svc/x", nil)
			r.Header.Set("Authorization", "Bearer "+user)
			resp := must(http.DefaultClient.Do(r))(t)
			resp.Body.Close()
			if got := resp.Header.Get("Access-Control-Allow-Origin"); got != want || resp.Header.Get("Vary") != vary {
				t.Errorf("Vary: %s, announced %t: %v, want the origin %q", vary, announced, resp.Header, want)
			}
		}
	}
}

func TestCORSConfigRefusesWhatNoBrowserMatches(t *testing.T) {
	h := newFixture(t)
	cors := gateway.CORS{
		Origins: []string{"https://a.example/", "https://b.example:443", page, "*"}, Shared: []string{"api/console/"},
		Open: []string{"api/"},
	}
	_, err := gateway.New(t.Context(), gateway.Config{Store: h.store, Tokens: h.tokens, Trail: h.audit, Log: quiet,
		CORS: cors})
	if err == nil {
		t.Fatal("all of it was taken")
	}
	for _, want := range []string{"write https://a.example,", "write https://b.example", `"*" is not an origin`, `CORS.Shared: "api/console/"`, `CORS.Open: "api/"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v, which does not say %s", err, want)
		}
	}
	if strings.Contains(err.Error(), page) {
		t.Errorf("%v", err)
	}
}
