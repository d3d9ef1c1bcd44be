package roundrobin

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A client that can ask for no scope would otherwise end at a challenge to ask for more.
func TestClientOfTheBusThatAsksForNoScopeMayUseItsTools(t *testing.T) {
	onNodes(t, func(t *testing.T, c *cluster, p *person) {
		bus := origin + "/api/mcp"
		p.enter()
		for resource, want := range map[string]string{
			bus: "tools", bus + "/": "tools", bus + "/b/support": "tools:b:support", origin: "openid profile",
			"": "openid profile",
		} {
			for _, asked := range []string{"", "offline_access", "openid", "-"} {
				g := p.agent()
				pairs := []string{"response_type", "code", "client_id", g.id, "redirect_uri", redirect, "code_challenge", challenge,
					"code_challenge_method", "S256", "scope", asked}
				if resource != "" {
					pairs = append(pairs, "resource", resource)
				}
				q := form(pairs...)
				if asked == "-" {
					q.Del("scope")
				}
				code := p.submit(p.get("/oauth/authorize?"+q.Encode()), "/oauth/signin/consent", "allow", "1").brought("code")
				a := g.send(p, "grant_type", "authorization_code", "code", code, "redirect_uri", redirect, "code_verifier",
					verifier)
				if asked == "openid" {
					if a.member("scope") != "openid" {
						t.Errorf("for %s a client that asks for openid is granted %s", resource, a.member("scope"))
					}
					continue
				}
				if a.member("scope") != want {
					t.Fatalf("for %q a client that asks for %q is granted %s, want %s", resource, asked, a.member("scope"), want)
				}
				if resource == bus {
					r := httptest.NewRequest(http.MethodPost, bus, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
					r.Header.Set("Content-Type", "application/json")
					r.Header.Set("Authorization", "Bearer "+a.member("access_token"))
					if a := p.send(r); a.status != 200 {
						t.Errorf("tools/list = %d %s", a.status, a.body)
					}
				}
				again := p.get("/oauth/authorize?" + q.Encode() + "&prompt=none")
				if again.brought("code") == "" {
					t.Errorf("what was allowed is asked again")
				}
			}
		}
		a := p.post("/oauth/device_authorization", "client_id", "ksapp", "client_secret", appSecret, "resource", bus)
		d := p.follow(p.get(strings.TrimPrefix(a.member("verification_uri_complete"), origin)))
		asks := p.submit(d, "/oauth/device", "user_code", a.member("user_code"))
		if !strings.Contains(asks.body, "Use tools on your behalf") {
			t.Errorf("a device that asks for no scope of the bus is asked about as %d %s", asks.status, asks.body)
		}
	})
}
