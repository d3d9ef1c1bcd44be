package command

import (
	"net/http"
	"net/url"
	"syscall"
	"testing"
)

func TestFullDiskLosesNothingAndHeals(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := serveIn(t, data, "BE_FULL=on a signal")
	code := authorize(t, s.service)
	first := redeem(t, s.service, authorize(t, s.service), 200)

	s.disk(t, syscall.SIGUSR1)
	machineToken(t, s.service, firstRunOf(t, data).App.ClientID, firstRunOf(t, data).App.ClientSecret) // takes no room
	wantUserInfo(t, s.service, first.AccessToken, 200)
	tokens(t, s.service, 503, codeForm(s, t, code))
	refresh(t, s.service, first.RefreshToken, 503)
	if resp := s.revoke(t, first.AccessToken); resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("a revocation that is not stored is answered %d %v", resp.StatusCode, resp.Header)
	}
	if resp, body := enter(t, s.service, "admin", firstRunOf(t, data).Admin.Password, ""); resp.StatusCode != 503 {
		t.Errorf("sign-in = %d %s", resp.StatusCode, body)
	}
	wantFailure(t, 1, "unavailable", "setting", "set", "oauth_force_pkce", "1", "--data", data)
	wantFailure(t, 1, "unavailable", "app", "create", "--name", "X", "--domain", "a.example", "--data", data)

	wantHealth(t, s.service, 200, 503)

	s.disk(t, syscall.SIGUSR2)
	redeem(t, s.service, code, 200) // what was refused has not happened
	wantHealth(t, s.service, 200, 200)
	second := refresh(t, s.service, first.RefreshToken, 200)
	wantUserInfo(t, s.service, second.AccessToken, 200)

	s.disk(t, syscall.SIGUSR1)
	refresh(t, s.service, second.RefreshToken, 503)
	s.Process.Kill()
	<-s.child.ended
	again := serveIn(t, data)
	refresh(t, again.service, second.RefreshToken, 200) // and what was answered has
	if v := must(t, "setting", "get", "oauth_force_pkce", "--data", data); v["value"] != "0" {
		t.Errorf("a setting that was not stored is %v", v["value"])
	}
}

func TestStartOnAFullDiskIsExplained(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	c := spawn(t, []string{"BE_FULL=at once"}, "serve", "--data", data, "--listen", "127.0.0.1:0")
	wantExit(t, c, data+"/keystile.db", "file too large")
	serveIn(t, data) // once there is room, it begins as if nothing had been
}

func wantHealth(t *testing.T, s *service, live, ready int) {
	t.Helper()
	for path, want := range map[string]int{"/healthz/live": live, "/healthz/ready": ready} {
		if resp, body := get(t, http.DefaultClient, s.base+path); resp.StatusCode != want {
			t.Errorf("%s = %d %s, want %d", path, resp.StatusCode, body, want)
		}
	}
}

// disk makes the disk full (SIGUSR1) or free (SIGUSR2), and returns when it is.
func (s server) disk(t *testing.T, to syscall.Signal) {
	t.Helper()
	before := s.child.out.String()
	s.Process.Signal(to)
	for text, grown := s.child.out.Now(); text == before; text, grown = s.child.out.Now() {
		select {
		case <-grown:
		case <-s.child.ended:
			t.Fatalf("it ended: %s", s.child.log)
		}
	}
}

func (s server) revoke(t *testing.T, token string) *http.Response {
	t.Helper()
	app := firstRunOf(t, s.data).App
	resp, _ := post(t, s.service, "/oauth/revoke", url.Values{"client_id": {app.ClientID},
		"client_secret": {app.ClientSecret}, "token": {token}})
	return resp
}

func codeForm(s server, t *testing.T, code string) url.Values {
	t.Helper()
	return url.Values{"grant_type": {"authorization_code"}, "code": {code},
		"redirect_uri": {firstRunOf(t, s.data).App.RedirectURI}}
}
