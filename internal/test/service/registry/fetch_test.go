package registry_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
)

// documents serves documents, and counts the requests.
func documents(t *testing.T, asked *atomic.Int32) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/openapi.json", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Cookie")+r.Header.Get("Authorization")+r.Header.Get("Referer") != "" {
			t.Errorf("the request says who asks: %v", r.Header)
		}
		w.Write([]byte(standard("shop", "a")))
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		block := []byte(strings.Repeat("x", 1<<20))
		for range 17 {
			w.Write(block)
		}
	})
	mux.Handle("/once", http.RedirectHandler("/openapi.json", http.StatusFound))
	mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusFound))
	mux.Handle("/inside", http.RedirectHandler("http://169.254.169.254/latest/meta-data", http.StatusFound))
	mux.Handle("/file", http.RedirectHandler("file:///etc/passwd", http.StatusFound))
	mux.HandleFunc("/nowhere", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) })
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestDocumentIsFetchedWhereUpstreamsMayBe(t *testing.T) {
	var asked atomic.Int32
	s := documents(t, &asked)
	closed := newFixture(t)
	open := newFixture(t, func(c *registry.Config) { c.AllowPrivateUpstreams = []string{"127.0.0.1"} })
	for _, c := range []struct {
		h          *fixture
		path, says string
		asks       int32
	}{
		{closed, "/openapi.json", "at an address that is not asked from here", 0},
		{open, "/openapi.json", "", 1}, {open, "/once", "", 2},
		{open, "/loop", "redirects too often", 4}, {open, "/inside", "not asked from here", 1},
		{open, "/file", "the scheme of the URL must be http or https", 1}, {open, "/nowhere", "nowhere safe", 1},
		{open, "/none", "status 404", 1}, {open, "/large", "more than 16 MiB", 1},
	} {
		before := asked.Load()
		forms := registry.Forms{Registry: c.h.registry}
		text, err := forms.FetchDocument(t.Context(), storage.User{Sub: "mina"}, s.URL+c.path)
		if n := asked.Load() - before; n != c.asks {
			t.Errorf("%s has asked %d times, want %d", c.path, n, c.asks)
		}
		if c.says == "" {
			if err != nil || !strings.Contains(string(text), "openapi") {
				t.Errorf("%s is %.80q, %v", c.path, text, err)
			}
			continue
		}
		f := reply.FailureOf(err)
		if f.Status != 400 || !strings.Contains(f.Msg, c.says) || strings.Contains(f.Msg, "127.0.0.1") || text != nil {
			t.Errorf("%s is %.80q, %v, want %q", c.path, text, err, c.says)
		}
	}
	for _, address := range []string{"", "x", "ftp://a.example", "https://u:p@a.example", "https://",
		"http://a.example/#x", "gopher://a.example", "http://a b", "http://[::1"} {
		if _, err := (registry.Forms{Registry: open.registry}).FetchDocument(t.Context(), storage.User{Sub: "mina"},
			address); reply.FailureOf(err).Status != 400 {
			t.Errorf("%q is %v", address, err)
		}
	}
}

func TestPreviewSuggestsANameAndAServerByTheDocument(t *testing.T) {
	h := newFixture(t)
	mina := h.user("mina", storage.RoleDeveloper)
	const paths = `,"paths":{"/a":{"get":{"operationId":"a"}}}}`
	for document, want := range map[string][2]string{
		`{"openapi":"3.0.0","info":{"title":"Swagger Petstore - OpenAPI 3.0"},"servers":[{"url":"/api/v3"}]`: {"petstore",
			"/api/v3"},
		`{"openapi":"3.1.0","info":{"title":"The Book Shop API v2"},"servers":[{"url":"https://{r}.x.example/{v}",` +
			`"variables":{"r":{"default":"eu"},"v":{"default":"v1"}}}]`: {"book-shop", "https://eu.x.example/v1"},
		`{"swagger":"2.0","info":{"title":"Pets"},"host":"p.example","basePath":"/v2","schemes":["http"]`: {"pets",
			"http://p.example/v2"},
		`{"swagger":"2.0","info":{"title":"商店"},"host":"p.example","schemes":["https","http"]`: {"", "https://p.example"},
		`{"openapi":"3.0.0","info":{"title":"API 3.0"}`:                                        {"", ""},
		`{"openapi":"3.0.0","info":{"title":"register"},"servers":[{"url":7}]`:                 {"", ""},
		`{"openapi":"3.0.0","info":{"title":"one two three four five six seven"},"servers":[{"url":"https://{a"}]`: {
			"one-two-three-four-five", "https://{a"},
		`{"openapi":"3.0.0","info":7,"servers":[{"url":"{a}","variables":{"a":{"default":"{a}{a}"}}}]`: {"", "a}a}"},
	} {
		body := []byte(`{"openapi":` + document + paths + `}`)
		c, tools, _, err := registry.Forms{Registry: h.registry}.PreviewBody(t.Context(), mina, body)
		if err != nil || len(tools) != 1 || c.Member != want[0] || c.UpstreamURL != want[1] {
			t.Errorf("%s suggests %q and %q, %v; want %q", document, c.Member, c.UpstreamURL, err, want)
		}
	}
	c, _, _, err := registry.Forms{Registry: h.registry}.PreviewBody(t.Context(), mina, []byte(standard("mine", "a")))
	if err != nil || c.Member != "mine" {
		t.Errorf("a name that is there becomes %q, %v", c.Member, err)
	}
}
