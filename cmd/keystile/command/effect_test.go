package command

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// Each command must end what it says, in the server that runs and in one that starts later.
func TestCommandEndsSessionsAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range ends {
		for _, running := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				data, base := t.TempDir(), "http://127.0.0.1"
				s := start(t, data, "--base-url", base, "--lifetimes-access", "1h")
				cookie, app := cookieOf(t, s), firstRunOf(t, data).App
				g := redeem(t, s, authorize(t, s), 200)
				wantUserInfo(t, s, g.AccessToken, 200)
				if !running {
					s.stop()
				}
				for _, words := range c.words {
					must(t, strings.Fields(strings.NewReplacer("APP", app.ClientID, "DATA", data).Replace(words+" --data DATA"))...)
				}
				if !running {
					s = start(t, data, "--base-url", base)
				}
				wantUserInfo(t, s, g.AccessToken, 401)
				refresh(t, s, g.RefreshToken, c.refresh)
				_, page := get(t, http.DefaultClient, s.origin()+"/oauth/signin", "Cookie", cookie.Name+"="+cookie.Value)
				if in := !strings.Contains(page, `name="password"`); in != c.staysIn {
					t.Errorf("the session is live: %t, want %t", in, c.staysIn)
				}
			})
		}
	}
}

var ends = map[string]struct {
	words   []string
	refresh int // what the refresh token is answered with
	staysIn bool
}{
	"session end":          {[]string{"session end admin"}, 400, false},
	"user disable":         {[]string{"user disable admin"}, 400, false},
	"disable, enable":      {[]string{"user disable admin", "user enable admin"}, 400, false},
	"a new password":       {[]string{"user set admin --password correct-horse"}, 400, false},
	"app set disabled":     {[]string{"app set APP --disabled", "app set APP --disabled=false"}, 400, true},
	"app delete":           {[]string{"app delete APP"}, 401, true},
	"first out, then gone": {[]string{"session end admin", "app delete APP"}, 401, false},
}

func TestSignInWorksAfterSigningOutEverywhere(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	must(t, "session", "end", "admin", "--data", s.data)
	g := redeem(t, s, authorize(t, s), 200)
	wantUserInfo(t, s, g.AccessToken, 200)
}

// Decision 15.
func TestRotatedKeysAreUsedAtOnce(t *testing.T) {
	t.Parallel()
	for _, running := range []bool{true, false} {
		data, base := t.TempDir(), "http://127.0.0.1"
		s := start(t, data, "--base-url", base)
		step := func(words ...string) {
			t.Helper()
			if !running {
				s.stop()
			}
			must(t, append([]string{"key", words[0], "--data", data}, words[1:]...)...)
			if !running {
				s = start(t, data, "--base-url", base)
			}
		}
		old := redeem(t, s, authorize(t, s), 200).AccessToken
		published := kids(t, s)
		step("rotate")
		fresh := redeem(t, s, authorize(t, s), 200).AccessToken
		if a, b := kidOf(t, old), kidOf(t, fresh); a == b || !strings.Contains(published, b) ||
			!strings.Contains(kids(t, s), a) {
			t.Errorf("running %t: signed by %s, then by %s; published were %s and are %s", running, a, b, published, kids(t, s))
		}
		wantUserInfo(t, s, old, 200)
		step("retire", "--", kidOf(t, old))
		if wantUserInfo(t, s, old, 401); strings.Contains(kids(t, s), kidOf(t, old)) {
			t.Errorf("running %t: a key that was withdrawn is published", running)
		}
		wantUserInfo(t, s, fresh, 200)
	}
}

// Decision 4.
func TestSecretOverlapAcceptsBothUntilItEnds(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	app := firstRunOf(t, s.data).App
	fresh := must(t, "app", "rotate-secret", app.ClientID, "--data", s.data)["client_secret"].(string)
	machineToken(t, s, app.ClientID, app.ClientSecret)
	machineToken(t, s, app.ClientID, fresh)
	last := must(t, "app", "rotate-secret", app.ClientID, "--overlap", "0", "--data", s.data)["client_secret"].(string)
	machineToken(t, s, app.ClientID, last)
	for _, secret := range []string{app.ClientSecret, fresh} {
		form := url.Values{"grant_type": {"client_credentials"}, "client_id": {app.ClientID}, "client_secret": {secret}}
		if resp, body := post(t, s, "/oauth/token", form); resp.StatusCode != 401 {
			t.Errorf("a secret that has ended: %d %s", resp.StatusCode, body)
		}
	}
	signIn(t, s) // the demo has not noticed
}

// Decision 5.
func TestPKCEIsForcedAndFreedWhileTheServerRuns(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	early := authorize(t, s) // a code without a challenge
	for _, forced := range []string{"1", "0", "1"} {
		must(t, "setting", "set", "oauth_force_pkce", forced, "--data", s.data)
		app := firstRunOf(t, s.data).App
		query := url.Values{"response_type": {"code"}, "client_id": {app.ClientID}, "redirect_uri": {app.RedirectURI}}
		resp, _ := stay(t, s, "/oauth/authorize?"+query.Encode(), cookieOf(t, s))
		to, err := resp.Location()
		if err != nil {
			t.Fatal(err)
		}
		if refused := to.Query().Get("error") == "invalid_request" &&
			to.Query().Get("code") == ""; refused != (forced == "1") {
			t.Errorf("forced %s, without a challenge: %s", forced, to)
		}
		query.Set("code_challenge", strings.Repeat("a", 43))
		query.Set("code_challenge_method", "S256")
		if resp, _ := stay(t, s, "/oauth/authorize?"+query.Encode(),
			cookieOf(t, s)); !strings.Contains(resp.Header.Get("Location"), "code=") {
			t.Errorf("forced %s, with a challenge: %s", forced, resp.Header.Get("Location"))
		}
	}
	redeem(t, s, early, 400)
}

func kids(t *testing.T, s *service) string {
	t.Helper()
	_, body := get(t, http.DefaultClient, s.origin()+"/oauth/jwks")
	return body
}

func kidOf(t *testing.T, token string) string {
	t.Helper()
	var header struct{ Kid string }
	if err := json.Unmarshal(headerOf(t, token), &header); err != nil || header.Kid == "" {
		t.Fatalf("a token without a kid: %s, %v", token, err)
	}
	return header.Kid
}
