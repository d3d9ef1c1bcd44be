package signin

import (
	"net/url"
	"testing"
)

func TestQueryCannotLeadAnywhereElse(t *testing.T) {
	rm := newFixture(t, nil)
	for _, query := range []string{
		"//evil.example", "\\\\evil.example", "/\\evil.example/", "https://evil.example/", "@evil.example", ".evil.example",
		"?redirect_uri=//evil.example", "javascript:alert(1)", "a=1#//evil.example", "é=ü",
	} {
		a := rm.do(post("username", "mina", "password", password, "query", query))
		to, err := url.Parse(origin + "/oauth/signin")
		must(t, err)
		to, err = to.Parse(a.Header().Get("Location"))
		must(t, err)
		if a.Code != 303 || to.Scheme+"://"+to.Host+to.Path != origin+"/oauth/authorize" || to.Fragment != "" {
			t.Errorf("%q leads to %q, want /oauth/authorize here", query, to)
		}
	}
}

func TestQueryCannotSplitAHeader(t *testing.T) {
	rm := newFixture(t, nil)
	for _, query := range []string{"a\r\nSet-Cookie: x=1", "a\nb", "a\rb", "a\x00b", "a b", "a\tb", "a\x7fb", "a\x1fb"} {
		a := rm.do(post("username", "mina", "password", password, "query", query))
		if a.Code != 400 || a.cookie() != "" || a.Header().Get("Location") != "" {
			t.Errorf("%q = %d with cookie %q, want 400 without one", query, a.Code, a.cookie())
		}
	}
}
