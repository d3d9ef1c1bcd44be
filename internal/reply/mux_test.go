package reply_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/keystile/keystile/internal/reply"
)

// Routes without wildcards are found as http.ServeMux finds them, however a path is written.
func TestMuxFindsWhatServeMuxFinds(t *testing.T) {
	var routes []reply.Route
	mux := http.NewServeMux()
	for _, path := range []string{"/a/b", "/a/{x}", "/a/{x}/c", "/d/", "/d/e", "/{$}", "/.well-known/x"} {
		routes = append(routes, reply.Route{Path: path, Methods: []string{"GET"},
			Handle: func(w http.ResponseWriter, r *http.Request) error {
				_, err := fmt.Fprint(w, r.Pattern, " ", r.PathValue("x"))
				return err
			}})
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Pattern, " ", r.PathValue("x")) })
	}
	m := reply.NewMux(slog.New(slog.DiscardHandler), routes...)
	for _, target := range []string{
		"/", "/a", "/a/", "/a/b", "/a/b/", "/a/c", "/a/b/c", "/a/b/d", "/a%2Fb", "/a/%62", "/%61/b", "/a%2fb/c", "/a/b%2F",
		"/A/b", "/d", "/d/", "/d/e", "/d/f/g", "/d%2Fe",
		"/.well-known/x", "/%2ewell-known/x", "/a/b?x=/a/c", "/a/b;c", "/a/b%20",
	} {
		got, want := httptest.NewRecorder(), httptest.NewRecorder()
		m.ServeHTTP(got, httptest.NewRequest("GET", target, nil))
		mux.ServeHTTP(want, httptest.NewRequest("GET", target, nil))
		if got.Code != want.Code || got.Code == 200 && got.Body.String() != want.Body.String() {
			t.Errorf("%s: %d %q, ServeMux finds %d %q", target, got.Code, got.Body, want.Code, want.Body)
		}
	}
	w := httptest.NewRecorder()
	if m.ServeHTTP(w, httptest.NewRequest("POST", "/a/b", nil)); w.Code != 405 || w.Header().Get("Allow") != "GET" {
		t.Errorf("another method: %d, Allow: %q", w.Code, w.Header().Get("Allow"))
	}
}
