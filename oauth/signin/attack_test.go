package signin

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/internal/account"
	"github.com/keystile/keystile/oauth/signin/internal/web"
)

// everything is a fixture with all features, and its routes.
func everything(t *testing.T) (h *providerFixture, routes []reply.Route) {
	t.Helper()
	h = newProviderFixture(t, func(c *Config) {
		c.Mailer, c.SignUp, c.Revoker = &fakeMailer{}, SignUpOpen, &revoker{}
	})
	routes = h.routes
	if len(routes) < 30 {
		t.Fatalf("%d routes: something is missing", len(routes))
	}
	return h, routes
}

// Cross-site request forgery, at every endpoint that changes something.
func TestFormOfAnotherSiteDoesNothing(t *testing.T) {
	h, routes := everything(t)
	mina := h.enterMina()
	for _, route := range routes {
		if !slices.Contains(route.Methods, http.MethodPost) {
			continue
		}
		path := strings.ReplaceAll(route.Path, "{id}", "AAAAAAAAAAAAAAAAAAAAAAAAAA")
		for _, site := range []string{"cross-site", "same-site"} {
			r := post("cookie", mina)
			r.URL.Path = path
			r.Header.Set("Sec-Fetch-Site", site)
			if a := h.do(r); a.Code != http.StatusForbidden || len(a.Result().Cookies()) != 0 {
				t.Errorf("POST %s, %s = %d %v, want 403 and no cookie", path, site, a.Code, a.Result().Cookies())
			}
		}
		old := post("cookie", mina) // of a browser that says only the Origin
		old.URL.Path = path
		old.Header.Del("Sec-Fetch-Site")
		old.Header.Set("Origin", "https://id.example.com.evil.example")
		if a := h.do(old); a.Code != http.StatusForbidden {
			t.Errorf("POST %s with a foreign Origin = %d, want 403", path, a.Code)
		}
	}
}

// Clickjacking, sniffing and caching, on every page.
func TestPagesAreNotFramedSniffedOrCached(t *testing.T) {
	h, routes := everything(t)
	mina := h.enterMina()
	pages := 0
	for _, route := range routes {
		if route.Path == account.ScriptPath || slices.Contains(ExemptPaths(), route.Path) &&
			strings.HasSuffix(route.Path, ".js") || !slices.Contains(route.Methods, http.MethodGet) {
			continue
		}
		for _, cookies := range [][]string{nil, {mina}} {
			path := strings.ReplaceAll(route.Path, "{id}", "AAAAAAAAAAAAAAAAAAAAAAAAAA")
			a := h.do(get(path+"?query="+`%22%3E%3Cscript%3Ealert(1)%3C/script%3E`, cookies...))
			if a.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("GET %s may be kept: %v", path, a.Header())
			}
			if !strings.HasPrefix(a.Header().Get("Content-Type"), "text/html") {
				continue
			}
			pages++
			csp := a.policy()
			if a.Header().Get("X-Frame-Options") != "DENY" || !strings.Contains(csp, "frame-ancestors 'none'") ||
				!strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "base-uri 'none'") ||
				strings.Contains(csp, "unsafe") || a.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("GET %s: %v", path, a.Header())
			}
			if strings.Contains(a.body, "<script>") || strings.Contains(a.body, " style=") ||
				strings.Contains(a.body, " onclick") {
				t.Errorf("GET %s holds a script or a style of its own: %s", path, a.body)
			}
		}
	}
	if pages < 20 {
		t.Errorf("%d pages were looked at", pages)
	}
}

// Open redirects: whatever a link carries along, nothing leads elsewhere from here.
func TestLinksNeverLeadToAnotherSite(t *testing.T) {
	h, routes := everything(t)
	mina := h.enterMina()
	for _, evil := range []string{"//evil.example", "https://evil.example", `\\evil.example`, "/\\evil.example", "%0d%0aLocation:https://evil.example", "redirect_uri=https://evil.example&client_id=ksacme", "javascript:alert(1)"} {
		for _, route := range routes {
			if !slices.Contains(route.Methods, http.MethodGet) || strings.HasPrefix(route.Path, web.WithPath) {
				continue // who leaves for a provider goes where the operator has said
			}
			path := strings.ReplaceAll(route.Path, "{id}", "AAAAAAAAAAAAAAAAAAAAAAAAAA")
			for _, name := range []string{"query", "next", "return_to", "redirect_uri"} {
				a := h.do(get(path+"?"+name+"="+strings.NewReplacer("&", "%26", "\\", "%5C", " ", "%20").Replace(evil), mina))
				to := a.Header().Get("Location")
				if to != "" && (!strings.HasPrefix(to, "/oauth/") || strings.HasPrefix(to, "//")) {
					t.Errorf("GET %s?%s=%s leads to %q", path, name, evil, to)
				}
				if strings.Contains(a.body, `href="https://evil`) || strings.Contains(a.body, `href="//evil`) || strings.Contains(a.body, `href="javascript:`) || strings.Contains(a.policy(), "evil") {
					t.Errorf("GET %s?%s=%s offers it: %s", path, name, evil, a.body)
				}
			}
		}
	}
}
