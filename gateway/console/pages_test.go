package console_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/keystile/keystile/gateway/console"
	"github.com/keystile/keystile/storage"
)

// open gets a page with a cookie.
func (h *fixture) open(path, cookie string) *httptest.ResponseRecorder {
	return h.browse(httptest.NewRequest("GET", base+path, nil), cookie)
}

// send posts a form with a cookie, as a browser does from a page of ours.
func (h *fixture) send(path, cookie string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", base+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return h.browse(r, cookie)
}

// browse sends a request, and follows where an act leads that shows something once.
func (h *fixture) browse(r *http.Request, cookie string) *httptest.ResponseRecorder {
	r.Header.Set("User-Agent", "curl/8")
	if cookie != "" {
		r.Header.Set("Cookie", cookie)
	}
	w := httptest.NewRecorder()
	h.console.ServeHTTP(w, r)
	if to := w.Header().Get("Location"); w.Code == 303 && strings.HasSuffix(to, "shown=once") {
		return h.open(to, cookie)
	}
	return w
}

var formID = regexp.MustCompile(`name="form" value="([^"]+)"`)

// formOn returns the id of the first form on a page.
func (h *fixture) formOn(w *httptest.ResponseRecorder) string {
	h.Helper()
	m := formID.FindStringSubmatch(w.Body.String())
	if m == nil {
		h.Fatalf("there is no form on %s", w.Body)
	}
	return m[1]
}

func TestPageIsShownToWhoMaySeeItAlone(t *testing.T) {
	h := newFixture(t, func(c *console.Config) { c.Nodes = twoNodes{} })
	root, eve := h.testUser("root", storage.RoleAdmin), h.testUser("eve", "")
	w := h.open("/console/nodes", root.cookie)
	if w.Code != 200 || !strings.Contains(w.Body.String(), "west") {
		t.Errorf("an administrator sees %d %s", w.Code, w.Body)
	}
	policy := w.Header().Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "require-trusted-types-for 'script'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy %q lacks %q", policy, part)
		}
	}
	if w := h.open("/console/nodes", eve.cookie); w.Code != 403 || strings.Contains(w.Body.String(), "west") {
		t.Errorf("a user without a role sees %d %s", w.Code, w.Body)
	}
	if w := h.open("/console/nodes", ""); w.Code != 401 || strings.Contains(w.Body.String(), "west") {
		t.Errorf("a stranger sees %d %s", w.Code, w.Body)
	}
	if w := h.open("/console/nowhere", root.cookie); w.Code != 404 || !strings.Contains(w.Body.String(), "<main") {
		t.Errorf("a page that there is not is %d %s", w.Code, w.Body)
	}
}
