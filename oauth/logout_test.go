package oauth_test

import (
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

func (h *fixture) logout(method string, header map[string]string, pairs ...string) *httptest.ResponseRecorder {
	v := form(pairs...)
	r := httptest.NewRequest(method, issuer+"/oauth/logout?"+v.Encode(), nil)
	if method == "POST" {
		r = httptest.NewRequest(method, issuer+"/oauth/logout", strings.NewReader(v.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	return h.serve(r)
}

// Decision 17.
func TestLogoutConfirmsFirstAndThenRedirectsBack(t *testing.T) {
	h := newFixture(t)
	back := []string{"client_id", h.app.ID, "post_logout_redirect_uri", "https://app.example.com/bye?x=1", "state", `a"b`}
	w := h.logout("GET", nil, back...)
	if w.Code != 200 || h.browser.session == nil {
		t.Fatalf("GET logout = %d, signed out %t, want a question and no change", w.Code, h.browser.session == nil)
	}
	if csp := w.Header().Get("Content-Security-Policy"); csp == "" || strings.Contains(csp, "form-action") {
		t.Errorf("CSP = %q holds what follows the form to this site", csp)
	}
	for _, field := range []string{`name="client_id"`, `value="https://app.example.com/bye?x=1"`, `value="a&#34;b"`} {
		if !strings.Contains(w.Body.String(), field) {
			t.Errorf("the form lacks %s: %s", field, w.Body)
		}
	}
	w = h.logout("POST", nil, back...)
	if w.Code != 302 || w.Header().Get("Location") != "https://app.example.com/bye?x=1&state="+url.QueryEscape(`a"b`) || h.browser.session != nil {
		t.Errorf("POST logout = %d to %q, signed out %t", w.Code, w.Header().Get("Location"), h.browser.session == nil)
	}
}

func TestLogoutWithoutAnApplicationSaysSo(t *testing.T) {
	h := newFixture(t)
	w := h.logout("POST", nil)
	if w.Code != 200 || h.browser.session != nil || !regexp.MustCompile(`signed out`).MatchString(w.Body.String()) {
		t.Errorf("POST logout = %d %s", w.Code, w.Body)
	}
}

func TestLogoutNeverRedirectsToAnUnregisteredAddress(t *testing.T) {
	h := newFixture(t)
	for name, pairs := range map[string][]string{
		"foreign host":   {"client_id", h.app.ID, "post_logout_redirect_uri", "https://evil.example/"},
		"no application": {"post_logout_redirect_uri", "https://app.example.com/"},
		"unknown client": {"client_id", "nobody", "post_logout_redirect_uri", "https://app.example.com/"},
		"broken hint":    {"id_token_hint", "x", "post_logout_redirect_uri", "https://app.example.com/"},
	} {
		for _, method := range []string{"GET", "POST"} {
			h.browser.signIn(h.user)
			w := h.logout(method, nil, append(pairs, "state", "xyz")...)
			if w.Code != 200 || w.Header().Get("Location") != "" || linkOf(w) != nil ||
				strings.Contains(w.Body.String(), "xyz") {
				t.Errorf("%s: %s logout = %d to %q, want a page that leads nowhere: %s", name, method, w.Code,
					w.Header().Get("Location"), w.Body)
			}
			if out := h.browser.session == nil; out != (method == "POST") {
				t.Errorf("%s: after %s signed out: %t", name, method, out)
			}
		}
	}
}

func TestLogoutIsNotTriggeredByAnotherSite(t *testing.T) {
	h := newFixture(t)
	for _, header := range []map[string]string{
		{"Sec-Fetch-Site": "cross-site"},
		{"Sec-Fetch-Site": "same-site"},
		{"Origin": "https://evil.example"},
	} {
		if w := h.logout("POST", header); w.Code != 303 || w.Header().Get("Location") != "/oauth/logout" ||
			h.browser.session == nil {
			t.Errorf("%v: POST logout = %d, signed out %t, want a GET and no change", header, w.Code, h.browser.session == nil)
		}
	}
	if w := h.logout("POST", map[string]string{"Origin": issuer}); w.Code != 200 {
		t.Errorf("POST logout from our own page = %d, want 200", w.Code)
	}
}
