package command

import (
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"testing"

	"github.com/keystile/keystile/internal/test/filled"
)

// agentsRefresh registers an agent, signs the administrator in to it, and presents its replaced refresh token once
// more. It returns the status of that, and whether the answer has the same successor.
func agentsRefresh(t *testing.T, s *service) (status int, same bool) {
	t.Helper()
	const callback = "http://127.0.0.1:1/callback"
	_, made := send(t, s, http.MethodPost, "/oauth/register",
		`{"redirect_uris":["`+callback+`"],"token_endpoint_auth_method":"none"}`)
	id, _ := made["client_id"].(string)
	jar, _ := cookiejar.New(nil)
	a := &agent{T: t, s: s, browser: &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if r.URL.Port() == "1" {
			return http.ErrUseLastResponse
		}
		return nil
	}}}
	who := firstRunOf(t, s.data).Admin
	_, page := a.follow(a.browser.Get(s.base + filled.AuthorizePath(id, callback, "openid")))
	_, page = a.submit("/oauth/signin", page, url.Values{"username": {who.Username}, "password": {who.Password}})
	code, page := a.submit("/oauth/signin/consent", page, url.Values{"allow": {"1"}})
	if code == "" {
		t.Fatalf("after a yes: %s", page)
	}
	ask := func(form url.Values) (status int, g granted) {
		form.Set("client_id", id)
		r, err := http.PostForm(s.base+"/oauth/token", form)
		fatal(t, err)
		defer r.Body.Close()
		fatal(t, json.NewDecoder(r.Body).Decode(&g))
		return r.StatusCode, g
	}
	_, first := ask(url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback},
		"code_verifier": {proof}})
	again := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {first.RefreshToken}}
	status, next := ask(again)
	if status != 200 || next.RefreshToken == "" {
		t.Fatalf("a refresh = %d", status)
	}
	status, repeated := ask(again)
	return status, repeated.RefreshToken == next.RefreshToken
}
