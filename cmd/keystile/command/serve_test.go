package command

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/internal/config"
)

func TestPortZeroIsNamedEverywhere(t *testing.T) {
	s := start(t, t.TempDir())
	if s.base != "http://"+s.address || strings.HasSuffix(s.base, ":0") {
		t.Errorf("base %q, listening on %q", s.base, s.address)
	}
	p := firstRunOf(t, s.data)
	if p.BaseURL != s.base || p.App.RedirectURI != s.base+"/demo/callback" {
		t.Errorf("first-run.json says %q and %q, the banner %q", p.BaseURL, p.App.RedirectURI, s.base)
	}
	var discovery struct{ Issuer string }
	_, body := get(t, http.DefaultClient, s.base+"/.well-known/openid-configuration")
	if err := json.Unmarshal([]byte(body), &discovery); err != nil || discovery.Issuer != s.base {
		t.Errorf("the issuer is %q, %v", discovery.Issuer, err)
	}
}

func TestDemoWorksAfterARestartElsewhere(t *testing.T) {
	data := t.TempDir()
	first := start(t, data)
	first.stop()
	second := start(t, data)
	if p := firstRunOf(t, data); p.BaseURL != second.base {
		t.Errorf("first-run.json says %q, want %q", p.BaseURL, second.base)
	}
	signIn(t, second)
}

func TestRestartKeepsKeysAndTokens(t *testing.T) {
	data, base := t.TempDir(), "http://id.example.com"
	s := start(t, data, "--base-url", base, "--demo")
	_, jwks := get(t, http.DefaultClient, "http://"+s.address+"/oauth/jwks")
	token := bearer(t, signIn(t, s))
	s.stop()
	s = start(t, data, "--base-url", base, "--demo")
	if _, again := get(t, http.DefaultClient, "http://"+s.address+"/oauth/jwks"); again != jwks {
		t.Errorf("the keys have changed:\n%s\n%s", jwks, again)
	}
	if resp, body := get(t, http.DefaultClient, "http://"+s.address+"/oauth/userinfo", "Authorization",
		"Bearer "+token); resp.StatusCode != 200 {
		t.Errorf("a token from before the restart opens nothing: %d %s", resp.StatusCode, body)
	}
}

func TestSecondServerOnTheSameDataSaysSo(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	s := start(t, t.TempDir())
	wantFailure(t, 1, "is in use by another process", "serve", "--data", s.data, "--listen", "127.0.0.1:0")
	if resp, _ := get(t, http.DefaultClient, s.base+"/healthz/ready"); resp.StatusCode != 200 {
		t.Errorf("the first one suffers: %d", resp.StatusCode)
	}
	must(t, "setting", "get", "oauth_force_pkce", "--data", s.data) // its socket is still there
}

func TestPortThatIsTakenIsExplained(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	wantFailure(t, 1, l.Addr().String()+" is in use by another program", "serve", "--data", t.TempDir(), "--listen",
		l.Addr().String())
	wantFailure(t, 1, "--listen", "serve", "--data", t.TempDir(), "--listen", "192.0.2.1:0")
}

func TestMasterKeyIsTheOneOrItSaysSo(t *testing.T) {
	data := t.TempDir()
	start(t, data).stop()
	key := filepath.Join(data, "master.key")
	other := filepath.Join(t.TempDir(), "k")
	os.WriteFile(other, []byte("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="), 0o600)
	serve := []string{"serve", "--data", data, "--listen", "127.0.0.1:0"}
	wantFailure(t, 1, "not the one this store was sealed with", append(serve, "--master-key-file", other)...)
	os.Chmod(key, 0o644)
	wantFailure(t, 1, "chmod 600 "+key, serve...)
	os.Remove(key)
	wantFailure(t, 1, "put the file back", serve...)
	wantFailure(t, 1, "put the file back", "setting", "get", "oauth_force_pkce", "--data", data)
	if _, err := os.Stat(key); err == nil {
		t.Error("a new key was made for an old database")
	}
}

func TestDamagedFileIsExplainedAndLeftAlone(t *testing.T) {
	data := t.TempDir()
	start(t, data).stop()
	path, garbage := filepath.Join(data, "keystile.db"), strings.Repeat("garbage ", 10_000)
	os.WriteFile(path, []byte(garbage), 0o600)
	wantFailure(t, 1, path+" is damaged", "serve", "--data", data, "--listen", "127.0.0.1:0")
	if text, err := os.ReadFile(path); string(text) != garbage {
		t.Errorf("the file was touched, %v", err)
	}
}

func TestServeWorksWithoutASocket(t *testing.T) {
	data := t.TempDir()
	if err := os.MkdirAll(filepath.Join(data, "admin.sock", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := start(t, data)
	if !strings.Contains(s.log.String(), "commands cannot reach this server") {
		t.Errorf("it does not say so: %s", s.log)
	}
	signIn(t, s)
}

func TestLandingPageAnswersInJSON(t *testing.T) {
	s := start(t, t.TempDir())
	for _, c := range []struct {
		path   string
		status int
		want   string
	}{
		{"/healthz/live", 200, `{"status":"live"}`},
		{"/healthz/ready", 200, `{"status":"ready"}`},
		{"/", 200, `"discovery":"` + s.base + `/.well-known/openid-configuration"`},
		{"/nowhere", 404, `"errcode":404`},
		{"/demon", 404, `"errcode":404`},
		{"/oauthx", 404, `"errcode":404`},
		{"/healthz", 404, `"errcode":404`},
		{"//oauth/token", 404, `"errcode":404`},
		{"/x/../oauth/jwks", 404, `"errcode":404`},
	} {
		req := &http.Request{Method: http.MethodGet, URL: &url.URL{Scheme: "http", Host: s.address,
			Opaque: "//" + s.address + c.path}, Header: http.Header{}}
		resp, body := do(t, http.DefaultClient, req.WithContext(t.Context()))
		if resp.StatusCode != c.status || !strings.Contains(body, c.want) ||
			resp.Header.Get("Content-Type") != "application/json" {
			t.Errorf("GET %s = %d %s %s, want %d %s", c.path, resp.StatusCode, resp.Header.Get("Content-Type"), body, c.status,
				c.want)
		}
	}
	if _, body := get(t, http.DefaultClient, s.base+"/", "Accept", "text/html,*/*"); !strings.Contains(body, `href="`+s.base+`/demo"`) {
		t.Errorf("a browser is shown %s", body)
	}
	for lang, want := range map[string]string{"en": "There is no such page", "zh-CN": "页面不存在"} {
		resp, body := get(t, http.DefaultClient, s.base+"/elsewhere/", "Accept", "text/html,*/*", "Accept-Language", lang)
		if resp.StatusCode != 404 || !strings.Contains(body, want) ||
			!strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
			t.Errorf("a browser that asks for what is not there is shown %d %s", resp.StatusCode, body)
		}
	}
}

func TestServerBoundsWhatAClientCanHoldOpen(t *testing.T) {
	server := newServer(nil, slog.New(slog.DiscardHandler))
	if server.ReadHeaderTimeout <= 0 || server.IdleTimeout <= 0 || server.MaxHeaderBytes <= 0 || server.ErrorLog == nil {
		t.Errorf("the server is %+v", server)
	}
}

func TestOriginsOfListeners(t *testing.T) {
	for _, c := range []struct{ asked, got, want string }{
		{"127.0.0.1:0", "127.0.0.1:5", "http://127.0.0.1:5"},
		{":8080", "[::]:8080", "http://localhost:8080"},
		{"0.0.0.0:8080", "0.0.0.0:8080", "http://localhost:8080"},
		{"[::]:8080", "[::]:8080", "http://localhost:8080"},
		{"[::1]:8080", "[::1]:8080", "http://[::1]:8080"},
		{"LOCALHOST:80", "127.0.0.1:80", "http://localhost"},
		{"[::1]:80", "[::1]:80", "http://[::1]"},
	} {
		addr, err := net.ResolveTCPAddr("tcp", c.got)
		if err != nil {
			t.Fatal(err)
		}
		if got := baseURL(c.asked, addr); got != c.want {
			t.Errorf("baseURL(%s, %s) = %s, want %s", c.asked, c.got, got, c.want)
		}
	}
}

func TestServeWarnsOfWhatWorksOnlyHere(t *testing.T) {
	for _, c := range []struct{ listen, base, want string }{
		{":8080", "", "set base_url"},
		{"[::]:8080", "", "set base_url"},
		{":8080", "https://id.example.com", ""},
		{"127.0.0.1:8080", "", ""},
		{"127.0.0.1:8080", "http://[::1]:8080", ""},
		{"127.0.0.1:8080", "http://id.example.com", "https in front"},
		{"127.0.0.1:8080", "https://id.example.com", "set trusted_proxies"},
		{"192.168.1.5:80", "http://192.168.1.5", "https in front"},
	} {
		var out strings.Builder
		base := cmp.Or(c.base, "http://localhost:8080")
		advise(slog.New(slog.NewTextHandler(&out, nil)), &config.Config{Listen: c.listen, BaseURL: c.base}, base)
		if !strings.Contains(out.String(), c.want) || (out.Len() == 0) != (c.want == "") {
			t.Errorf("listen %s, base_url %q: warned %q, want %q", c.listen, c.base, out.String(), c.want)
		}
	}
}

func TestFirstRunJSONHasExactlyItsShape(t *testing.T) {
	s := start(t, t.TempDir())
	text, err := os.ReadFile(filepath.Join(s.data, "first-run.json"))
	if err != nil {
		t.Fatal(err)
	}
	shape := `^{"base_url":"` + s.base + `","admin":{"username":"admin","password":"[0-9a-z-]{23}"},"app":{"client_id":"ks\w{20}","client_secret":"[\w-]{43}",` +
		`"domains":\["localhost","127.0.0.1"\],"redirect_uri":"` + s.base + `/demo/callback"}}$`
	if line, _ := json.Marshal(json.RawMessage(text)); !regexp.MustCompile(shape).Match(line) {
		t.Errorf("first-run.json is %s", line)
	}
	for name, want := range map[string]fs.FileMode{"first-run.json": 0o600, "master.key": 0o600, "keystile.db": 0o600,
		"admin.sock": 0o600} {
		if info, err := os.Lstat(filepath.Join(s.data, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}
