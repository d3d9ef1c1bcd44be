package oauth_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/test/vendordocs"
)

const chatGPTRedirect = "https://chatgpt.com/connector/oauth/kDmjx77UnKOM"

// prove returns a token request of ChatGPT with an assertion that change has changed; pairs change the request.
func (h *clientsFixture) prove(grant []string, change func(head, claims map[string]any), pairs ...string) url.Values {
	h.Helper()
	assertion := vendordocs.Assertion(h, vendordocs.ChatGPT, issuer, change)
	return form(slices.Concat([]string{
		"client_id", vendordocs.ChatGPT, "client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
		"client_assertion", assertion,
	}, grant, pairs)...)
}

func (h *clientsFixture) redemption() []string {
	h.Helper()
	return []string{"grant_type", "authorization_code", "redirect_uri", chatGPTRedirect, "code_verifier", verifier, "code",
		h.codeFor(vendordocs.ChatGPT, chatGPTRedirect)}
}

// RFC 7523 3.
func TestAssertionThatIsNotGoodRedeemsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := inMemory(t)
		grant := h.redemption()
		claim := func(name string, value any) func(head, claims map[string]any) {
			return func(_, claims map[string]any) { claims[name] = value }
		}
		head := func(name string, value any) func(head, claims map[string]any) {
			return func(head, _ map[string]any) { head[name] = value }
		}
		now := time.Now().Unix()
		for what, change := range map[string]func(head, claims map[string]any){
			"another iss": claim("iss", vendordocs.Codex), "another sub": claim("sub", "u1"), "no iss": claim("iss", nil),
			"another aud":    claim("aud", "https://evil.example.org"),
			"several others": claim("aud", []string{"https://a.example.org", issuer + "/"}), "no aud": claim("aud", nil),
			"another too":                 claim("aud", []string{"https://other.example.org", issuer + "/oauth/token"}),
			"the issuer and the endpoint": claim("aud", []string{issuer, issuer + "/oauth/token"}),
			"none of a list":              claim("aud", []string{}), "the authorization endpoint": claim("aud",
				issuer+"/oauth/authorize"),
			"expired": claim("exp", now-1), "no exp": claim("exp", nil), "a long life": claim("exp", now+3600),
			"an exp that is text": claim("exp", "9"), "from tomorrow": claim("nbf", now+86400),
			"issued tomorrow": claim("iat", now+86400),
			"no jti":          claim("jti", nil), "an empty jti": claim("jti", ""),
			"a long jti":             claim("jti", strings.Repeat("x", 257)),
			"a jti that is a number": claim("jti", 1),
			"none":                   head("alg", "none"), "HS256": head("alg", "HS256"), "RS512": head("alg", "RS512"),
			"another kid": head("kid", "x"), "crit": head("crit", []string{"b64"}),
			"a key that it brings": head("jwk", map[string]any{}), "jku": head("jku", "https://evil.example.org/keys"),
			"b64": head("b64", false),
		} {
			h.post("/oauth/token", h.prove(grant, change)).wants(t, what, 401, 401, "invalid_client")
		}
		time.Sleep(time.Minute) // guesses are counted
		for what, pairs := range map[string][]string{
			"no assertion": {"client_assertion", "-", "client_assertion_type", "-"}, "no type": {"client_assertion_type", "-"},
			"another type": {"client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:saml2-bearer"},
			"text":         {"client_assertion", "x"}, "three parts of nothing": {"client_assertion", "e30.e30.e30"},
			"a secret too": {"client_secret", "x"}, "9 KiB": {"client_assertion", strings.Repeat("x", 9<<10)},
			"of another application": {"client_id", vendordocs.Codex},
		} {
			h.post("/oauth/token", h.prove(grant, nil, pairs...)).wants(t, what, 401, 401, "invalid_client")
		}
		time.Sleep(time.Minute)
		h.post("/oauth/token", h.prove(grant, func(_, claims map[string]any) {
			claims["aud"] = []string{issuer + "/oauth/token"}
			claims["exp"] = float64(time.Now().Unix()) + 100.5
			delete(claims, "iat")
		}, "client_id", "-")).tokens(t)
	})
}

func TestAssertionIsGoodOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := inMemory(t)
		request := h.prove(h.redemption(), nil)
		answers := make([]int, 20)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i] = h.post("/oauth/token", request).status })
		}
		all.Wait()
		slices.Sort(answers)
		if answers[0] != 200 || answers[1] != 401 || answers[19] != 401 {
			t.Errorf("one assertion sent 20 times at once is answered with %v, want one 200 and 19 401", answers)
		}
		time.Sleep(59 * time.Second)
		request.Set("grant_type", "refresh_token")
		h.post("/oauth/token", request).wants(t, "again, before it ends", 401, 401, "invalid_client")
	})
}

func TestKeysAreReadAgainForAnUnknownOneButSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := inMemory(t)
		granted := h.post("/oauth/token", h.prove(h.redemption(), nil)).tokens(t)
		keys := func() int { return h.docs.Asked(vendordocs.ChatGPTKeys) }
		refresh := func(change func(head, claims map[string]any)) answer {
			t.Helper()
			return h.post("/oauth/token",
				h.prove([]string{"grant_type", "refresh_token", "refresh_token", granted.text("refresh_token")}, change))
		}
		renamed := func(head, _ map[string]any) { head["kid"] = "of-2027" }
		for range 3 {
			refresh(renamed).wants(t, "an unknown key", 401, 401, "invalid_client")
		}
		if keys() != 1 {
			t.Errorf("the keys were read %d times, want once", keys())
		}
		h.docs.Set(vendordocs.ChatGPTKeys,
			vendordocs.JSON(strings.Replace(vendordocs.KeySet(t), vendordocs.KeyID, "of-2027", 1)))
		time.Sleep(5 * time.Minute)
		granted = refresh(renamed).tokens(t)
		if keys() != 2 {
			t.Errorf("the keys were read %d times, want twice", keys())
		}
		refresh(nil).wants(t, "the old key", 401, 401, "invalid_client")

		h.docs.Set(vendordocs.ChatGPTKeys, vendordocs.Status(http.StatusInternalServerError))
		h.docs.Set(vendordocs.ChatGPT, vendordocs.Status(http.StatusInternalServerError))
		if err := h.store.KeepClient(t.Context(), vendordocs.ChatGPT); err != nil {
			t.Fatal(err)
		}
		time.Sleep(48 * time.Hour)
		granted = refresh(renamed).tokens(t) // the vendor is away, and its people go on
		if got := keys(); got != 3 {
			t.Errorf("the keys were read %d times, want a third one after an hour", got)
		}
	})
}

func TestKeysOfADeniedHostAreNotRead(t *testing.T) {
	h := inMemory(t, openPolicy)
	const keys = "https://keys.example.org/jwks.json"
	h.docs.Set(agent, vendordocs.JSON(documentWith(`"token_endpoint_auth_method"`, `"private_key_jwt"`, `"jwks_uri"`, `"`+keys+`"`)))
	h.docs.Set(keys, vendordocs.JSON(vendordocs.KeySet(t)))
	must(h.store.SetClientHost(t.Context(), "keys.example.org", true))(t)
	code := h.codeFor(agent, agentRedirect)
	h.redeem(agent, agentRedirect, code, "client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
		"client_assertion", vendordocs.Assertion(t, agent, issuer, nil)).wants(t, "keys of a denied host", 401, 401,
		"invalid_client")
	if n := h.docs.Asked(keys); n != 0 {
		t.Errorf("they were read %d times, want never", n)
	}
}

func TestDocumentGivesNoMoreThanUsersDo(t *testing.T) {
	h := inMemory(t)
	h.codeFor(vendordocs.ClaudeCode, claudeRedirect)
	h.post("/oauth/token", form("grant_type", "client_credentials", "client_id", vendordocs.ClaudeCode)).wants(t,
		"client_credentials", 400, 400, "unauthorized_client")
	h.codeFor(vendordocs.ChatGPT, chatGPTRedirect)
	h.post("/oauth/token", h.prove([]string{"grant_type", "client_credentials"}, nil)).wants(t,
		"client_credentials with keys", 400, 400, "unauthorized_client")
	h.post("/oauth/token", form("grant_type", "refresh_token", "client_id", vendordocs.Codex, "refresh_token",
		"rt_x")).wants(t, "one that nobody has begun with", 401, 401, "invalid_client")
	if n := h.docs.Asked(vendordocs.Codex); n != 0 {
		t.Errorf("the token endpoint reads documents: %d", n)
	}
	h.redeem(vendordocs.ClaudeCode, claudeRedirect, h.codeFor(vendordocs.ClaudeCode, claudeRedirect), "client_assertion",
		"x").wants(t, "an assertion where there are no keys", 401, 401, "invalid_client")
}

func TestApplicationWithKeysRevokesWithThem(t *testing.T) {
	h := inMemory(t)
	granted := h.post("/oauth/token", h.prove(h.redemption(), nil)).tokens(t)
	token := granted.text("refresh_token")
	h.post("/oauth/revoke", form("client_id", vendordocs.ChatGPT, "token", token)).wants(t, "without an assertion", 401,
		401, "invalid_client")
	if a := h.post("/oauth/revoke", h.prove([]string{"token", token}, nil)); a.status != 200 {
		t.Errorf("revoke = %d %v, want 200", a.status, a.body)
	}
	h.post("/oauth/token", h.prove([]string{"grant_type", "refresh_token", "refresh_token", token}, nil)).wants(t,
		"a refresh afterwards", 400, 400, "invalid_grant")
}
