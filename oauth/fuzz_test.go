package oauth_test

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// For every body the token endpoint answers JSON, never a 5xx, and never tokens unless the right
// secret was sent exactly once.
func FuzzTokenForm(f *testing.F) {
	for _, body := range []string{
		"", "grant_type=client_credentials", "grant_type=client_credentials&client_id=x&client_secret=y",
		"grant_type=authorization_code&code=x&redirect_uri=https%3A%2F%2Fapp.example.com%2F",
		"grant_type=refresh_token&refresh_token=rt_x",
		"a=1&a=2", "%zz", "a;b", "=&=&=", "grant_type=client_credentials&client_id=%00", "scope=%ff",
		"grant_type=authorization_code&code=%F0%9F%94%91",
		"grant_type[]=x", "{\"grant_type\":\"client_credentials\"}", strings.Repeat("a=", 1000),
	} {
		f.Add(body)
	}
	h := newFixture(f)
	f.Fuzz(func(t *testing.T, body string) {
		for _, path := range []string{"/oauth/token", "/oauth/revoke"} {
			r := httptest.NewRequest("POST", path, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			w := h.serve(r)
			var says struct{ Errcode int }
			if err := json.Unmarshal(w.Body.Bytes(), &says); err != nil || says.Errcode == 0 || w.Code < 400 || w.Code >= 500 {
				t.Errorf("%s with %q = %d %s, want a refusal in JSON", path, body, w.Code, w.Body)
			}
		}
	})
}

// For every query authorize never breaks, and never sends a browser anywhere but to the
// application's own hosts.
func FuzzAuthorizeQuery(f *testing.F) {
	for _, query := range []string{
		"", "response_type=code", "redirect_uri=https://app.example.com/cb",
		"redirect_uri=https://evil.example/&redirect_uri=https://app.example.com/",
		"redirect_uri=https%3A%2F%2Fapp.example.com%2Fcb%3Fa%3Db&response_type=code&state=%0d%0aX",
		"redirect_uri=https://app.example.com%40evil.example/",
		"redirect_uri=https://app.example.com/cb&response_type=code&prompt=none&max_age=0", "redirect_uri=//evil.example",
		"%",
		"redirect_uri=https://app.example.com/cb&response_type=code&code_challenge=x&nonce=%F0%9F%94%91",
	} {
		f.Add(query)
	}
	h := newFixture(f)
	f.Fuzz(func(t *testing.T, query string) {
		if strings.ContainsFunc(query, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' }) {
			return // no request line carries this
		}
		w := h.serve(httptest.NewRequest("GET", "/oauth/authorize?client_id="+h.app.ID+"&"+query, nil))
		loc := w.Header().Get("Location")
		switch to, err := url.Parse(loc); {
		case w.Code >= 500:
			t.Errorf("authorize?%s = %d", query, w.Code)
		case strings.ContainsAny(loc, "\r\n"):
			t.Errorf("authorize?%s: Location %q splits the header", query, loc)
		case loc != "" && (err != nil || !strings.EqualFold(to.Hostname(), "app.example.com") || to.Scheme != "https"):
			t.Errorf("authorize?%s redirects to %q", query, loc)
		}
	})
}
