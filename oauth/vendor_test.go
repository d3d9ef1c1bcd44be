package oauth_test

import (
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// ofOthers holds parameters that clients of other providers send, with what they send, beside those that are read.
var ofOthers = map[string]string{
	"response_mode": "query", "audience": "https://api.example.com", "connection": "google", "organization": "org_1",
	"screen_hint": "signup",
	"auth0Client": "eyJuYW1lIjoiYXV0aDAtc3BhLWpzIn0=", "domain_hint": "example.com", "claims": `{"id_token":{"email":null}}`, "claims_locales": "de",
	"display": "popup", "access_type": "offline", "include_granted_scopes": "true", "hd": "example.com",
	"kc_idp_hint": "github", "kc_locale": "zh",
	"sessionToken": "x", "idp": "0oa1", "p": "b2c_1_signin", "client_info": "1", "x-client-SKU": "msal.js",
	"identity_provider": "Google",
	"approval_prompt":   "force", "locale": "zh_CN", "lang": "zh", "utm_source": "mail", "dpop_jkt": "x",
	"authorization_details": "[]", "resource_hint": "a",
	"redirect_url": "https://evil.example/cb", "a;b": "c;d", "ext-0": "1", "nonce2": "x", "device_id": "7",
	"registration_hint": "x", "id_token_hint": "x.y.z",
	"logout_hint": "ada", "web_message_uri": "https://app.example.com", "owner": "x", "session_state": "x",
	"code_challenge_methods": "S256",
}

// Parameters that are not read are ignored, be there one or two of them (RFC 6749 3.1, 3.2).
func TestParametersOfOtherProvidersAreNoErrors(t *testing.T) {
	h := newFixture(t)
	for name, value := range ofOthers {
		code := h.code(name, value)
		h.exchange(code, name, value).tokens(t)
		h.token("grant_type", "client_credentials", name, value).tokens(t)
		if slices.Contains([]string{"response_mode", "id_token_hint", "logout_hint", "dpop_jkt"}, name) { // which are known
			continue
		}
		twice := form("response_type", "code", "client_id", h.app.ID, "redirect_uri", redirect).Encode() + "&" +
			url.Values{name: {value, "other"}}.Encode()
		w := h.serve(httptest.NewRequest("GET", "/oauth/authorize?"+twice, nil))
		if to := w.Header().Get("Location"); w.Code != 302 || !strings.Contains(to, "code=") {
			t.Errorf("%s twice: %d to %s", name, w.Code, to)
		}
	}
	if to := h.authorize("nonce", "a;b", "state", "c;d").Header().Get("Location"); !strings.Contains(to, "code=") ||
		!strings.Contains(to, "state=c%3Bd") {
		t.Errorf("semicolons lead to %s", to)
	}
}

// The fault of a parameter is told to the application, if it and its redirect_uri are known.
func TestParameterThatIsWrongIsToldToTheApplication(t *testing.T) {
	h := newFixture(t)
	good := form("response_type", "code", "client_id", h.app.ID, "redirect_uri", redirect).Encode()
	for query, want := range map[string]string{
		good + "&scope=openid&scope=profile&state=s":                            "error=invalid_request",
		good + "&nonce=%zz&state=s":                                             "error=invalid_request",
		good + "&nonce=%ff&state=s":                                             "error=invalid_request",
		good + "&nonce=%00&state=s":                                             "error=invalid_request",
		good + "&unknown=%zz&state=s":                                           "error=invalid_request",
		good + "&prompt=none&prompt=none&state=s":                               "error=invalid_request",
		good + "&resource=https://a.example&resource=https://b.example&state=s": "error=invalid_target",
		good + "&response_mode=fragment&state=s":                                "error=invalid_request",
		good + "&claims=%zz&state=s":                                            "error=invalid_request",
	} {
		w := h.serve(httptest.NewRequest("GET", "/oauth/authorize?"+query, nil))
		to := w.Header().Get("Location")
		if w.Code != 302 || !strings.HasPrefix(to, "https://app.example.com/cb?") || !strings.Contains(to, want) ||
			!strings.Contains(to, "state=s") {
			t.Errorf("%s leads to %d %q, want %s", query, w.Code, to, want)
		}
		if strings.ContainsAny(to, "\"\\") || strings.Contains(to, "OAuth+2.0+Client") {
			t.Errorf("%s is answered in words of another: %s", query, to)
		}
	}
	for _, query := range []string{
		good + "&redirect_uri=" + url.QueryEscape(redirect), good + "&client_id=" + h.app.ID,
		strings.Replace(good, "client_id=", "client_id=%zz", 1),
		strings.Replace(good, url.QueryEscape(redirect), "https%3A%2F%2Fevil.example%2Fcb", 1) + "&nonce=%zz",
	} {
		if w := h.serve(httptest.NewRequest("GET", "/oauth/authorize?"+query, nil)); w.Code != 400 ||
			w.Header().Get("Location") != "" {
			t.Errorf("%s leads to %d %q, want a page", query, w.Code, w.Header().Get("Location"))
		}
	}
}
