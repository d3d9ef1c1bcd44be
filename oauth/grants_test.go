package oauth_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
)

// keys are the fields of an answer, sorted.
func (a answer) keys() string { return strings.Join(slices.Sorted(maps.Keys(a.body)), " ") }

// Decisions 1 and 11.
func TestCodeGrantAnswersExactlyTheFieldsOfTheProtocol(t *testing.T) {
	h := newFixture(t)
	a := h.exchange(h.code()).tokens(t)
	if got, want := a.keys(),
		"access_token code expires_in id_token msg refresh_token scope token_type user"; got != want {
		t.Errorf("fields = %s, want %s", got, want)
	}
	if a.text("token_type") != "Bearer" || a.number("expires_in") != 604800 || a.text("scope") != "openid profile" {
		t.Errorf("token = %v, want Bearer, 604800, openid profile", a.body)
	}
	if !strings.HasPrefix(a.text("refresh_token"), "rt_") {
		t.Errorf("refresh_token = %q, want prefix rt_", a.text("refresh_token"))
	}
	if a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("Cache-Control = %q, want no-store", a.header.Get("Cache-Control"))
	}
	user := a.body["user"].(map[string]any)
	if got, want := strings.Join(slices.Sorted(maps.Keys(user)), " "),
		"avatar id login_type nickname openid"; got != want {
		t.Errorf("user has %s, want %s", got, want)
	}
	openid, _ := user["openid"].(string)
	if len(openid) != 32 || strings.Trim(openid, "0123456789ABCDEF") != "" || user["login_type"] != "self" ||
		user["nickname"] != "Ada" {
		t.Errorf("user = %v, want an openid of 32 upper-case hex, login_type self, nickname Ada", user)
	}
	again := h.exchange(h.code()).tokens(t).body["user"].(map[string]any)
	if again["openid"] != openid {
		t.Errorf("openid changed from %v to %v", openid, again["openid"])
	}
	plain := h.exchange(h.code("scope", "profile")).tokens(t)
	if plain.text("scope") != "profile" || plain.text("id_token") != "" {
		t.Errorf("without openid: %v, want no id_token", plain.body)
	}
}

// Decision 1.
func TestAccessTokenIsAnRFC9068JWT(t *testing.T) {
	h := newFixture(t)
	c := payload(t, h.exchange(h.code()).tokens(t).text("access_token"))
	if got, want := strings.Join(slices.Sorted(maps.Keys(c)), " "),
		"aud client_id exp gid iat iss jti scope sub"; got != want {
		t.Errorf("claims = %s, want %s", got, want)
	}
	if c["iss"] != issuer || c["aud"] != issuer || c["client_id"] != h.app.ID || c["sub"] != h.user.Sub ||
		c["exp"].(float64)-c["iat"].(float64) != 604800 {
		t.Errorf("claims = %v", c)
	}
	m := payload(t, h.token("grant_type", "client_credentials").tokens(t).text("access_token"))
	if m["sub"] != h.app.ID || m["scope"] != "app" {
		t.Errorf("client_credentials: claims = %v, want sub = client_id and scope app", m)
	}
}

// Decision 3.
func TestIDTokenIsSignedWithTheAppkey(t *testing.T) {
	h := newFixture(t)
	a := h.exchange(h.code("nonce", "n-1", "scope", "openid profile email")).tokens(t)
	parts := strings.Split(a.text("id_token"), ".")
	mac := hmac.New(sha256.New, []byte(h.app.AppKey().Reveal()))
	mac.Write([]byte(parts[0] + "." + parts[1]))
	if want := base64.RawURLEncoding.EncodeToString(mac.Sum(nil)); parts[2] != want {
		t.Errorf("signature = %s, want the HS256 of the appkey %s", parts[2], want)
	}
	c := payload(t, a.text("id_token"))
	half := sha256.Sum256([]byte(a.text("access_token")))
	if c["iss"] != issuer || c["aud"] != h.app.ID || c["sub"] != h.user.Sub || c["nonce"] != "n-1" ||
		c["nickname"] != "Ada" || c["email"] != "ada@example.com" ||
		c["at_hash"] != base64.RawURLEncoding.EncodeToString(half[:16]) {
		t.Errorf("claims = %v", c)
	}
}

func TestRefreshKeepsWhenTheUserSignedInAndDropsTheNonce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		a := h.exchange(h.code("nonce", "n-1")).tokens(t)
		first := payload(t, a.text("id_token"))
		time.Sleep(time.Hour)
		second := payload(t, h.refresh(a.text("refresh_token")).tokens(t).text("id_token"))
		if second["nonce"] != nil || second["auth_time"] != first["auth_time"] || second["iat"] == first["iat"] {
			t.Errorf("after a refresh: claims = %v, want no nonce, the same auth_time, another iat", second)
		}
	})
}

// Decisions 1 and 2.
func TestClientCredentialsAndRefreshAnswerExactlyTheirFields(t *testing.T) {
	h := newFixture(t)
	m := h.token("grant_type", "client_credentials", "scope", "openid app nonsense").tokens(t)
	if got, want := m.keys(), "access_token code expires_in msg scope token_type"; got != want ||
		m.text("scope") != "app" {
		t.Errorf("client_credentials = %v, want fields %s and scope app", m.body, want)
	}
	r := h.refresh(h.exchange(h.code()).tokens(t).text("refresh_token")).tokens(t)
	if got, want := r.keys(), "access_token code expires_in id_token msg refresh_token scope token_type"; got != want ||
		r.number("expires_in") != 604800 {
		t.Errorf("refresh = %v, want fields %s", r.body, want)
	}
}

// The hole of naive servers: the first, wrong attempt takes the challenge away, and the
// second, without verifier, passes.
func TestPKCECannotBeBypassedByFailingFirst(t *testing.T) {
	h := newFixture(t)
	code := h.code("code_challenge", challengeOf(verifier), "code_challenge_method", "S256")
	wrong := strings.Repeat("w", 43)
	h.exchange(code, "code_verifier", wrong).wants(t, "a wrong verifier", 400, 400, "invalid_grant")
	h.exchange(code).wants(t, "no verifier after a wrong one", 400, 400, "invalid_grant")
	h.exchange(code, "code_verifier", wrong).wants(t, "a wrong verifier again", 400, 400, "invalid_grant")
	h.exchange(code, "code_verifier", verifier).tokens(t)

	public := h.register(storage.App{Name: "Public", Public: true, Domains: []string{"app.example.com"}})
	h.app = public
	code = h.code("code_challenge", challengeOf(verifier), "code_challenge_method", "S256")
	none := []string{"client_secret", "-"}
	h.exchange(code, append(none, "code_verifier", wrong)...).wants(t, "public, wrong verifier", 400, 400, "invalid_grant")
	h.exchange(code, none...).wants(t, "public, no verifier", 400, 400, "invalid_grant")
	h.exchange(code, append(none, "code_verifier", verifier)...).tokens(t)
}

// Decision 5.
func TestVerifierWithoutAChallengeIsRefused(t *testing.T) {
	h := newFixture(t)
	h.exchange(h.code(), "code_verifier", verifier).wants(t, "a verifier for a code without challenge", 400, 400,
		"invalid_grant")
}

// Decision 7.
func TestCodeExchangeInParallelHasOneWinner(t *testing.T) {
	h := newFixture(t)
	code := h.code()
	answers := parallel(20, func() answer { return h.exchange(code) })
	won := 0
	for _, a := range answers {
		if a.status == 200 {
			won++
			continue
		}
		a.wants(t, "a loser", 400, 40163, "invalid_grant")
	}
	if won != 1 {
		t.Errorf("%d of 20 exchanges succeeded, want 1", won)
	}
}

func TestRefreshInParallelHasOneWinnerAndTheFamilyLives(t *testing.T) {
	for range 20 {
		h := newFixture(t)
		handle := h.exchange(h.code()).tokens(t).text("refresh_token")
		var won answer
		for _, a := range parallel(2, func() answer { return h.refresh(handle) }) {
			if a.status != 200 {
				a.wants(t, "the loser", 400, 400, "invalid_grant")
				continue
			}
			if won.status != 0 {
				t.Fatal("both refreshes succeeded")
			}
			won = a
		}
		if u := h.userInfo(won.tokens(t).text("access_token")); u.status != 200 {
			t.Fatalf("userinfo with the winner's token = %d %v", u.status, u.body)
		}
		h.refresh(won.text("refresh_token")).tokens(t)
	}
}

func parallel(n int, act func() answer) []answer {
	out := make([]answer, n)
	var wg sync.WaitGroup
	for i := range out {
		wg.Go(func() { out[i] = act() })
	}
	wg.Wait()
	return out
}

// Decision 7.
func TestReplayedCodeIsRefusedAndALateReplayEndsTheGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		code := h.code()
		tokens := h.exchange(code).tokens(t)
		h.exchange(code).wants(t, "a replay at once", 400, 40163, "invalid_grant")
		if u := h.userInfo(tokens.text("access_token")); u.status != 200 {
			t.Fatalf("a replay within the leeway ended the grant: %v", u.body)
		}
		time.Sleep(11 * time.Second)
		h.exchange(code, "redirect_uri", redirect+"2").wants(t, "a late replay with another redirect_uri", 400, 40163,
			"invalid_grant")
		if u := h.userInfo(tokens.text("access_token")); u.status != 200 {
			t.Fatalf("a replay that was wrong anyway ended the grant: %v", u.body)
		}
		h.exchange(code).wants(t, "a late replay", 400, 40163, "invalid_grant")
		h.userInfo(tokens.text("access_token")).wants(t, "userinfo after a late replay", 401, 401, "invalid_token")
		h.refresh(tokens.text("refresh_token")).wants(t, "refresh after a late replay", 400, 400, "invalid_grant")
		time.Sleep(5 * time.Minute)
		h.exchange(code).wants(t, "a replay after the code's lifetime", 400, 400, "invalid_grant")
	})
}

// Decision 7.
func TestReplayWithTheWrongVerifierRevokesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		code := h.code()
		tokens := h.exchange(code).tokens(t)
		rotated := h.refresh(tokens.text("refresh_token")).tokens(t)
		owner := h.app
		time.Sleep(time.Minute)
		h.app = h.register(storage.App{Name: "Stranger", Domains: []string{"app.example.com"}})
		h.exchange(code).wants(t, "a stranger's replay of a code", 400, 400, "invalid_grant")
		h.refresh(tokens.text("refresh_token")).wants(t, "a stranger's replay of a refresh token", 400, 400, "invalid_grant")
		h.refresh(rotated.text("refresh_token")).wants(t, "a stranger's use of a live refresh token", 400, 400,
			"invalid_grant")
		h.app = owner
		if u := h.userInfo(tokens.text("access_token")); u.status != 200 {
			t.Errorf("the owner's access token = %d %v, want it alive", u.status, u.body)
		}
		h.refresh(rotated.text("refresh_token")).tokens(t)
	})
}

// Decision 8.
func TestReplacedRefreshTokenIsRefusedAndUsedLateEndsTheFamily(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		first := h.exchange(h.code()).tokens(t)
		second := h.refresh(first.text("refresh_token")).tokens(t)
		h.refresh(first.text("refresh_token")).wants(t, "a replaced token, at once", 400, 400, "invalid_grant")
		third := h.refresh(second.text("refresh_token")).tokens(t)
		time.Sleep(11 * time.Second)
		h.refresh(first.text("refresh_token")).wants(t, "a replaced token, late", 400, 400, "invalid_grant")
		h.refresh(third.text("refresh_token")).wants(t, "the newest token after a late reuse", 400, 400, "invalid_grant")
		h.userInfo(third.text("access_token")).wants(t, "an access token after a late reuse", 401, 401, "invalid_token")
	})
}

// Decision 2.
func TestRefreshMayNarrowButNotWiden(t *testing.T) {
	h := newFixture(t)
	first := h.exchange(h.code()).tokens(t)
	h.refresh(first.text("refresh_token"), "scope", "openid email").wants(t, "widening", 400, 400, "invalid_scope")
	narrow := h.refresh(first.text("refresh_token"), "scope", "openid offline_access").tokens(t)
	if narrow.text("scope") != "openid" {
		t.Errorf("scope = %q, want openid", narrow.text("scope"))
	}
	if whole := h.refresh(narrow.text("refresh_token")).tokens(t); whole.text("scope") != "openid profile" {
		t.Errorf("scope after narrowing once = %q, want the grant's openid profile", whole.text("scope"))
	}
}

func TestLifetimesAreThoseOfTheProtocol(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		early, late := h.code(), h.code()
		time.Sleep(4*time.Minute + 55*time.Second)
		tokens := h.exchange(early).tokens(t)
		time.Sleep(6 * time.Second)
		h.exchange(late).wants(t, "a code after 5:01", 400, 400, "invalid_grant")
		time.Sleep(168*time.Hour - 10*time.Second)
		if u := h.userInfo(tokens.text("access_token")); u.status != 200 {
			t.Errorf("access token at 167:59:56 = %d, want 200", u.status)
		}
		time.Sleep(10 * time.Second)
		h.userInfo(tokens.text("access_token")).wants(t, "an access token after 168 hours", 401, 401, "invalid_token")
		time.Sleep(22 * 24 * time.Hour)
		rotated := h.refresh(tokens.text("refresh_token")).tokens(t)
		time.Sleep(31 * 24 * time.Hour)
		h.refresh(rotated.text("refresh_token")).wants(t, "a refresh token after 31 days", 400, 400, "invalid_grant")
	})
}

// Decision 8.
func TestDisabledUserGetsNothingAndNothingIsSpent(t *testing.T) {
	h := newFixture(t)
	code := h.code()
	tokens := h.exchange(h.code()).tokens(t)
	h.user.Disabled = true
	h.user = must(h.store.SaveUser(t.Context(), h.user))(t)
	h.exchange(code).wants(t, "exchange for a disabled user", 400, 400, "invalid_grant")
	h.refresh(tokens.text("refresh_token")).wants(t, "refresh for a disabled user", 400, 400, "invalid_grant")
	h.userInfo(tokens.text("access_token")).wants(t, "userinfo of a disabled user", 401, 401, "invalid_token")
	h.user.Disabled = false
	h.user = must(h.store.SaveUser(t.Context(), h.user))(t)
	h.exchange(code).tokens(t)
	h.refresh(tokens.text("refresh_token")).tokens(t)
}

// Decision 5.
func TestForcePKCEWorksAtOnce(t *testing.T) {
	h := newFixture(t)
	before := h.code()
	if err := h.store.Set(t.Context(), storage.SettingForcePKCE, "1"); err != nil {
		t.Fatal(err)
	}
	h.exchange(before).wants(t, "an older code without challenge", 400, 400, "invalid_grant")
	if loc := h.authorize().Header().Get("Location"); !strings.Contains(loc, "error=invalid_request") ||
		!strings.Contains(loc, "state=xyz") {
		t.Errorf("authorize without challenge redirects to %q, want error=invalid_request", loc)
	}
	h.exchange(h.code("code_challenge", challengeOf(verifier), "code_challenge_method", "S256"), "code_verifier",
		verifier).tokens(t)
	if err := h.store.Set(t.Context(), storage.SettingForcePKCE, "0"); err != nil {
		t.Fatal(err)
	}
	h.exchange(before).tokens(t)
}

// Decisions 3 and 4.
func TestPublicClientGetsAnES256IDTokenAndNoClientCredentials(t *testing.T) {
	h := newFixture(t)
	h.app = h.register(storage.App{Name: "Public", Public: true, Domains: []string{"app.example.com"}})
	none := []string{"client_secret", "-"}
	code := h.code("code_challenge", challengeOf(verifier), "code_challenge_method", "S256")
	a := h.exchange(code, append(none, "code_verifier", verifier)...).tokens(t)
	head := must(base64.RawURLEncoding.DecodeString(strings.Split(a.text("id_token"), ".")[0]))(t)
	if !strings.Contains(string(head), `"alg":"ES256"`) {
		t.Errorf("id_token header = %s, want ES256", head)
	}
	h.token(append(none, "grant_type", "client_credentials")...).wants(t, "client_credentials of a public client", 400,
		400, "unauthorized_client")
	h.refresh(a.text("refresh_token"), "client_secret", "something").wants(t, "a public client that sends a secret", 401,
		401, "invalid_client")
	if r := h.revoke(a.text("refresh_token"), none...); r.status != 200 {
		t.Errorf("revoke by client_id alone = %d %v, want 200", r.status, r.body)
	}
	h.refresh(a.text("refresh_token"), none...).wants(t, "refresh after revocation", 400, 400, "invalid_grant")
	if loc := h.authorize().Header().Get("Location"); !strings.Contains(loc, "error=invalid_request") {
		t.Errorf("authorize of a public client without PKCE redirects to %q, want error=invalid_request", loc)
	}
}

// An entry that ends in a slash is for resources that come and go, such as bundles of tools.
func TestTokenIsIssuedForANameBelowAResource(t *testing.T) {
	h := newFixtureWith(t, oauth.TokensConfig{Resources: []string{issuer + "/api/mcp", issuer + "/api/mcp/b/"}})
	const bundle = issuer + "/api/mcp/b/support"
	text := h.exchange(h.code("resource", bundle)).tokens(t).text("access_token")
	if c := payload(t, text); c["aud"] != bundle {
		t.Errorf("aud = %v, want the resource", c["aud"])
	}
	for audience, want := range map[string]bool{bundle: true, issuer + "/api/mcp/b/": true,
		issuer + "/api/mcp/b/other": false, issuer + "/api/mcp": false} {
		if _, err := h.tokens.Verify(t.Context(), text, audience); (err == nil) != want {
			t.Errorf("asked for %s: %v, want it good: %t", audience, err, want)
		}
	}
	for _, bad := range []string{issuer + "/api/mcp/b/", issuer + "/api/mcp/b/a/b", issuer + "/api/mcp/b/a%20b",
		issuer + "/api/mcp/b/..", issuer + "/api/mcp/x", bundle + "?x=1"} {
		h.token("grant_type", "client_credentials", "resource", bad).wants(t, bad, 400, 400, "invalid_target")
	}
}

func TestResourceNarrowsTheAudience(t *testing.T) {
	h := newFixtureWith(t, oauth.TokensConfig{Resources: []string{issuer + "/api/mcp"}})
	a := h.exchange(h.code("resource", issuer+"/api/mcp")).tokens(t)
	if c := payload(t, a.text("access_token")); c["aud"] != issuer+"/api/mcp" {
		t.Errorf("aud = %v, want the resource", c["aud"])
	}
	h.userInfo(a.text("access_token")).wants(t, "userinfo with a token for another resource", 401, 401, "invalid_token")
	h.token("grant_type", "client_credentials", "resource", "https://other.example").wants(t, "an unknown resource", 400,
		400, "invalid_target")
	if r := h.revoke(a.text("access_token")); r.status != 200 {
		t.Errorf("revoke = %d, want 200", r.status)
	}
	if _, err := h.tokens.Verify(t.Context(), a.text("access_token"), issuer+"/api/mcp"); err == nil {
		t.Error("a revoked token for a resource still verifies")
	}
	// A resource may leave the configuration; its tokens can still be revoked.
	later := tokensOf(t, issuer, h.store)
	text := h.exchange(h.code("resource", issuer+"/api/mcp")).tokens(t).text("access_token")
	h.tokens, h.server = later,
		must(oauth.New(t.Context(), oauth.Config{NoDelivery: true, Tokens: later, SignIn: h.browser}))(t)
	h.revoke(text)
	if _, err := later.Verify(t.Context(), text, issuer+"/api/mcp"); err == nil {
		t.Error("a token for a resource that has left the configuration cannot be revoked")
	}
}
