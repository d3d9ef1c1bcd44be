package gateway_test

import (
	"testing"

	"github.com/keystile/keystile/gateway"
)

// Decision 31.
func TestOriginReadsWhatIsReachedByToken(t *testing.T) {
	h := newFixture(t)
	for _, path := range []string{
		"/oauth/token", "/oauth/token.php", "/oauth/revoke", "/oauth/revoke.php", "/oauth/userinfo", "/oauth/userinfo.php",
		"/oauth/jwks", "/oauth/jwks.php",
		"/oauth/register", "/oauth/register.php", "/oauth/register/ks-x", "/register", "/oauth/device_authorization",
		"/oauth/device_authorization.php",
		"/.well-known/openid-configuration", "/.well-known/oauth-authorization-server", "/api/v1/quota", "/api/v1/usage",
		"/api/v1/apps", "/api/mcp", "/api/mcp/b/support",
	} {
		a := h.call("POST", path, "", "Origin", "https://any.example", "from", "203.0.113.1:1")
		if a.header.Get("Access-Control-Allow-Origin") != "*" || a.header.Get("Access-Control-Allow-Credentials") != "" ||
			a.header.Get("Access-Control-Expose-Headers") != "*" {
			t.Errorf("%s: %v", path, a.header)
		}
		a = h.want(h.call("OPTIONS", path, "", "Origin", "https://any.example", "Access-Control-Request-Method", "POST",
			"Access-Control-Request-Headers", "authorization"), 204, "preflight of "+path)
		if a.header.Get("Access-Control-Allow-Headers") != "*, Authorization" ||
			a.header.Get("Access-Control-Allow-Methods") == "" || a.header.Get("Access-Control-Allow-Credentials") != "" ||
			a.text != "" {
			t.Errorf("preflight of %s: %v %q", path, a.header, a.text)
		}
	}
}

func TestCORSGivesNoOriginWhatIsReachedByCookie(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) { c.PerAddress = 100 })
	for _, path := range []string{"/oauth/authorize", "/oauth/authorize.php", "/oauth/signin", "/oauth/signin/consent",
		"/oauth/account", "/oauth/logout", "/", "/demo", "/api/mcpx", "/registered", "/oauth/tokens", "/API/v1/quota"} {
		for _, method := range []string{"GET", "POST", "OPTIONS"} {
			a := h.call(method, path, "", "Origin", "https://any.example", "Access-Control-Request-Method", "POST")
			for name := range a.header {
				if len(name) > 14 && name[:14] == "Access-Control" {
					t.Errorf("%s %s: %s: %s", method, path, name, a.header.Get(name))
				}
			}
		}
	}
}

func TestCORSAllowsCookiesToListedOriginsOnly(t *testing.T) {
	const console = "https://console.example.com"
	h := newFixture(t, func(c *gateway.Config) {
		c.CORS = gateway.CORS{Shared: []string{"/api/console/"}, Origins: []string{console}}
	})
	for origin, listed := range map[string]bool{
		console: true, "https://console.example.com.evil.example": false, "http://console.example.com": false,
		"https://evil.example": false,
		"null":                 false, "https://CONSOLE.example.com": false, "https://console.example.com:443": false,
		"*": false, "": false,
	} {
		for _, method := range []string{"POST", "OPTIONS"} {
			a := h.call(method, "/api/console/capabilities", "", "Origin", origin, "Access-Control-Request-Method", "POST")
			if a.header.Get("Vary") != "Origin" {
				t.Errorf("%s %q: Vary: %q", method, origin, a.header.Get("Vary"))
			}
			allowed, credentials := a.header.Get("Access-Control-Allow-Origin"), a.header.Get("Access-Control-Allow-Credentials")
			if listed && (allowed != origin || credentials != "true") || !listed && (allowed != "" || credentials != "") {
				t.Errorf("%s %q: allowed %q, credentials %q", method, origin, allowed, credentials)
			}
		}
	}
	if a := h.call("POST", "/api/console/x", "", "Origin", console, "Origin",
		console); a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("two origins are one too many")
	}
}

func TestPreflightIsAnsweredBeforeRateAndToken(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) { c.PerAddress = 1 })
	for range 100 {
		h.want(h.call("OPTIONS", "/api/v1/quota", "", "Origin", "https://a.example", "Access-Control-Request-Method", "GET"),
			204, "a preflight")
	}
	h.want(h.call("GET", "/oauth/jwks", ""), 200, "they counted for nothing")
	h.want(h.call("GET", "/oauth/jwks", "", "Origin", "https://a.example"), 429, "over the rate")
	a := h.want(h.call("OPTIONS", "/api/v1/quota", "", "Origin", "https://a.example", "Access-Control-Request-Method",
		"GET"), 204, "over the rate, a preflight")
	if a.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%v", a.header)
	}
	a = h.call("GET", "/api/v1/quota", "", "Origin", "https://a.example")
	if a.status != 429 || a.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("a page cannot read why it is refused: %d %v", a.status, a.header)
	}
}
