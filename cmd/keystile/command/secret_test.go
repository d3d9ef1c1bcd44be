package command

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every secret there is goes through a server that logs all it can, and its commands: the
// right way, the wrong way, and where it does not belong.
func TestSecretsOfTheServiceAreNeverLogged(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		data := t.TempDir()
		s := start(t, data, "--log-format", format, "--admin-listen", "127.0.0.1:0")
		p := firstRunOf(t, data)
		secrets := map[string]string{"password": p.Admin.Password, "client_secret": p.App.ClientSecret,
			"key": masterKeyOf(t, data)}
		plantFlows(t, s, secrets)
		plantCommands(t, s, secrets)
		plantMistakes(t, s, secrets)
		_, metrics := get(t, http.DefaultClient, "http://"+s.out.Find(t, s.ended, `Admin listener +(\S+)`)+"/metrics")
		if code := s.stop(); code != 0 {
			t.Errorf("it ended with %d", code)
		}
		wantNoFileWith(t, data, secrets["an API key"], secrets["another API key"])
		again := start(t, data, "--log-format", format)
		again.stop()
		said := s.log.String() + s.out.String() + metrics + again.log.String() + again.out.String()
		for name, secret := range secrets {
			for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
				if secret == "" || strings.Contains(said, form) {
					t.Errorf("the %s (%q) is shown: %s", name, form, said)
				}
			}
		}
		if strings.Count(said, "request_id") < 20 {
			t.Errorf("the log is too quiet to prove anything: %s", said)
		}
	}
}

// wantNoFileWith fails if a file of the data folder, such as the database with the audit trail in it,
// holds one of these texts.
func wantNoFileWith(t *testing.T, data string, texts ...string) {
	t.Helper()
	files := 0
	err := fs.WalkDir(os.DirFS(data), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(data, name))
		for _, text := range texts {
			if text == "" || bytes.Contains(content, []byte(text)) {
				t.Errorf("%s holds %q", name, text)
			}
		}
		files++
		return err
	})
	if err != nil || files < 3 {
		t.Errorf("%d files were looked at, %v", files, err)
	}
}

func masterKeyOf(t *testing.T, data string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(data, "master.key"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// plantFlows goes every way there is to a token.
func plantFlows(t *testing.T, s *service, secrets map[string]string) {
	t.Helper()
	secrets["the demo's token"] = bearer(t, signIn(t, s))
	app, cookie := firstRunOf(t, s.data).App, cookieOf(t, s)
	secrets["cookie"] = cookie.Value
	secrets["state"], secrets["nonce"] = "planted-state-51", "planted-nonce-52"
	secrets["verifier"] = strings.Repeat("planted-verifier-", 3)
	query := url.Values{
		"response_type": {"code"}, "client_id": {app.ClientID}, "redirect_uri": {app.RedirectURI}, "scope": {"openid"},
		"state": {secrets["state"]}, "nonce": {secrets["nonce"]}, "code_challenge": {secrets["verifier"]},
		"code_challenge_method": {"plain"},
	}
	resp, _ := stay(t, s, "/oauth/authorize?"+query.Encode(), cookie)
	to, err := resp.Location()
	if err != nil {
		t.Fatal(err)
	}
	secrets["code"] = to.Query().Get("code")
	g := tokens(t, s, 200, url.Values{
		"grant_type": {"authorization_code"}, "code": {secrets["code"]}, "redirect_uri": {app.RedirectURI},
		"code_verifier": {secrets["verifier"]},
	})
	redeem(t, s, secrets["code"], 400)
	next := refresh(t, s, g.RefreshToken, 200)
	refresh(t, s, g.RefreshToken, 400)
	secrets["access token"], secrets["refresh token"], secrets["id token"] = g.AccessToken, g.RefreshToken, g.IDToken
	secrets["next access token"], secrets["next refresh token"] = next.AccessToken, next.RefreshToken
	secrets["machine's token"] = machineToken(t, s, app.ClientID, app.ClientSecret)
	wantUserInfo(t, s, g.AccessToken, 200)
	post(t, s, "/oauth/revoke", url.Values{"client_id": {app.ClientID}, "client_secret": {app.ClientSecret},
		"token": {g.AccessToken}})
	stay(t, s, "/oauth/logout?id_token_hint="+g.IDToken, cookie)
}

// plantCommands tells and asks commands for secrets.
func plantCommands(t *testing.T, s *service, secrets map[string]string) {
	t.Helper()
	secrets["a new user's password"], secrets["a changed password"] = "planted horse 53", "planted horse 54"
	must(t, "user", "create", "--data", s.data, "--username", "ada", "--password", secrets["a new user's password"])
	must(t, "user", "set", "ada", "--data", s.data, "--password", secrets["a changed password"])
	made := must(t, "app", "create", "--data", s.data, "--name", "A", "--domain", "a.example")
	id := made["client_id"].(string)
	secrets["a new client_secret"] = made["client_secret"].(string)
	secrets["a rotated client_secret"] = must(t, "app", "rotate-secret", id, "--data", s.data)["client_secret"].(string)
	must(t, "key", "rotate", "--data", s.data)
	plantKeys(t, s, secrets)
	must(t, "backup", filepath.Join(t.TempDir(), "b.db"), "--data", s.data)
	must(t, "session", "end", "ada", "--data", s.data)
	must(t, "app", "delete", id, "--data", s.data)
}

// plantKeys makes API keys and sends them, and says in the wrong places too.
func plantKeys(t *testing.T, s *service, secrets map[string]string) {
	t.Helper()
	app := firstRunOf(t, s.data).App
	for _, name := range []string{"an API key", "another API key"} {
		made := must(t, "apikey", "create", "ada", "--name", name, "--scope", "openid tools", "--data", s.data)
		secrets[name] = made["key"].(string)
		wantUserInfo(t, s, secrets[name], 200)
		post(t, s, "/oauth/introspect", url.Values{"client_id": {app.ClientID}, "client_secret": {app.ClientSecret},
			"token": {secrets[name]}})
		post(t, s, "/oauth/revoke", url.Values{"client_id": {app.ClientID}, "client_secret": {app.ClientSecret},
			"token": {secrets[name]}})
		for _, path := range []string{"/oauth/introspect?token=", "/check_token.php?access_token=",
			"/oauth/userinfo?access_token=", "/ai/x?key=", "/api/v1/quota?access_token="} {
			get(t, http.DefaultClient, s.origin()+path+secrets[name])
			post(t, s, path+secrets[name], url.Values{})
		}
		wantFailure(t, 1, "there is no API key", "apikey", "revoke", secrets[name], "--data", s.data) // in place of its id
	}
	post(t, s, "/oauth/revoke", url.Values{"client_id": {"apikey"}, "token": {secrets["an API key"]}})
	wantUserInfo(t, s, secrets["an API key"], 401)
}

// plantMistakes sends secrets where they are wrong, or do not belong.
func plantMistakes(t *testing.T, s *service, secrets map[string]string) {
	t.Helper()
	secrets["a wrong password"], secrets["a wrong client_secret"] = "planted horse 55", "planted-secret-56"
	secrets["what is in a path"], secrets["what is in a query"] = "planted-path-57", "planted-query-58"
	secrets["what is in a header"] = "planted-header-59"
	enter(t, s, "admin", secrets["a wrong password"], "")
	enter(t, s, secrets["a wrong password"], "x", "")
	post(t, s, "/oauth/token", url.Values{"grant_type": {"client_credentials"},
		"client_id": {firstRunOf(t, s.data).App.ClientID}, "client_secret": {secrets["a wrong client_secret"]}})
	for _, path := range []string{"/oauth/userinfo/", "/oauth/token/", "/demo/", "/", "/oauth/authorize/"} {
		get(t, http.DefaultClient, s.origin()+path+secrets["what is in a path"])
	}
	query := strings.ReplaceAll("client_id=V&code=V&access_token=V&state=V&query=V&error=V&redirect_uri=V&post_logout_redirect_uri=V", "V", secrets["what is in a query"])
	for _, path := range []string{"/oauth/userinfo", "/oauth/authorize", "/oauth/signin", "/oauth/logout",
		"/demo/callback", "/healthz/ready", "/x"} {
		get(t, http.DefaultClient, s.origin()+path+"?"+query,
			"Authorization", "Bearer "+secrets["what is in a header"], "Cookie",
			"open_sso_token="+secrets["what is in a header"],
			"X-Forwarded-For", secrets["what is in a header"], "User-Agent", secrets["what is in a header"], "X-Request-Id",
			secrets["what is in a header"]+"!")
	}
}
