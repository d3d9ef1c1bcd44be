package oauth_test

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
)

// Decision 6.
func TestStateAndTheRedirectsOwnQueryComeBackByteForByte(t *testing.T) {
	h := newFixture(t)
	own := redirect + "?z=1&a=b%20c&a=%E4%BD%A0&empty="
	for _, state := range []string{"x", "a b+c%&=?#\"'<>", "你好", "\t\n\x7f", strings.Repeat("long", 5000)} {
		w := h.authorize("redirect_uri", own, "state", state)
		loc := w.Header().Get("Location")
		if w.Code != 302 || !strings.HasPrefix(loc, own+"&code=") {
			t.Fatalf("authorize = %d to %.200q, want 302 to the redirect_uri as it was sent", w.Code, loc)
		}
		to, _ := url.Parse(loc)
		if got := to.Query().Get("state"); got != state {
			t.Errorf("state = %.80q, want %.80q", got, state)
		}
		if to.Query().Get("iss") != issuer {
			t.Errorf("iss = %q, want %q", to.Query().Get("iss"), issuer)
		}
	}
	if loc := h.authorize("state", "-").Header().Get("Location"); strings.Contains(loc, "state") {
		t.Errorf("Location = %q, want no state where none was sent", loc)
	}
	if loc := h.authorize("redirect_uri", redirect+"?").Header().Get("Location"); !strings.HasPrefix(loc,
		redirect+"?code=") {
		t.Errorf("Location = %q, want %s?code=...", loc, redirect)
	}
}

// Decision 6.
func TestInvalidClientOrRedirectNeverRedirects(t *testing.T) {
	h := newFixture(t)
	for name, pairs := range map[string][]string{
		"unknown client":       {"client_id", "nobody"},
		"no client":            {"client_id", "-"},
		"no redirect_uri":      {"redirect_uri", "-"},
		"foreign host":         {"redirect_uri", "https://evil.example/cb"},
		"suffix":               {"redirect_uri", "https://evil-app.example.com/cb"},
		"subdomain":            {"redirect_uri", "https://x.app.example.com/cb"},
		"userinfo":             {"redirect_uri", "https://app.example.com@evil.example/cb"},
		"backslash":            {"redirect_uri", `https://app.example.com\@evil.example/cb`},
		"http":                 {"redirect_uri", "http://app.example.com/cb"},
		"fragment":             {"redirect_uri", redirect + "#x"},
		"trailing dot":         {"redirect_uri", "https://app.example.com./cb"},
		"scheme of javascript": {"redirect_uri", "javascript:alert(1)//app.example.com"},
	} {
		w := h.authorize(pairs...)
		if w.Code != 400 || w.Header().Get("Location") != "" || !strings.Contains(w.Header().Get("Content-Type"),
			"text/html") {
			t.Errorf("%s: authorize = %d to %q as %s, want a 400 page", name, w.Code, w.Header().Get("Location"),
				w.Header().Get("Content-Type"))
		}
	}
	twice := "/oauth/authorize?response_type=code&client_id=" + h.app.ID + "&redirect_uri=" + url.QueryEscape(redirect) +
		"&redirect_uri=" + url.QueryEscape("https://evil.example/")
	if w := h.serve(httptest.NewRequest("GET", twice, nil)); w.Code != 400 || w.Header().Get("Location") != "" {
		t.Errorf("redirect_uri twice = %d to %q, want a 400 page", w.Code, w.Header().Get("Location"))
	}
}

// Decision 14.
func TestAuthorizeSendsOtherFaultsToTheApplicationWithState(t *testing.T) {
	h := newFixture(t)
	for name, c := range map[string]struct {
		pairs []string
		want  string
	}{
		"no response_type":        {[]string{"response_type", "-"}, "invalid_request"},
		"response_type token":     {[]string{"response_type", "token"}, "unsupported_response_type"},
		"two response types":      {[]string{"response_type", "code token"}, "unsupported_response_type"},
		"response_mode form_post": {[]string{"response_mode", "form_post"}, "invalid_request"},
		"request":                 {[]string{"request", "e30.e30."}, "request_not_supported"},
		"request_uri":             {[]string{"request_uri", "https://app.example.com/r"}, "request_uri_not_supported"},
		"short challenge":         {[]string{"code_challenge", "x"}, "invalid_request"},
		"S256 of 44 characters": {[]string{"code_challenge", challengeOf(verifier) + "A", "code_challenge_method", "S256"},
			"invalid_request"},
		"method without one": {[]string{"code_challenge_method", "S256"}, "invalid_request"},
		"unknown method": {[]string{"code_challenge", challengeOf(verifier), "code_challenge_method", "S512"},
			"invalid_request"},
		"max_age":  {[]string{"max_age", "-1"}, "invalid_request"},
		"prompt":   {[]string{"prompt", "none login"}, "invalid_request"},
		"resource": {[]string{"resource", "https://elsewhere.example"}, "invalid_target"},
	} {
		to, _ := url.Parse(h.authorize(c.pairs...).Header().Get("Location"))
		if q := to.Query(); to.Host != "app.example.com" || q.Get("error") != c.want || q.Get("state") != "xyz" ||
			q.Get("iss") != issuer || q.Has("code") {
			t.Errorf("%s: redirect to %s, want error=%s with state and iss", name, to, c.want)
		}
	}
}

// Decision 14.
func TestPromptAndMaxAgeDecideWhoMustSignIn(t *testing.T) {
	h := newFixture(t)
	h.authorize("prompt", "login")
	h.authorize("max_age", "0", "prompt", "select_account")
	if h.browser.prompts != 2 {
		t.Errorf("asked %d times, want 2: prompt=login and select_account ask a signed-in visitor", h.browser.prompts)
	}
	h.browser.session.AuthTime = h.browser.session.AuthTime.Add(-61e9)
	h.authorize("max_age", "60")
	if h.browser.prompts != 3 {
		t.Error("max_age=60 does not ask who signed in 61 seconds ago")
	}
	h.code("max_age", "3600")
	h.code("prompt", "none")
	h.browser.session = nil
	h.authorize()
	if h.browser.prompts != 4 {
		t.Error("nobody is signed in, and nobody is asked")
	}
	if loc := h.authorize("prompt", "none").Header().Get("Location"); !strings.Contains(loc, "error=login_required") {
		t.Errorf("prompt=none redirects to %q, want login_required", loc)
	}
}

// Decision 14.
func TestAuthorizeWorksByFormAndNotByHEAD(t *testing.T) {
	h := newFixture(t)
	v := form("response_type", "code", "client_id", h.app.ID, "redirect_uri", redirect, "state", "s")
	r := httptest.NewRequest("POST", "/oauth/authorize", strings.NewReader(v.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if w := h.serve(r); w.Code != 302 || !strings.Contains(w.Header().Get("Location"), "code=") {
		t.Errorf("POST authorize = %d to %q, want a code", w.Code, w.Header().Get("Location"))
	}
	calls := h.calls.during(func() {
		if w := h.serve(httptest.NewRequest("HEAD", "/oauth/authorize?"+v.Encode(), nil)); w.Code != 405 {
			t.Errorf("HEAD authorize = %d, want 405", w.Code)
		}
	})
	if len(calls) != 0 {
		t.Errorf("HEAD authorize reached the store: %v", calls)
	}
}

// Decision 4.
func TestClientAuthenticationFailures(t *testing.T) {
	h := newFixture(t)
	grant := []string{"grant_type", "client_credentials"}
	h.token(append(grant, "client_secret", "wrong")...).wants(t, "a wrong secret", 401, 401, "invalid_client")
	h.token(append(grant, "client_secret", "-")...).wants(t, "no secret", 401, 401, "invalid_client")
	h.token(append(grant, "client_id", "nobody")...).wants(t, "an unknown client", 401, 401, "invalid_client")
	h.token(append(grant, "client_assertion", "x")...).wants(t, "a client_assertion", 401, 401, "invalid_client")
	h.token("grant_type", "password").wants(t, "an unknown grant_type", 400, 400, "unsupported_grant_type")
	h.token().wants(t, "no grant_type", 400, 400, "invalid_request")
	h.exchange("-").wants(t, "no code", 400, 400, "invalid_request")
	h.refresh("-").wants(t, "no refresh_token", 400, 400, "invalid_request")
}

// Decision 4.
func TestSecretsAreBothLiveDuringARotation(t *testing.T) {
	h := newFixture(t)
	old := h.app.Secrets[0]
	h.app.Secrets = []storage.AppSecret{{Secret: storage.DrawSecret()}, old}
	h.app = must(h.store.SaveApp(t.Context(), h.app))(t)
	h.token("grant_type", "client_credentials", "client_secret", old.Secret.Reveal()).tokens(t)
	h.token("grant_type", "client_credentials").tokens(t)
}

// Decision 10.
func TestMalformedTokenRequestsAreRefused(t *testing.T) {
	h := newFixture(t)
	valid := h.tokenForm("grant_type", "client_credentials").Encode()
	for _, c := range []struct {
		name, contentType, body string
		status                  int
	}{
		{"JSON", "application/json", `{"grant_type":"client_credentials"}`, 400},
		{"no content type", "", valid, 400},
		{"multipart", "multipart/form-data; boundary=x", valid, 400},
		{"a parameter twice", "application/x-www-form-urlencoded", valid + "&grant_type=client_credentials", 400},
		{"a broken escape", "application/x-www-form-urlencoded", valid + "&x=%zz", 400},
		{"bytes that are no UTF-8", "application/x-www-form-urlencoded", valid + "&x=%ff", 400},
		{"a zero byte", "application/x-www-form-urlencoded", valid + "&x=a%00b", 400},
		{"70 KiB", "application/x-www-form-urlencoded", valid + "&x=" + strings.Repeat("x", 70<<10), 413},
		{"charset is fine", "application/x-www-form-urlencoded; charset=UTF-8", valid, 200},
	} {
		r := httptest.NewRequest("POST", "/oauth/token", strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.contentType)
		if a := h.answer(h.serve(r)); a.status != c.status {
			t.Errorf("%s: token = %d %v, want %d", c.name, a.status, a.body, c.status)
		}
	}
	r := httptest.NewRequest("POST", "/oauth/token?"+valid, strings.NewReader("grant_type=client_credentials"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	h.answer(h.serve(r)).wants(t, "credentials in the query", 401, 401, "invalid_client")
}

// Decision 12.
func TestBearerIsAnAccessTokenOnly(t *testing.T) {
	h := newFixture(t)
	h.app.IDTokenAlg = "ES256" // signed with the very key that signs access tokens
	h.app = must(h.store.SaveApp(t.Context(), h.app))(t)
	tokens := h.exchange(h.code()).tokens(t)
	for name, bearer := range map[string]string{
		"an id_token":      tokens.text("id_token"),
		"a refresh token":  tokens.text("refresh_token"),
		"a code":           h.code(),
		"an appkey":        h.app.AppKey().Reveal(),
		"a machine token":  h.token("grant_type", "client_credentials").tokens(t).text("access_token"),
		"half a token":     tokens.text("access_token")[:100],
		"a token and more": tokens.text("access_token") + "A",
	} {
		a := h.userInfo(bearer)
		a.wants(t, name+" as bearer", 401, 401, "invalid_token")
		if got := a.header.Get("WWW-Authenticate"); got != `Bearer error="invalid_token"` {
			t.Errorf("%s: WWW-Authenticate = %q", name, got)
		}
	}
	a := h.userInfo("")
	a.wants(t, "no bearer", 401, 401, "")
	if got := a.header.Get("WWW-Authenticate"); got != "Bearer" {
		t.Errorf("WWW-Authenticate = %q, want Bearer", got)
	}
	r := httptest.NewRequest("GET", "/oauth/userinfo?access_token="+tokens.text("access_token"), nil)
	h.answer(h.serve(r)).wants(t, "a token in the query", 401, 401, "")
}

// Decision 12.
func TestUserInfoHasAllClaimsAndOpensThemByScope(t *testing.T) {
	h := newFixture(t)
	const all = "email email_verified gender iss location login_type name nickname picture preferred_username sub " +
		"updated_at user_id"
	for scope, want := range map[string][3]any{
		"openid":               {"", "", false},
		"openid profile":       {"Ada", "", false},
		"openid profile email": {"Ada", "ada@example.com", true},
		"openid email":         {"", "ada@example.com", true},
	} {
		a := h.userInfo(h.exchange(h.code("scope", scope)).tokens(t).text("access_token"))
		if a.status != 200 || a.keys() != all {
			t.Fatalf("userinfo = %d with %s, want 200 with %s", a.status, a.keys(), all)
		}
		if got := [3]any{a.body["nickname"], a.body["email"], a.body["email_verified"]}; got != want {
			t.Errorf("scope %q: nickname, email, email_verified = %v, want %v", scope, got, want)
		}
		if a.text("sub") != h.user.Sub || a.number("user_id") != int(h.user.ID) || a.text("iss") != issuer ||
			a.text("login_type") != "self" || a.number("updated_at") == 0 {
			t.Errorf("scope %q: userinfo = %v, want sub, user_id, iss, login_type and updated_at always", scope, a.body)
		}
	}
}

// Decision 9.
func TestRevocationWorksAndRefusesWhatItMust(t *testing.T) {
	h := newFixture(t)
	tokens := h.exchange(h.code()).tokens(t)
	if a := h.revoke(tokens.text("access_token"), "token_type_hint", "refresh_token"); a.status != 200 ||
		a.number("code") != 0 || a.text("msg") != "success" || a.keys() != "code msg" {
		t.Errorf("revoke = %d %v, want 200 success whatever the hint", a.status, a.body)
	}
	h.userInfo(tokens.text("access_token")).wants(t, "a revoked access token", 401, 401, "invalid_token")
	next := h.refresh(tokens.text("refresh_token")).tokens(t) // the family lives on
	h.revoke(next.text("refresh_token"))
	h.refresh(next.text("refresh_token")).wants(t, "a revoked refresh token", 400, 400, "invalid_grant")
	h.userInfo(next.text("access_token")).wants(t, "an access token of a revoked family", 401, 401, "invalid_token")

	for _, unknown := range []string{"nonsense", "rt_nonsense", "a.b.c", next.text("access_token") + "x"} {
		if a := h.revoke(unknown); a.status != 200 {
			t.Errorf("revoke(%q) = %d %v, want 200", unknown, a.status, a.body)
		}
	}
	h.revoke("-").wants(t, "no token", 400, 400, "invalid_request")
	h.revoke("x", "client_secret", "wrong").wants(t, "a wrong secret", 401, 401, "invalid_client")

	theirs := h.exchange(h.code()).tokens(t)
	h.app = h.register(storage.App{Name: "Other", Domains: []string{"app.example.com"}})
	h.revoke(theirs.text("access_token")).wants(t, "another's access token", 400, 400, "unauthorized_client")
	h.revoke(theirs.text("refresh_token")).wants(t, "another's refresh token", 400, 400, "unauthorized_client")
	if u := h.userInfo(theirs.text("access_token")); u.status != 200 {
		t.Errorf("userinfo after a stranger's revocation = %d, want 200", u.status)
	}
}

// Decision 13.
func TestDiscoveryIsExactlyTheProtocols(t *testing.T) {
	h := newFixture(t)
	got := h.answer(h.serve(httptest.NewRequest("GET", "/.well-known/openid-configuration", nil)))
	var want map[string]any
	json.Unmarshal([]byte(`{
		"issuer":"https://id.example.com",
		"authorization_endpoint":"https://id.example.com/oauth/authorize.php",
		"token_endpoint":"https://id.example.com/oauth/token.php",
		"userinfo_endpoint":"https://id.example.com/oauth/userinfo.php",
		"revocation_endpoint":"https://id.example.com/oauth/revoke.php",
		"jwks_uri":"https://id.example.com/oauth/jwks",
		"end_session_endpoint":"https://id.example.com/oauth/logout",
		"response_types_supported":["code"],
		"grant_types_supported":["authorization_code","refresh_token","client_credentials"],
		"scopes_supported":["openid","profile","email"],
		"token_endpoint_auth_methods_supported":["client_secret_post"],
		"code_challenge_methods_supported":["S256","plain"],
		"subject_types_supported":["public"],
		"id_token_signing_alg_values_supported":["HS256"],
		"claims_supported":["sub","name","nickname","preferred_username","picture","email","email_verified","gender","location","login_type","updated_at"],
		"authorization_response_iss_parameter_supported":true,

		"introspection_endpoint":"https://id.example.com/oauth/introspect",
		"response_modes_supported":["query"],
		"request_parameter_supported":false,
		"request_uri_parameter_supported":false,
		"backchannel_logout_supported":true,
		"backchannel_logout_session_supported":true}`), &want)
	a, _ := json.Marshal(got.body)
	b, _ := json.Marshal(want)
	if string(a) != string(b) {
		t.Errorf("discovery = %s\nwant %s", a, b)
	}
	meta := h.answer(h.serve(httptest.NewRequest("GET", "/.well-known/oauth-authorization-server", nil)))
	if meta.text("token_endpoint") != issuer+"/oauth/token" || strings.Contains(mustJSON(meta.body), ".php") {
		t.Errorf("RFC 8414 document = %v, want plain endpoints", meta.body)
	}
}

func mustJSON(v any) string { b, _ := json.Marshal(v); return string(b) }

// Decision 13.
func TestDocumentsAnswerIfNoneMatch(t *testing.T) {
	h := newFixture(t)
	for _, path := range []string{"/.well-known/openid-configuration", "/.well-known/oauth-authorization-server",
		"/oauth/jwks", "/oauth/jwks.php"} {
		first := h.serve(httptest.NewRequest("GET", path, nil))
		etag := first.Header().Get("ETag")
		if first.Code != 200 || etag == "" || first.Header().Get("Cache-Control") != "public, max-age=300" {
			t.Fatalf("GET %s = %d, ETag %q, Cache-Control %q", path, first.Code, etag, first.Header().Get("Cache-Control"))
		}
		r := httptest.NewRequest("GET", path, nil)
		r.Header.Set("If-None-Match", `"other", W/`+etag)
		if again := h.serve(r); again.Code != 304 || again.Body.Len() != 0 {
			t.Errorf("GET %s with its ETag = %d, want 304", path, again.Code)
		}
		r.Header.Set("If-None-Match", `"other"`)
		if again := h.serve(r); again.Code != 200 {
			t.Errorf("GET %s with another ETag = %d, want 200", path, again.Code)
		}
	}
}

// Decision 15.
func TestKeySetShowsNoSecretAndMoreThanOneKey(t *testing.T) {
	h := newFixture(t)
	var set struct{ Keys []map[string]any }
	w := h.serve(httptest.NewRequest("GET", "/oauth/jwks", nil))
	if err := json.Unmarshal(w.Body.Bytes(), &set); err != nil || len(set.Keys) < 2 {
		t.Fatalf("jwks = %s, want at least an active and a next key", w.Body)
	}
	for _, k := range set.Keys {
		if k["d"] != nil || k["k"] != nil || k["kty"] == "oct" || k["kid"] == "" || k["use"] != "sig" {
			t.Errorf("key = %v, want a public signature key", k)
		}
	}
}

// Decision 13.
func TestPHPPathsAnswerTheSameAndOtherPathsAndMethodsDoNot(t *testing.T) {
	h := newFixture(t)
	a := h.post("/oauth/token.php", h.tokenForm("grant_type", "client_credentials"))
	if a.status != 200 {
		t.Errorf("token.php = %d %v", a.status, a.body)
	}
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/oauth/token", 405, "POST"},
		{"GET", "/oauth/revoke.php", 405, "POST"},
		{"DELETE", "/oauth/userinfo", 405, "GET, HEAD, POST"},
		{"POST", "/oauth/jwks", 405, "GET, HEAD"},
		{"GET", "/oauth//jwks", 404, ""},
		{"GET", "/oauth/jwks/", 404, ""},
		{"GET", "/oauth/../oauth/jwks", 404, ""},
		{"GET", "/oauth/nothing", 404, ""},
	} {
		w := h.serve(httptest.NewRequest(c.method, c.path, nil))
		if w.Code != c.status || w.Header().Get("Allow") != c.allow {
			t.Errorf("%s %s = %d, Allow %q, want %d, %q", c.method, c.path, w.Code, w.Header().Get("Allow"), c.status, c.allow)
		}
		h.answer(w) // JSON
	}
}

func TestNewSaysEverythingThatIsWrong(t *testing.T) {
	_, err := oauth.OpenTokens(t.Context(), oauth.TokensConfig{BaseURL: "id.example.com/", SigningAlg: "HS256",
		CodeLifetime: -1})
	for _, want := range []string{"BaseURL", "Store", "SigningAlg", "negative"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("OpenTokens = %v, want a complaint about %s", err, want)
		}
	}
	_, err = oauth.New(t.Context(), oauth.Config{IDTokenLifetime: -1})
	for _, want := range []string{"Tokens", "SignIn", "negative"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New = %v, want a complaint about %s", err, want)
		}
	}
}

// The issuer is configured: what a request says of hosts and proxies changes nothing.
func TestHostAndForwardedHeadersAreIgnored(t *testing.T) {
	h := newFixture(t)
	plain := h.serve(httptest.NewRequest("GET", issuer+"/.well-known/openid-configuration", nil)).Body.String()
	v := form("response_type", "code", "client_id", h.app.ID, "redirect_uri", redirect)
	for _, path := range []string{"/.well-known/openid-configuration", "/oauth/authorize?" + v.Encode()} {
		r := httptest.NewRequest("GET", "http://evil.example"+path, nil)
		for _, name := range []string{"X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Prefix", "Forwarded",
			"X-Original-URL", "X-Rewrite-URL", "X-HTTP-Method-Override"} {
			r.Header.Set(name, "evil.example")
		}
		w := h.serve(r)
		if strings.Contains(w.Body.String()+w.Header().Get("Location"), "evil") {
			t.Errorf("%s believes the request about its host: %s %s", path, w.Header().Get("Location"), w.Body)
		}
		if strings.HasPrefix(path, "/.well") && w.Body.String() != plain {
			t.Errorf("discovery changed to %s", w.Body)
		}
	}
}
