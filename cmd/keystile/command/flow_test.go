package command

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// origin returns the address that the service listens at, whatever the world calls it.
func (s *service) origin() string { return "http://" + s.address }

// headerOf is the header of a JWT.
func headerOf(t *testing.T, token string) []byte {
	t.Helper()
	part, _, _ := strings.Cut(token, ".")
	header, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		t.Fatal(err)
	}
	return header
}

// granted holds the members of a token answer that the tests read.
type granted struct {
	AccessToken  string `json:"access_token"`
	RefreshToken string `json:"refresh_token"`
	IDToken      string `json:"id_token"`
	ExpiresIn    int64  `json:"expires_in"`
}

// tokens posts to the token endpoint as the demo's application.
func tokens(t *testing.T, s *service, want int, form url.Values) (g granted) {
	t.Helper()
	app := firstRunOf(t, s.data).App
	form.Set("client_id", app.ClientID)
	form.Set("client_secret", app.ClientSecret)
	resp, body := post(t, s, "/oauth/token", form)
	if resp.StatusCode != want {
		t.Fatalf("token = %d %s, want %d", resp.StatusCode, body, want)
	}
	if err := json.Unmarshal([]byte(body), &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func redeem(t *testing.T, s *service, code string, want int) granted {
	t.Helper()
	return tokens(t, s, want, url.Values{"grant_type": {"authorization_code"}, "code": {code},
		"redirect_uri": {firstRunOf(t, s.data).App.RedirectURI}})
}

func refresh(t *testing.T, s *service, token string, want int) granted {
	t.Helper()
	return tokens(t, s, want, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}})
}

// authorize signs the administrator in and returns a code for the demo's application.
func authorize(t *testing.T, s *service) string {
	t.Helper()
	app := firstRunOf(t, s.data).App
	query := url.Values{"response_type": {"code"}, "client_id": {app.ClientID}, "redirect_uri": {app.RedirectURI},
		"scope": {"openid"}}
	resp, body := stay(t, s, "/oauth/authorize?"+query.Encode(), cookieOf(t, s))
	to, err := resp.Location()
	if err != nil || to.Query().Get("code") == "" {
		t.Fatalf("authorize = %d %s", resp.StatusCode, body)
	}
	return to.Query().Get("code")
}

// stay gets a path with a cookie and does not follow redirects.
func stay(t *testing.T, s *service, path string, cookie *http.Cookie) (*http.Response, string) {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return get(t, client, s.origin()+path, "Cookie", cookie.Name+"="+cookie.Value)
}

// cookieOf signs the administrator in and returns the session's cookie.
func cookieOf(t *testing.T, s *service) *http.Cookie {
	t.Helper()
	who := firstRunOf(t, s.data).Admin
	resp, body := enter(t, s, who.Username, who.Password, "")
	for _, c := range resp.Cookies() {
		if c.Name == "open_sso_token" {
			return c
		}
	}
	t.Fatalf("sign-in = %d %s", resp.StatusCode, body)
	return nil
}

// wantSignIn fails to sign in, coming from an address behind the peer.
func wantSignIn(t *testing.T, s *service, from string, want int) {
	t.Helper()
	if resp, body := enter(t, s, "admin", "not the password", from); resp.StatusCode != want {
		t.Errorf("sign-in from %s = %d, want %d: %s", from, resp.StatusCode, want, body)
	}
}

func enter(t *testing.T, s *service, username, password, from string) (*http.Response, string) {
	t.Helper()
	form := url.Values{"username": {username}, "password": {password}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.origin()+"/oauth/signin",
		strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("X-Forwarded-For", from)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return do(t, client, req)
}

func wantUserInfo(t *testing.T, s *service, token string, want int) {
	t.Helper()
	if resp, body := get(t, http.DefaultClient, s.origin()+"/oauth/userinfo", "Authorization",
		"Bearer "+token); resp.StatusCode != want {
		t.Errorf("userinfo = %d %s, want %d", resp.StatusCode, body, want)
	}
}
