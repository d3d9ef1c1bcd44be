package router

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

func TestLongestPatternThatFitsIsTaken(t *testing.T) {
	var m Router
	for _, pattern := range []string{"/", "/oauth/", "/oauth/signin/", "/connect"} {
		m.Handle(pattern, http.HandlerFunc(func(w http.ResponseWriter,
			r *http.Request) {
			fmt.Fprint(w, pattern+" "+r.URL.Path)
		}))
	}
	for path, want := range map[string]string{
		"/oauth/signin": "/oauth/signin/", "/oauth/signin/x": "/oauth/signin/", "/oauth/signinx": "/oauth/",
		"/oauth/token": "/oauth/", "/oauth": "/oauth/",
		"/oauthx": "/", "/": "/", "/x": "/", "//oauth": "/", "/OAUTH/token": "/", "/oauth/../x": "/oauth/",
		"/connect": "/connect", "/connect/": "/", "/connect.php": "/",
	} {
		w := httptest.NewRecorder()
		m.ServeHTTP(w, &http.Request{Method: http.MethodGet, URL: &url.URL{Path: path}})
		if got := w.Body.String(); got != want+" "+path {
			t.Errorf("%s is answered by %q, want %s", path, got, want)
		}
	}
}

func TestRouterFindsNothingThatFitsNoPattern(t *testing.T) {
	var m Router
	m.Handle("/oauth/", http.NotFoundHandler())
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest("GET", "/x", nil))
	if w.Code != 404 {
		t.Errorf("answered %d, want 404", w.Code)
	}
}
