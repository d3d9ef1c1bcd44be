package console_test

import (
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/gateway/console"
)

// typedBack matches the text that a field of a filter shows again: it turns no text around but its own.
var typedBack = regexp.MustCompile(`(?:value|placeholder)="[^"]*"`)

// A page or an endpoint answers or refuses any query, and nothing fails.
func TestHostileQueriesAndPathsAreNoFailuresOfOurs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	s := newScene(t)
	values := []string{"", "\x00", "\xff\xfe", "\u202emoc.live", "//evil.example/", "-1", "99999999999999999999", "../..",
		"x\x1fy", "~", "%", "{}", strings.Repeat("A", 5000), "2026-13-45", "closed.", "=="}
	names := []string{"after", "next", "q", "from", "to", "month", "client_id", "user", "app", "owner", "address", "id",
		"by", "granularity", "status", "kind", "member", "done", "lang", "class"}
	n := 0
	for _, q := range served(console.Parts(s.console)) {
		if q.method != "GET" {
			continue
		}
		path := s.fill(q.path, "admin", q.path)
		for _, value := range values {
			for _, target := range []string{path + "?" + everywhere(names, value), path + "?" + value + "&after=%zz;x",
				s.spoiled(q.path, value)} {
				u := &url.URL{Path: target}
				if at, query, ok := strings.Cut(target, "?"); ok {
					u = &url.URL{Path: at, RawQuery: query}
				}
				r := httptest.NewRequest("GET", base+"/", nil)
				r.URL.Path, r.URL.RawQuery = u.Path, u.RawQuery
				w := s.browse(r, s.who["admin"].cookie)
				if n++; w.Code >= 500 {
					t.Errorf("%s with %.20q is %d", q.path, value, w.Code)
				}
				if at := w.Header().Get("Location"); strings.Contains(at, "evil") {
					t.Errorf("%s with %.20q leads to %s", q.path, value, at)
				}
			}
		}
		for _, name := range names {
			for _, value := range values[:6] {
				w := s.open(path+"?"+url.Values{name: {value}}.Encode(), s.who["admin"].cookie)
				if n++; w.Code >= 500 || strings.Contains(typedBack.ReplaceAllString(w.Body.String(), ""), "\u202e") {
					t.Errorf("%s?%s=%.20q is %d", q.path, name, value, w.Code)
				}
			}
		}
	}
	what, _ := s.written.since()
	// of the page of the service's health
	what = slices.DeleteFunc(what, func(doc string) bool { return doc == "probe write" })
	if len(what) > 0 || n < 10_000 {
		t.Errorf("%d requests wrote %v", n, what)
	}
}

func everywhere(names []string, value string) string {
	q := url.Values{}
	for _, name := range names {
		q.Set(name, value)
	}
	return q.Encode()
}

// spoiled puts a value into each brace of a path.
func (s *scene) spoiled(path, value string) string {
	return braces.ReplaceAllString(path, strings.NewReplacer("/", "", "$", "", "{", "", "}", "", ".", "x").Replace(value))
}
