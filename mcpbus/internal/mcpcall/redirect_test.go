package mcpcall

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// moving sends every request for another path than the one served elsewhere.
func moving(u *upstream, status int, served, location string) *upstream {
	u.first = func(w http.ResponseWriter, r *http.Request, m sent) bool {
		if r.URL.RequestURI() == served {
			return false
		}
		w.Header().Set("Location", strings.ReplaceAll(location, "$origin", u.server.URL))
		w.WriteHeader(status)
		return true
	}
	return u
}

func TestRedirectByASlashIsFollowed(t *testing.T) {
	for _, c := range []struct {
		asked, served, location string
		status                  int
	}{
		{"/mcp", "/mcp/", "/mcp/", 307}, {"/mcp", "/mcp/", "$origin/mcp/", 308}, {"/mcp/", "/mcp", "/mcp", 307},
		{"/mcp?a=1", "/mcp/?a=1", "/mcp/?a=1", 307},
		{"/a%2Fb", "/a%2Fb/", "/a%2Fb/", 308}, {"/mcp", "/mcp/", "mcp/", 307},
	} {
		for _, era := range []Era{Modern, Legacy} {
			u := moving(serve(t, &upstream{era: era, keeps: era == Legacy}), c.status, c.served, c.location)
			r, err := client(t, Config{}).Call(t.Context(), Upstream{URL: u.server.URL + c.asked, AuthType: "bearer",
				Secret: secret("k")}, "x", nil)
			if last := u.last(); err != nil || r.IsError || last.method != "tools/call" ||
				last.header.Get("Authorization") != "Bearer k" || string(last.params["name"]) != `"x"` {
				t.Errorf("%s from %s to %s: %s, %v; asked %s", era, c.asked, c.location, texts(r), err, u.walk())
			}
		}
	}
}

func TestRedirectsOfAnyOtherKindAreNotFollowed(t *testing.T) {
	other := serve(t, &upstream{era: Legacy})
	for _, c := range []struct {
		location string
		status   int
	}{
		{"/mcp/", 301}, {"/mcp/", 302}, {"/mcp/", 303}, {other.server.URL + "/mcp/", 307}, {"/other", 307},
		{"/mcp//", 307}, {"/mcp", 307}, {"/", 307}, {"", 307},
		{"/mcp/?q=1", 307}, {"/mcp/#x", 307}, {"//user@$host/mcp/", 307}, {"https://$host/mcp/", 307}, {"/MCP/", 308},
		{"/mcp%2F", 308}, {"http://[::1/mcp/", 308},
	} {
		u := serve(t, &upstream{era: Legacy})
		location := strings.ReplaceAll(c.location, "$host", strings.TrimPrefix(u.server.URL, "http://"))
		moving(u, c.status, "nowhere", location)
		r, err := client(t, Config{}).Call(t.Context(), u.at(), "x", nil)
		if err != nil || !r.IsError || !strings.Contains(texts(r), fmt.Sprintf("redirects (HTTP %d", c.status)) ||
			u.walk() != "tools/list" || other.walk() != "" {
			t.Errorf("%d to %s: %s, %v; asked %s and elsewhere %q", c.status, location, texts(r), err, u.walk(),
				other.walk())
		}
	}
	u := moving(serve(t, &upstream{era: Legacy}), 307, "nowhere", "/mcp/") // which leads to itself
	if r, err := client(t, Config{}).Call(t.Context(), u.at(), "x", nil); err != nil || !r.IsError ||
		u.walk() != "tools/list, tools/list" {
		t.Errorf("a redirect that leads to itself: %s, %v; asked %s", texts(r), err, u.walk())
	}
}
