package legacy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

// An application before and after its three steps: it finds the same user.
func Example_fromConnectToOAuth() {
	h := newFixture(inExample{})
	const appid, appkey = "1000", appKey

	// Before: act=login, the browser, act=callback.
	login := h.get("/connect.php", form("act", "login", "appid", appid, "appkey", appkey, "redirect_uri", redirect))
	back := h.browse(login["url"].(string))
	before := h.get("/connect.php", form("act", "callback", "appid", appid, "appkey", appkey, "code", back.Get("code")))

	// 1. The browser goes to /oauth/authorize.
	const codeVerifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" // drawn for each sign-in
	const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"    // base64url(SHA-256(codeVerifier))
	back = h.browse("/oauth/authorize?" + form("response_type", "code", "client_id", appid, "redirect_uri", redirect,
		"state", "drawn-too", "code_challenge", challenge, "code_challenge_method", "S256").Encode())

	// 2. The code goes to /oauth/token.
	tokens := h.post("/oauth/token", form("grant_type", "authorization_code", "code", back.Get("code"), "redirect_uri",
		redirect,
		"code_verifier", codeVerifier, "client_id", appid, "client_secret", appkey))
	user := tokens["user"].(map[string]any)

	// 3. The access token opens /oauth/userinfo.
	r := httptest.NewRequest("GET", "/oauth/userinfo", nil)
	r.Header.Set("Authorization", "Bearer "+tokens["access_token"].(string))
	claims := h.decode(r)

	fmt.Println(before["social_uid"] == user["openid"], before["nickname"] == claims["nickname"])
	// Output: true true
}

// browse opens an address in the browser of a user who is signed in, and returns what the
// application is brought.
func (h *fixture) browse(address string) url.Values {
	r := httptest.NewRequest("GET", address, nil)
	r.AddCookie(&http.Cookie{Name: "open_sso_token", Value: h.session})
	return must(url.Parse(h.serve(r).Header().Get("Location")))(h).Query()
}

func (h *fixture) get(path string, v url.Values) map[string]any {
	return h.decode(request("GET", path, v))
}
func (h *fixture) post(path string, v url.Values) map[string]any {
	return h.decode(request("POST", path, v))
}

func (h *fixture) decode(r *http.Request) (body map[string]any) {
	if err := json.Unmarshal(h.serve(r).Body.Bytes(), &body); err != nil {
		h.Fatal(err)
	}
	return body
}

// inExample is the testing.TB of an example, which has none.
type inExample struct{ testing.TB }

func (inExample) Helper()                   {}
func (inExample) Cleanup(func())            {}
func (inExample) Fatal(args ...any)         { panic(fmt.Sprint(args...)) }
func (inExample) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }
