package command

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth/signin/connector/fake"
)

func TestConfiguredProvidersAreOffered(t *testing.T) {
	ours, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	alipays, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	private := base64.StdEncoding.EncodeToString(x509.MarshalPKCS1PrivateKey(ours))
	public, err := x509.MarshalPKIXPublicKey(&alipays.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "keystile.yaml")
	text := "connectors:\n  wx: {id: wxd477edab60670232, secret: secret-of-wx}\n" +
		"  qq: {id: \"101896710\", secret: secret-of-qq}\n" +
		"  douyin: {id: aw1234567890abcd, secret: secret-of-douyin}\n  alipay:\n    id: \"2021003129694075\"\n" +
		"    private_key: " + private + "\n    public_key: " + base64.StdEncoding.EncodeToString(public) + "\n"
	text += "  feishu: {id: cli_a1b2c3d4e5f6, secret: secret-of-feishu, lark: true}\n" +
		"  dingtalk: {id: dingabcdefghijklmnop, secret: secret-of-dingtalk}\n" +
		"  wecom: {corp_id: ww1234567890abcdef, agent_id: \"1000002\", secret: secret-of-wecom}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, t.TempDir(), "--config", file)
	_, page := get(t, http.DefaultClient, s.base+"/oauth/signin")
	stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for name, at := range map[string]string{
		"wx":     "https://open.weixin.qq.com/connect/qrconnect?appid=wxd477edab60670232&",
		"qq":     "https://graph.qq.com/oauth2.0/authorize?",
		"alipay": "https://openauth.alipay.com/oauth2/publicAppAuthorize.htm?app_id=2021003129694075&",
		"douyin": "https://open.douyin.com/platform/oauth/connect/?client_key=aw1234567890abcd&",

		"feishu":   "https://accounts.larksuite.com/open-apis/authen/v1/authorize?client_id=cli_a1b2c3d4e5f6&",
		"wecom":    "https://login.work.weixin.qq.com/wwlogin/sso/login?agentid=1000002&appid=ww1234567890abcdef&",
		"dingtalk": "https://login.dingtalk.com/oauth2/auth?client_id=dingabcdefghijklmnop&",
	} {
		if !strings.Contains(page, "/oauth/signin/with/"+name) {
			t.Errorf("%s is not offered", name)
		}
		resp, _ := get(t, stay, s.base+"/oauth/signin/with/"+name)
		if to := resp.Header.Get("Location"); !strings.HasPrefix(to, at) ||
			!strings.Contains(to, url.QueryEscape(s.base+"/oauth/signin/with/"+name+"/return")) {
			t.Errorf("%s sends to %s", name, to)
		}
	}
	if code, out, _ := command(t, "", "config", "--config", file); code != 0 || strings.Contains(out, private) ||
		strings.Contains(out, "secret-of") {
		t.Errorf("config = %d, with secrets: %s", code, out)
	}
}

// Several providers are configured; one of them is away, or cannot be reached from here.
func TestConfiguredProvidersOfOpenIDConnectAreOffered(t *testing.T) {
	issuer := httptest.NewServer(nil)
	defer issuer.Close()
	played, err := fake.New(fake.Config{BaseURL: issuer.URL})
	if err != nil {
		t.Fatal(err)
	}
	issuer.Config.Handler = played
	at := issuer.URL + fake.Path + "/oidc"
	file := filepath.Join(t.TempDir(), "keystile.yaml")
	text := "connectors:\n  oidc:\n    - {name: staff, label: Acme Staff, issuer: '" + at +
		"', id: our-id, secret: secret-of-staff, allow_private: 127.0.0.0/8}\n" +
		"    - {name: inside, issuer: '" + at + "', id: our-id, secret: secret-of-inside}\n" +
		"    - {preset: github, id: Iv1.1, secret: secret-of-github}\n" +
		"    - {preset: keycloak, issuer: 'https://id.example.com/realms/a', id: k, secret: secret-of-keycloak}\n" +
		"    - {preset: entra, tenant: 9188040d-6c67-4c5b-b112-36a304b66dad, id: e, secret: secret-of-entra}\n" +
		"    - {preset: google, id: g, secret: secret-of-google}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, t.TempDir(), "--config", file)
	_, page := get(t, http.DefaultClient, s.base+"/oauth/signin")
	for _, label := range []string{"Acme Staff", "GitHub", "Keycloak", "Microsoft", "Google"} {
		if !strings.Contains(page, "Sign in with "+label) {
			t.Errorf("%s is not offered", label)
		}
	}
	stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for name, want := range map[string]string{"staff": at + "/authorize?client_id=our-id&",
		"github": "https://github.com/login/oauth/authorize?client_id=Iv1.1&"} {
		resp, _ := get(t, stay, s.base+"/oauth/signin/with/"+name)
		if to := resp.Header.Get("Location"); !strings.HasPrefix(to, want) || !strings.Contains(to, "code_challenge=") ||
			!strings.Contains(to, url.QueryEscape(s.base+"/oauth/signin/with/"+name+"/return")) {
			t.Errorf("%s sends to %s", name, to)
		}
	}
	if resp, _ := get(t, stay, s.base+"/oauth/signin/with/inside"); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("an issuer on a private address that is not allowed = %d", resp.StatusCode)
	}
	if code, out, _ := command(t, "", "config", "--config", file); code != 0 || strings.Contains(out, "secret-of") ||
		!strings.Contains(out, "Acme Staff") {
		t.Errorf("config = %d, with secrets or without the rest: %s", code, out)
	}
	if s.stop(); strings.Contains(s.log.String(), "secret-of") || !strings.Contains(s.log.String(), "allow_private") {
		t.Errorf("the log has a secret, or does not say what to do: %s", s.log)
	}
}

func TestHalfOfAProviderIsAMistake(t *testing.T) {
	for args, want := range map[string]string{
		"--connectors-wx-id wxd477edab60670232":    "give both id and secret",
		"--connectors-alipay-id 2021003129694075":  "give all of id",
		"--connectors-alipay-public-key x":         "give all of id",
		"--connectors-wecom-corp-id ww1":           "give all of corp_id",
		"--connectors-wecom-agent-id 1":            "give all of corp_id",
		"--connectors-feishu-id cli_a":             "give both id and secret",
		"--connectors-feishu-lark true":            "give id and secret too",
		"--connectors-dingtalk-id ding1":           "give both id and secret",
		"--fake-providers true --listen 0.0.0.0:0": "loopback",
		"--fake-providers true --listen :0":        "loopback",
	} {
		code, _, errs := command(t, "", append([]string{"config"}, strings.Fields(args)...)...)
		if code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s = %d %s, want %q", args, code, errs, want)
		}
	}
}

func TestFakesLetAnybodyIn(t *testing.T) {
	s := start(t, t.TempDir(), "--fake-providers")
	for _, name := range []string{"wx", "qq", "alipay", "douyin", "feishu", "wecom", "dingtalk", "oidc", "github"} {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Jar: jar}
		resp, page := get(t, client, s.base+"/oauth/signin/with/"+name)
		if resp.StatusCode != 200 || !strings.Contains(page, "Omar Haddad") {
			t.Fatalf("%s = %d %s", name, resp.StatusCode, page)
		}
		at := resp.Request.URL
		form := url.Values{"person": {"lin"}, "query": {at.RawQuery}}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+at.Path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, page = do(t, client, req)
		if resp.StatusCode != 200 || resp.Request.URL.Path != "/oauth/signin" || !strings.Contains(page, "林晓雨") {
			t.Errorf("%s ends at %s with %d %s", name, resp.Request.URL, resp.StatusCode, page)
		}
	}
}

func TestLoginTypesSayWhatApplicationsAreTold(t *testing.T) {
	for setting, want := range map[string]string{"protocol": "self", "extended": "feishu"} {
		s := start(t, t.TempDir(), "--fake-providers", "--login-types", setting)
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Jar: jar}
		app := firstRunOf(t, s.data).App
		query := url.Values{"response_type": {"code"}, "client_id": {app.ClientID}, "redirect_uri": {app.RedirectURI},
			"scope": {"openid"}}
		resp, _ := get(t, client, s.base+"/oauth/signin/with/feishu")
		form := url.Values{"person": {"lin"}, "query": {resp.Request.URL.RawQuery}}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+resp.Request.URL.Path,
			strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		do(t, client, req)
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		resp, page := get(t, client, s.base+"/oauth/authorize?"+query.Encode())
		to, err := resp.Location()
		if err != nil {
			t.Fatalf("authorize = %d %s", resp.StatusCode, page)
		}
		g := redeem(t, s, to.Query().Get("code"), 200)
		if _, body := get(t, http.DefaultClient, s.origin()+"/oauth/userinfo", "Authorization", "Bearer "+g.AccessToken); !strings.Contains(body, `"login_type":"`+want+`"`) {
			t.Errorf("%s: userinfo says %s, want %s", setting, body, want)
		}
	}
	if code, _, errs := command(t, "", "config", "--login-types", "all"); code != 2 ||
		!strings.Contains(errs, "login_types") && !strings.Contains(errs, "login-types") {
		t.Errorf("another value = %d %s", code, errs)
	}
}

// An application that asks for a new sign-in gets one, or an error: an old session at a provider is no new sign-in.
func TestOldSessionOfAProviderIsNoNewSignIn(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--fake-providers", "--limits-per-ip", "6000")
	app := firstRunOf(t, s.data).App
	for _, row := range []struct{ provider, fault, asks, want string }{
		{"oidc", "", "prompt=login", "code="}, {"oidc", "old-session", "prompt=login", "error=login_required"},
		{"oidc", "no-auth-time", "max_age=60", "error=login_required"}, {"oidc", "old-session", "max_age=7200", "code="},
		{"wx", "", "prompt=login", "error=login_required"}, {"feishu", "", "max_age=60", "error=login_required"},
		{"wx", "", "prompt=select_account", "code="},
	} {
		browser := newBrowser(t)
		browser.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
			if strings.HasPrefix(r.URL.String(), app.RedirectURI) {
				return http.ErrUseLastResponse
			}
			return nil
		}
		query := url.Values{"response_type": {"code"}, "client_id": {app.ClientID}, "redirect_uri": {app.RedirectURI},
			"scope": {"openid"}, "state": {"s1"}}.Encode() + "&" + row.asks
		page, _ := get(t, browser, s.base+"/oauth/signin/with/"+row.provider+"?"+url.Values{"query": {query}}.Encode())
		form := url.Values{"person": {"lin"}, "query": {page.Request.URL.RawQuery}, "fault": {row.fault}}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+page.Request.URL.Path,
			strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		back, text := do(t, browser, req)
		if to := back.Header.Get("Location"); !strings.Contains(to, row.want) || !strings.Contains(to, "state=s1") {
			t.Errorf("%+v: %d to %q %s", row, back.StatusCode, to, text)
		}
	}
}

// An application that asks for the address gets the one that the provider tells of, as one that is not verified here.
func TestApplicationIsToldTheAddressOfAProvider(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--fake-providers", "--limits-per-ip", "6000")
	app := firstRunOf(t, s.data).App
	for scope, want := range map[string]string{"openid profile email": `"email":"lin@example.com","email_verified":false`,
		"openid profile": `"picture":"http`} {
		browser := newBrowser(t)
		query := url.Values{"response_type": {"code"}, "client_id": {app.ClientID}, "redirect_uri": {app.RedirectURI},
			"scope": {scope}}.Encode()
		page, _ := get(t, browser, s.base+"/oauth/signin/with/oidc?"+url.Values{"query": {query}}.Encode())
		form := url.Values{"person": {"lin"}, "query": {page.Request.URL.RawQuery}}
		browser.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
			if strings.HasPrefix(r.URL.String(), app.RedirectURI) {
				return http.ErrUseLastResponse
			}
			return nil
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+page.Request.URL.Path,
			strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		back, text := do(t, browser, req)
		to, err := back.Location()
		if err != nil {
			t.Fatalf("%d %s", back.StatusCode, text)
		}
		g := redeem(t, s, to.Query().Get("code"), 200)
		_, body := get(t, http.DefaultClient, s.base+"/oauth/userinfo", "Authorization", "Bearer "+g.AccessToken)
		if !strings.Contains(body, want) || scope == "openid profile" && strings.Contains(body, "lin@example.com") {
			t.Errorf("%s: userinfo says %s", scope, body)
		}
	}
}
