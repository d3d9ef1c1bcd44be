package oauth_test

import (
	"maps"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// introspect asks about a token with the fixture's credentials; pairs change the request.
func (h *fixture) introspect(text string, pairs ...string) answer {
	h.Helper()
	return h.post("/oauth/introspect", h.tokenForm(append([]string{"token", text}, pairs...)...))
}

// inactive fails unless the answer is that about every token that is not active (RFC 7662 2.2, 4).
func (a answer) inactive(t testing.TB, what string) {
	t.Helper()
	if a.status != 200 || len(a.body) != 1 || a.body["active"] != false || a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("introspect of %s = %d %v, want {\"active\":false}", what, a.status, a.body)
	}
}

// active fails unless the answer is exactly this, beside active, iss, sub and aud (RFC 7662 2.2).
func (h *fixture) active(a answer, what string, want map[string]any) {
	h.Helper()
	all := map[string]any{"active": true, "iss": issuer, "aud": issuer, "sub": h.user.Sub}
	maps.Copy(all, want)
	if a.status != 200 || !maps.Equal(a.body, all) || a.header.Get("Cache-Control") != "no-store" ||
		!strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
		h.Errorf("introspect of %s = %d %v, want %v", what, a.status, a.body, all)
	}
}

func TestIntrospectionSaysWhatATokenIsGoodFor(t *testing.T) {
	h := newFixture(t)
	granted := h.exchange(h.code("scope", "openid profile")).tokens(t)
	claims := payload(t, granted.text("access_token"))
	h.active(h.introspect(granted.text("access_token")), "an access token", map[string]any{
		"scope": "openid profile", "client_id": h.app.ID, "username": "ada", "token_type": "Bearer",
		"exp": claims["exp"], "iat": claims["iat"], "nbf": claims["iat"], "jti": claims["jti"],
	})

	own := h.token("grant_type", "client_credentials").tokens(t).text("access_token")
	claims = payload(t, own)
	h.active(h.introspect(own), "an application's own token", map[string]any{
		"scope": "app", "client_id": h.app.ID, "token_type": "Bearer", "sub": h.app.ID,
		"exp": claims["exp"], "iat": claims["iat"], "nbf": claims["iat"], "jti": claims["jti"],
	})

	text, k := h.key("tools:shop", time.Hour)
	unix := func(at time.Time) float64 { return float64(at.Unix()) }
	h.active(h.introspect(text), "an API key", map[string]any{
		"scope": "tools:shop", "client_id": "apikey", "token_type": "Bearer",
		"exp": unix(k.ExpiresAt), "iat": unix(k.CreatedAt), "nbf": unix(k.CreatedAt), "jti": k.ID,
	})

	refresh := granted.text("refresh_token")
	stored := must(h.store.Token(t.Context(), handle.KeyOf(refresh)))(t)
	h.active(h.introspect(refresh), "a refresh token", map[string]any{
		"scope": "openid profile", "client_id": h.app.ID, "username": "ada",
		"exp": unix(stored.ExpiresAt), "iat": unix(stored.IssuedAt), "nbf": unix(stored.IssuedAt),
	})
}

// RFC 7662 2.1: token_type_hint helps to find a token, and a wrong one must not keep it from being found.
func TestHintOfAnIntrospectionDecidesNothing(t *testing.T) {
	h := newFixture(t)
	granted := h.exchange(h.code()).tokens(t)
	for _, text := range []string{granted.text("access_token"), granted.text("refresh_token")} {
		for _, hint := range []string{"access_token", "refresh_token", "pat"} {
			if a := h.introspect(text, "token_type_hint", hint); a.body["active"] != true {
				t.Errorf("with the hint %s: %v", hint, a.body)
			}
		}
	}
}

// RFC 7662 2.2 and 4: whatever the reason, the answer is the same.
func TestTokenThatIsNotActiveIsToldNothingElseAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		granted := h.exchange(h.code()).tokens(t)
		access, refresh := granted.text("access_token"), granted.text("refresh_token")
		key, _ := h.key("tools", time.Hour)
		for what, text := range map[string]string{
			"nonsense": "nonsense", "an unknown refresh token": handle.New(handle.RefreshPrefix, time.Now()),
			"an unknown key":              handle.NewAPIKey(),
			"a key with a wrong checksum": key + "x", "a forged token": access[:len(access)-6] + "AAAAAA",
			"an id_token": granted.text("id_token"),
			"a code":      h.code(), "an appkey": h.app.AppKey().Reveal(), "a long text": strings.Repeat("x", 9<<10),
		} {
			h.introspect(text).inactive(t, what)
		}
		other := h.register(storage.App{Name: "Other", Domains: []string{"other.example.com"}})
		credentials := []string{"client_id", other.ID, "client_secret", other.AppKey().Reveal()}
		h.introspect(refresh, credentials...).inactive(t, "another application's refresh token")
		if a := h.introspect(access, credentials...); a.body["active"] != true {
			t.Errorf("another application's access token: %v, want active", a.body)
		}
		next := h.refresh(refresh).tokens(t)
		h.introspect(refresh).inactive(t, "a spent refresh token")
		h.revoke(access)
		h.introspect(access).inactive(t, "a revoked access token")
		h.revoke(next.text("refresh_token"))
		h.introspect(next.text("refresh_token")).inactive(t, "a revoked refresh token")
		h.introspect(next.text("access_token")).inactive(t, "an access token of an ended grant")

		granted = h.exchange(h.code()).tokens(t)
		time.Sleep(2 * time.Hour)
		h.introspect(key).inactive(t, "an expired key")
		time.Sleep(169 * time.Hour)
		h.introspect(granted.text("access_token")).inactive(t, "an expired access token")
		time.Sleep(31 * 24 * time.Hour)
		h.introspect(granted.text("refresh_token")).inactive(t, "an expired refresh token")
	})
}

func TestTokenOfSomebodyWhoHasGoneIsNotActive(t *testing.T) {
	h := newFixture(t)
	granted := h.exchange(h.code()).tokens(t)
	key, _ := h.key("tools", time.Hour)
	other := h.register(storage.App{Name: "Other", Domains: []string{"other.example.com"}})
	credentials := []string{"client_id", other.ID, "client_secret", other.AppKey().Reveal()}

	app := must(h.store.App(t.Context(), h.app.ID))(t)
	app.Disabled = true
	app = must(h.store.SaveApp(t.Context(), app))(t)
	h.introspect(granted.text("access_token"), credentials...).inactive(t, "a disabled application's token")
	if a := h.introspect(key); a.status != 400 {
		t.Errorf("a disabled application is told %d %v", a.status, a.body)
	}
	app.Disabled = false
	must(h.store.SaveApp(t.Context(), app))(t)

	u := must(h.store.User(t.Context(), h.user.Sub))(t)
	u.Disabled = true
	must(h.store.SaveUser(t.Context(), u))(t)
	for what, text := range map[string]string{"access token": granted.text("access_token"),
		"refresh token": granted.text("refresh_token"), "key": key} {
		h.introspect(text).inactive(t, "a disabled user's "+what)
	}
}

// RFC 7662 2.2: a token for a resource of this service is active, and says which one it is for.
func TestIntrospectionNamesTheResourceOfAToken(t *testing.T) {
	const bus = issuer + "/api/mcp"
	h := newFixtureWith(t, oauth.TokensConfig{Resources: []string{bus, bus + "/b/"}})
	for _, resource := range []string{bus, bus + "/b/support"} {
		text := h.exchange(h.code("resource", resource), "resource", resource).tokens(t).text("access_token")
		if a := h.introspect(text); a.body["active"] != true || a.text("aud") != resource {
			t.Errorf("for %s: %v", resource, a.body)
		}
	}
}

// RFC 7662 2.1 and 4: who asks has to prove who they are, or anybody could try out tokens.
func TestIntrospectionNeedsAnApplicationWithASecret(t *testing.T) {
	h := newFixture(t)
	access := h.exchange(h.code()).tokens(t).text("access_token")
	public := h.register(storage.App{Name: "Public", Domains: []string{"app.example.com"}, Public: true})
	for what, pairs := range map[string][]string{
		"a public application":       {"client_id", public.ID, "client_secret", "-"},
		"the application of keys":    {"client_id", "apikey", "client_secret", "-"},
		"a wrong secret":             {"client_secret", "wrong"},
		"an unknown application":     {"client_id", "ksunknown"},
		"nobody":                     {"client_id", "-", "client_secret", "-"},
		"an application, unproven":   {"client_secret", "-"},
		"the secret of another kind": {"client_secret", access},
	} {
		h.introspect(access, pairs...).wants(t, what, 401, 401, "invalid_client")
	}
	r := httptest.NewRequest("POST", "/oauth/introspect", strings.NewReader(h.tokenForm("token", access).Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Bearer "+access)
	if a := h.answer(h.serve(r)); a.status != 401 || a.header.Get("WWW-Authenticate") == "" {
		t.Errorf("with a bearer = %d %v, want 401 with WWW-Authenticate", a.status, a.body)
	}
}

// RFC 7662 4: wrong secrets are counted as at /oauth/token.
func TestIntrospectionCountsWrongSecrets(t *testing.T) {
	h := newFixture(t)
	for range 200 {
		if a := h.introspect("x", "client_secret", "wrong"); a.status == 429 {
			h.token("grant_type", "client_credentials", "client_secret", "wrong").wants(t, "the token endpoint then", 429, 429,
				"temporarily_unavailable")
			return
		}
	}
	t.Error("two hundred wrong secrets met no limit")
}

// RFC 7662 4: tokens in an address end up in logs.
func TestTokenIsIntrospectedByAFormAlone(t *testing.T) {
	h := newFixture(t)
	access := h.exchange(h.code()).tokens(t).text("access_token")
	for what, form := range map[string]url.Values{"in the query": h.tokenForm(), "in both": h.tokenForm("token", access)} {
		a := h.post("/oauth/introspect?token="+access, form)
		a.wants(t, what, 400, 400, "invalid_request")
		if strings.Contains(a.text("msg"), access) {
			t.Errorf("%s: the answer repeats it", what)
		}
	}
	h.post("/oauth/introspect", h.tokenForm()).wants(t, "no token", 400, 400, "invalid_request")
	twice := h.tokenForm()
	twice["token"] = []string{access, access}
	h.post("/oauth/introspect", twice).wants(t, "two tokens", 400, 400, "invalid_request")
	for _, method := range []string{"GET", "HEAD", "PUT"} {
		w := h.serve(httptest.NewRequest(method, "/oauth/introspect?"+h.tokenForm("token", access).Encode(), nil))
		if w.Code != 405 || w.Header().Get("Allow") != "POST" {
			t.Errorf("%s = %d, Allow %q, want 405", method, w.Code, w.Header().Get("Allow"))
		}
	}
	r := httptest.NewRequest("POST", "/oauth/introspect", strings.NewReader(`{"token":"`+access+`"}`))
	r.Header.Set("Content-Type", "application/json")
	h.answer(h.serve(r)).wants(t, "a JSON body", 400, 400, "invalid_request")
	r = httptest.NewRequest("POST", "/oauth/introspect.php", strings.NewReader(h.tokenForm("token", access).Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	if a := h.answer(h.serve(r)); a.body["active"] != true {
		t.Errorf("with .php behind it: %d %v", a.status, a.body)
	}
}

// A service that is told "active" by a node that hears of no revocations would let in who has been
// signed out.
func TestIntrospectionOfARevokedUserSaysNotActiveAtOnce(t *testing.T) {
	h := newFixture(t)
	access := h.exchange(h.code()).tokens(t).text("access_token")
	key, _ := h.key("tools", time.Hour)
	if err := h.tokens.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeUser, ID: h.user.Sub,
		Before: time.Now().Add(time.Second)}); err != nil {
		t.Fatal(err)
	}
	h.introspect(access).inactive(t, "an access token")
	h.introspect(key).inactive(t, "a key")
}
