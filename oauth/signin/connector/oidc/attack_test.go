package oidc_test

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/storage"
)

func TestIDTokenWithAFaultSignsNobodyIn(t *testing.T) {
	p := newProvider(t)
	for fault, why := range map[string]string{
		"wrong-nonce": "nonce", "no-nonce": "nonce",
		"wrong-audience": "audience", "wrong-azp": "azp", "no-azp-of-two": "azp", "wrong-issuer": "different provider",
		"expired": "expired", "no-exp": "expired", "future": "iat", "no-iat": "iat", "not-yet": "not before",
		"no-sub": "sub", "strange-sub": "sub", "wrong-at-hash": "at_hash",
		"none": "not accepted", "HS256": "not accepted", "wrong-key": "signature", "unknown-kid": "signature",
		"no-id-token":      "without an id_token",
		"another-userinfo": "two different people", "no-iss": "no iss", "wrong-iss": "another issuer",
	} {
		c, person := p.connect(), "lin"
		if fault == "another-userinfo" {
			person = "omar" // whose name is there alone
		}
		profile, err := p.signIn(c, person, fault)
		wantTrouble(t, fault, profile, err, why)
	}
}

func TestSignatureThatCountsIsVerified(t *testing.T) {
	p := newProvider(t)
	for _, alg := range []string{"", "RS256", "PS256", "ES256", "EdDSA", "no-azp", "two-audiences"} {
		profile, err := p.signIn(p.connect(), "lin", alg)
		if err != nil || len(profile.Subjects) != 1 || !strings.HasPrefix(profile.Subjects[0], "i:"+issuer+"#") ||
			profile.Nickname != "林晓雨" || profile.Gender != "female" {
			t.Errorf("%s: %+v, %v", alg, profile, err)
		}
	}
}

func TestCodeIsOfOneVisit(t *testing.T) {
	p := newProvider(t)
	c := p.connect()
	query := p.visit(c, state, "lin", "")
	for what, change := range map[string]func(url.Values){
		// injected: the verifier is another
		"of another visit":  func(q url.Values) { q.Set("state", strings.Repeat("0", 32)) },
		"without its state": func(q url.Values) { q.Del("state") },
		"twice":             func(q url.Values) { q.Add("code", q.Get("code")) },
		"made up":           func(q url.Values) { q.Set("code", "made-up") },
		"endless":           func(q url.Values) { q.Set("code", strings.Repeat("x", 5000)) },
		"missing":           func(q url.Values) { q.Del("code") },
	} {
		q, _ := url.ParseQuery(query.Encode())
		change(q)
		if profile, err := p.finish(c, q); !errors.Is(err, connector.ErrCode) || len(profile.Subjects) > 0 {
			t.Errorf("a code %s: %+v, %v", what, profile, err)
		}
		query = p.visit(c, state, "lin", "")
	}
	if _, err := p.finish(c, query); err != nil {
		t.Fatal(err)
	}
	if _, err := p.finish(c, query); !errors.Is(err, connector.ErrCode) {
		t.Errorf("a code that is used: %v", err)
	}
}

func TestReturnOfAnotherIssuerIsRefusedWhateverItSays(t *testing.T) {
	p := newProvider(t)
	a := p.connect()
	p.c.Name, p.c.Issuer = "other", "https://other.example"
	query := p.visit(a, state, "lin", "")
	for what, iss := range map[string][]string{"another": {"https://other.example"}, "a prefix": {issuer[:len(issuer)-1]},
		"both": {issuer, "https://other.example"}, "twice": {issuer, issuer}, "none": nil} {
		q, _ := url.ParseQuery(query.Encode())
		q["iss"] = iss
		_, err := p.finish(a, q)
		wantTrouble(t, what, connector.Profile{}, err, "iss")
		q.Del("code")
		q.Set("error", "access_denied")
		_, err = p.finish(a, q)
		wantTrouble(t, what+", with a denial", connector.Profile{}, err, "iss")
	}
	if n := p.count("token"); n != 0 {
		t.Errorf("%d codes went to the token endpoint", n)
	}
	if _, err := p.finish(a, query); err != nil {
		t.Errorf("and its own: %v", err)
	}
}

// Two applications at one issuer, or one name moved to another issuer, have no visit in common.
func TestVisitOfAnotherApplicationIsWorthNothing(t *testing.T) {
	p := newProvider(t)
	a := p.connect()
	query := p.visit(a, state, "lin", "")
	p.c.ClientSecret = storage.NewSecret("another secret")
	profile, err := p.finish(p.connect(), query)
	wantTrouble(t, "with another secret", profile, err, "the id or the secret is wrong")
	if text := err.Error(); strings.Contains(text, "another secret") || strings.Contains(text, query.Get("code")) {
		t.Errorf("a secret is in the error: %s", text)
	}
}

func TestDenialIsADenial(t *testing.T) {
	p := newProvider(t)
	c := p.connect()
	if _, err := p.finish(c, p.visit(c, state, "nobody", "")); !errors.Is(err, connector.ErrDenied) {
		t.Errorf("Finish = %v", err)
	}
	_, err := p.finish(c, url.Values{"error": {"server_error"}, "error_description": {"no\nluck"}, "iss": {issuer},
		"state": {state}})
	wantTrouble(t, "another error", connector.Profile{}, err, "server_error: sent the browser back: noluck")
}

func TestKeysAreReadAgainForANewOneAndNotForEachOne(t *testing.T) {
	p := newProvider(t)
	_, err := p.signIn(p.connect(), "lin", "") // the keys are drawn outside of the bubble
	must(t, err)
	synctest.Test(t, func(t *testing.T) {
		p := newProvider(t)
		c := p.connect()
		for range 3 {
			_, err := p.signIn(c, "lin", "")
			must(t, err)
		}
		if n := p.count("jwks"); n != 1 {
			t.Errorf("the keys were read %d times", n)
		}
		for range 20 {
			profile, err := p.signIn(c, "lin", "unknown-kid")
			wantTrouble(t, "a kid of nobody", profile, err, "not accepted")
		}
		if n := p.count("jwks"); n != 1 {
			t.Errorf("a kid that nobody knows made it %d", n)
		}
		time.Sleep(10 * time.Second)
		p.RotateKeys()
		if _, err := p.signIn(c, "lin", ""); err != nil {
			t.Errorf("after a rotation: %v", err)
		}
		if n := p.count("jwks"); n != 2 {
			t.Errorf("the keys were read %d times after a rotation", n)
		}
	})
}

func TestDocumentThatCannotBeTrustedIsRefused(t *testing.T) {
	p := newProvider(t)
	original := document(t, p)
	for what, row := range map[string]struct {
		change func(map[string]any)
		why    string
	}{
		"another issuer": {func(d map[string]any) { d["issuer"] = "https://other.example" }, "calls itself"},
		"every tenant": {func(d map[string]any) { d["issuer"] = "https://login.microsoftonline.com/{tenantid}/v2.0" },
			"every tenant"},
		"no issuer":         {func(d map[string]any) { delete(d, "issuer") }, "calls itself"},
		"no token endpoint": {func(d map[string]any) { delete(d, "token_endpoint") }, "token_endpoint"},
		"no keys":           {func(d map[string]any) { delete(d, "jwks_uri") }, "jwks_uri"},
		"a script": {func(d map[string]any) { d["authorization_endpoint"] = "javascript:alert(1)" },
			"authorization_endpoint"},
		"a file": {func(d map[string]any) { d["userinfo_endpoint"] = "file:///etc/passwd" }, "userinfo_endpoint"},
		"HS256 alone": {func(d map[string]any) {
			d["id_token_signing_alg_values_supported"] = []string{"HS256", "none"}
		}, "signs id_tokens by none of"},
		"keys of ours": {func(d map[string]any) { d["token_endpoint_auth_methods_supported"] = []string{"private_key_jwt"} },
			"another authentication"},
	} {
		changed := map[string]any{}
		must(t, json.Unmarshal(original, &changed))
		row.change(changed)
		body, err := json.Marshal(changed)
		must(t, err)
		p.instead("openid-configuration", text(200, string(body)))
		err = leaving(t.Context(), p.connect())
		wantTrouble(t, what, connector.Profile{}, err, row.why)
	}
}

func document(t testing.TB, p *provider) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequest("GET", issuer+"/.well-known/openid-configuration", nil))
	return w.Body.Bytes()
}
