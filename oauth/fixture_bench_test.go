package oauth_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage/memory"
)

// newBenchFixture makes a fixture whose store counts nothing.
func newBenchFixture(b *testing.B) *fixture {
	h := newFixture(b)
	h.over(memory.New(), oauth.Config{})
	return h
}

func (h *fixture) codeQuery() url.Values {
	return form("response_type", "code", "client_id", h.app.ID, "redirect_uri", redirect, "state", "xyz", "scope",
		"openid profile",
		"code_challenge", challengeOf(verifier), "code_challenge_method", "S256")
}

func (h *fixture) codes(n int) []string {
	codes := make([]string, n)
	for i := range codes {
		codes[i] = h.code("scope", "openid profile", "code_challenge", challengeOf(verifier), "code_challenge_method", "S256")
	}
	return codes
}

func (h *fixture) exchangeForm(code string) string {
	return h.tokenForm("grant_type", "authorization_code", "code", code, "redirect_uri", redirect, "code_verifier",
		verifier).Encode()
}

func (h *fixture) refreshToken() string {
	return h.exchange(h.codes(1)[0], "code_verifier", verifier).tokens(h.TB).text("refresh_token")
}

// bearers returns values of the Authorization header, each verified once.
func (h *fixture) bearers(b *testing.B, n int) []string {
	values, next := make([]string, n), h.refreshToken()
	c, ask := newCall("POST", "/oauth/token", ""), newCall("GET", "/oauth/userinfo", "")
	begin := h.tokenForm("grant_type", "refresh_token").Encode() + "&refresh_token="
	for i := range values {
		c.body = begin + next
		c.do(b, h.server, http.StatusOK)
		next, values[i] = c.member(b, "refresh_token"), "Bearer "+c.member(b, "access_token")
		ask.header["Authorization"] = values[i : i+1]
		ask.do(b, h.server, http.StatusOK)
	}
	return values
}

func (h *fixture) measure(b *testing.B, name string, handler http.Handler, c *call) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c.do(b, handler, c.want)
		}
	})
}
