package command

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// A registered program on a phone is sent its code by the scheme that it has claimed there (RFC 8252 7.1).
func TestProgramOnAPhoneSignsUsersInByItsOwnScheme(t *testing.T) {
	const back = "com.example.phone:/callback"
	const verifier, challenge = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
		"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
	s := start(t, t.TempDir())
	app := must(t, "app", "create", "--data", s.data, "--name", "Phone", "--public", "--first-party", "--redirect-uri",
		back)["client_id"].(string)
	cookie := cookieOf(t, s)
	ask := func(to string) (*http.Response, string) {
		q := url.Values{"response_type": {"code"}, "client_id": {app}, "redirect_uri": {to}, "scope": {"openid"},
			"state": {"s"}, "code_challenge": {challenge}, "code_challenge_method": {"S256"}}
		return stay(t, s, "/oauth/authorize?"+q.Encode(), cookie)
	}
	resp, body := ask(back)
	to, err := resp.Location()
	if err != nil || !strings.HasPrefix(to.String(), back+"?code=") || to.Query().Get("state") != "s" {
		t.Fatalf("authorize = %d to %v: %s", resp.StatusCode, to, body)
	}
	form := url.Values{"grant_type": {"authorization_code"}, "client_id": {app}, "code": {to.Query().Get("code")},
		"redirect_uri": {back}, "code_verifier": {verifier}}
	if resp, body := post(t, s, "/oauth/token", form); resp.StatusCode != 200 || !strings.Contains(body, "id_token") {
		t.Errorf("token = %d %s", resp.StatusCode, body)
	}
	resp, _ = stay(t, s, "/oauth/logout?client_id="+app+"&post_logout_redirect_uri="+url.QueryEscape(back), cookie)
	if resp.StatusCode != 200 {
		t.Errorf("logout = %d", resp.StatusCode)
	}
	for _, other := range []string{"com.example.phone:/other", "com.example.phone2:/callback", "javascript:alert(1)"} {
		if resp, _ := ask(other); resp.StatusCode != 400 || resp.Header.Get("Location") != "" {
			t.Errorf("a code is sent to %s: %d", other, resp.StatusCode)
		}
	}
	must(t, "app", "set", app, "--data", s.data, "--first-party=false")
	if _, page := ask(back); !strings.Contains(page, "A program on this device, at com.example.phone:, wants to:") {
		t.Errorf("the page does not say who asks: %s", page)
	}
	must(t, "app", "set", app, "--data", s.data, "--redirect-uri", "com.example.phone:/v2")
	if resp, _ := ask(back); resp.StatusCode != 400 {
		t.Errorf("an address that was taken away: %d", resp.StatusCode)
	}
}
