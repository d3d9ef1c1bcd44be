package command

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

// oldClient is an application in PHP that was written for an aggregated login, with its application here.
type oldClient struct {
	*service
	address string
	app     map[string]any
}

// startOldClient registers an application with some flags, and runs it: it takes an answer with this code for a success.
func startOldClient(t *testing.T, s *service, success string, flags ...string) oldClient {
	t.Helper()
	php, err := exec.LookPath("php")
	if err != nil {
		t.Skip("php is not installed: ", err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := oldClient{service: s, address: free.Addr().String()}
	free.Close()
	o.app = must(t, append([]string{"app", "create", "--name", "Forum", "--domain", o.address, "--tier", "white_label", "--data", s.data}, flags...)...)
	cmd := exec.Command(php, "-S", o.address, filepath.Join("testdata", "oldclient.php"))
	cmd.Env = append(os.Environ(), "CONNECT="+s.base+"/connect.php?", "BACK=http://"+o.address+"/back", "SUCCESS="+success,
		"APPID="+o.app["client_id"].(string), "APPKEY="+o.app["client_secret"].(string))
	said := newOutput()
	cmd.Stderr = said // what it serves
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	t.Cleanup(func() { cmd.Process.Kill(); <-ended })
	said.find(t, ended, `(Development Server \(http://`+o.address+`\) started)`)
	return o
}

// signIn clicks the button of a type in a browser, and goes where it is led until a page is shown, which is not the
// application's.
func (o oldClient) signIn(t *testing.T, browser *http.Client, loginType string) (*http.Response, string) {
	t.Helper()
	return get(t, browser, "http://"+o.address+"/login?type="+loginType)
}

// allow signs in on the page of a fake provider.
func (o oldClient) allow(t *testing.T, browser *http.Client, page *http.Response, person string) (*http.Response, string) {
	t.Helper()
	form := url.Values{"person": {person}, "query": {page.Request.URL.RawQuery}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, o.base+page.Request.URL.Path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return do(t, browser, req)
}

// told holds what the application has been told.
type told struct {
	Redirect        string
	Callback, Query map[string]any
}

func toldOf(t *testing.T, text string) (all told) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatalf("the application says %s", text)
	}
	return all
}

func newBrowser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

// The whole way of an application that nobody has changed: a click leads to the provider, with no page of ours between,
// and the provider back to the application, which learns who it is. Once with the code that the family of such clients
// takes for a success, once with that of the protocol.
func TestAnOldClientSignsItsUsersInByEachType(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--fake-providers", "--limits-per-ip", "6000")
	for success, flags := range map[string][]string{"0": {"--first-party", "--legacy"}, "1": {"--first-party"}} {
		o := startOldClient(t, s, success, flags...)
		for _, loginType := range []string{"qq", "wx", "alipay", "douyin", "feishu", "wecom", "wework", "dingtalk", "github", "oidc"} {
			browser := newBrowser(t)
			page, text := o.signIn(t, browser, loginType)
			provider := strings.Replace(loginType, "wework", "wecom", 1)
			if page.StatusCode != 200 || !strings.HasPrefix(page.Request.URL.Path, "/fake-providers/"+provider+"/") {
				t.Errorf("type=%s with success %s leads to %s: %d %s", loginType, success, page.Request.URL, page.StatusCode, text)
				continue
			}
			_, text = o.allow(t, browser, page, "lin")
			is := toldOf(t, text)
			if is.Redirect != loginType || is.Callback["type"] != loginType || is.Query["type"] != loginType {
				t.Errorf("type=%s comes back as %+v", loginType, is)
			}
			uid, _ := is.Callback["social_uid"].(string)
			face, _ := is.Callback["faceimg"].(string)
			if len(uid) != 32 || is.Query["social_uid"] != uid || is.Callback["nickname"] != "林晓雨" || !strings.HasPrefix(face, s.base) {
				t.Errorf("type=%s tells of %v, then of %v", loginType, is.Callback, is.Query)
			}
			if loginType == "qq" && is.Callback["gender"] != "女" || loginType == "wx" && is.Callback["location"] != "中国 上海" {
				t.Errorf("type=%s tells of %v", loginType, is.Callback)
			}
			if _, text = o.signIn(t, browser, loginType); toldOf(t, text).Callback["social_uid"] != uid {
				t.Errorf("type=%s, once more in the same browser, says %s", loginType, text)
			}
		}
	}
}

// WeChat sends a name with a control character in it as it is, which is no JSON. It costs nobody their sign-in.
func TestANameThatIsNoJSONReachesTheApplication(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--fake-providers", "--limits-per-ip", "6000")
	o := startOldClient(t, s, "0", "--first-party", "--legacy")
	for _, loginType := range []string{"wx", "qq", "alipay", "douyin", "feishu", "wecom", "dingtalk"} {
		browser := newBrowser(t)
		page, _ := o.signIn(t, browser, loginType)
		if _, text := o.allow(t, browser, page, "kit"); toldOf(t, text).Callback["nickname"] != "Kit Moreau" {
			t.Errorf("type=%s says %s", loginType, text)
		}
	}
}

// Who is signed in by one way and clicks another is led there: a client that looks its users up by the type it has asked
// for finds them.
func TestTheTypeThatAnOldClientAsksForIsTheOneItGets(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--fake-providers", "--limits-per-ip", "6000")
	o := startOldClient(t, s, "0", "--first-party", "--legacy")
	browser := newBrowser(t)
	for _, loginType := range []string{"wx", "qq"} {
		page, _ := o.signIn(t, browser, loginType)
		_, text := o.allow(t, browser, page, "lin")
		if is := toldOf(t, text); is.Redirect != loginType || is.Callback["type"] != loginType {
			t.Errorf("type=%s comes back as %+v", loginType, is)
		}
	}
	page, text := o.signIn(t, browser, "email")
	if page.Request.URL.Path != "/oauth/signin/email" || page.StatusCode != 200 {
		t.Errorf("type=email leads to %s: %s", page.Request.URL, text)
	}
	if _, text := o.signIn(t, browser, "self"); toldOf(t, text).Redirect != "qq" {
		t.Errorf("type=self, which is whatever the service has, says %s", text)
	}
}

// type=email is the page for a code by email, and comes back like the others.
func TestAnOldClientSignsItsUsersInByEmail(t *testing.T) {
	t.Parallel()
	port, next := mailServer(t)
	file := filepath.Join(t.TempDir(), "keystile.yaml")
	conf := "signup: open\nmail: {smtp: {host: localhost, port: " + port +
		", tls: none, username: keystile, password: mail secret, from: id@example.com}}\n"
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, t.TempDir(), "--config", file)
	o := startOldClient(t, s, "0", "--first-party", "--legacy")
	browser := newBrowser(t)
	page, text := o.signIn(t, browser, "email")
	if page.Request.URL.Path != "/oauth/signin/email" {
		t.Fatalf("type=email leads to %s: %s", page.Request.URL, text)
	}
	send := func(to string, form url.Values) string {
		resp, err := browser.PostForm(s.base+to, form)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	send("/oauth/signin/email", url.Values{"address": {"ada@example.org"}, "query": {page.Request.URL.Query().Get("query")}})
	var mail struct{ Content string }
	if err := json.Unmarshal([]byte(next()), &mail); err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(mail.Content, "\r\n\r\n")
	is := toldOf(t, send("/oauth/signin/email/code", url.Values{"code": {mailedCode.FindString(body)}}))
	if uid, _ := is.Callback["social_uid"].(string); is.Redirect != "email" || is.Callback["type"] != "email" || len(uid) != 32 {
		t.Errorf("type=email comes back as %+v", is)
	}
}

// What holds on the sign-in page holds on the short way.
func TestTheShortWayToAProviderSkipsNoRule(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--fake-providers", "--connectors-qq-signup", "closed")
	asks := startOldClient(t, s, "0", "--legacy")
	browser := newBrowser(t)
	page, _ := asks.signIn(t, browser, "wx")
	if page, text := asks.allow(t, browser, page, "lin"); page.Request.URL.Path != "/oauth/authorize" || !strings.Contains(text, "Forum") {
		t.Errorf("an application that is not first-party gets a user without consent: %s %s", page.Request.URL, text)
	}

	stranger := newBrowser(t)
	page, _ = asks.signIn(t, stranger, "qq")
	page, text := asks.allow(t, stranger, page, "lin")
	if page.StatusCode != 401 || !strings.Contains(text, "You have no account here") {
		t.Errorf("a stranger by a closed way = %d %s", page.StatusCode, text)
	}

	strict := startOldClient(t, s, "0", "--legacy", "--first-party", "--mfa", "required")
	browser = newBrowser(t)
	page, _ = strict.signIn(t, browser, "wx")
	if page, text := strict.allow(t, browser, page, "mei"); !strings.HasPrefix(page.Request.URL.Path, "/oauth/signin/factor") {
		t.Errorf("an application that requires two factors gets a user with one: %s %s", page.Request.URL, text)
	}

	first := startOldClient(t, s, "0", "--legacy", "--first-party")
	browser = newBrowser(t)
	page, _ = first.signIn(t, browser, "wx")
	_, text = first.allow(t, browser, page, "lin")
	uid := toldOf(t, text).Callback["social_uid"].(string)
	_, users, _ := command(t, "", "user", "list", "--data", s.data)
	for _, line := range regexp.MustCompile(`(?m)^(\S+) .*\bwx_`).FindAllStringSubmatch(users, -1) {
		must(t, "user", "disable", "--data", s.data, line[1])
	}
	other := newBrowser(t)
	page, _ = first.signIn(t, other, "wx")
	if page, text := first.allow(t, other, page, "lin"); page.StatusCode != 401 || strings.Contains(text, uid) {
		t.Errorf("a disabled user = %d %s", page.StatusCode, text)
	}
}

// A client that wants another code for a success says so, and one whose type is not offered says what is, and what to do.
func TestAnOldClientIsToldWhatIsNotOffered(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	o := startOldClient(t, s, "0", "--legacy")
	_, text := o.signIn(t, newBrowser(t), "qq")
	for _, want := range []string{"failed: ", "offered are self, email", "connectors.qq.id and connectors.qq.secret"} {
		if !strings.Contains(text, want) {
			t.Errorf("type=qq without a connector says %s, without %q", text, want)
		}
	}
	if _, text = o.signIn(t, newBrowser(t), "sina"); !strings.Contains(text, "no connector of the name sina") {
		t.Errorf("type=sina says %s", text)
	}
	plain := startOldClient(t, s, "0")
	if _, text := plain.signIn(t, newBrowser(t), "self"); text != "failed: succ" {
		t.Errorf("code 1 to a client that takes 0 for a success says %s", text)
	}
	if out := must(t, "app", "create", "--name", "Forum", "--domain", "forum.example.com", "--legacy", "--data", s.data); out["legacy_success_code"] != 0.0 {
		t.Errorf("app create --legacy prints %v", out)
	}
	wantFailure(t, 2, "the old endpoints want an appkey", "app", "create", "--name", "Forum", "--domain", "forum.example.com", "--legacy", "--public", "--data", s.data)
}

// A host that says nothing of the old endpoints has the types of its own sign-in page there.
func TestTheTypesOfAHostAreThoseOfItsSignInPage(t *testing.T) {
	t.Parallel()
	wx, err := connector.NewWX(connector.WX{ID: "wxd477edab60670232", Secret: storage.NewSecret("secret-of-wx")})
	if err != nil {
		t.Fatal(err)
	}
	s, err := keystile.New(t.Context(), keystile.Config{
		BaseURL: "https://id.example.com", Backend: memory.New(), MasterKey: storage.NewMasterKey(),
		SignIn: signin.Config{Connectors: []connector.Connector{wx}}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	app, err := s.Store.SaveApp(t.Context(), storage.App{Name: "Forum", Domains: []string{"forum.example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	open := func(at string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", at, nil))
		return w
	}
	ask := url.Values{"act": {"login"}, "appid": {app.ID}, "appkey": {app.AppKey().Reveal()}, "type": {"wx"}, "redirect_uri": {"https://forum.example.com/back"}}
	var began struct{ URL string }
	if w := open("https://id.example.com/connect.php?" + ask.Encode()); json.Unmarshal(w.Body.Bytes(), &began) != nil || began.URL == "" {
		t.Fatalf("act=login = %s", w.Body)
	}
	led := open(began.URL).Header().Get("Location")
	if to := open("https://id.example.com" + led).Header().Get("Location"); !strings.HasPrefix(to, "https://open.weixin.qq.com/connect/qrconnect?appid=wxd477edab60670232&") {
		t.Errorf("the browser is led to %s, then to %s", led, to)
	}
	if ask.Set("type", "qq"); !strings.Contains(open("https://id.example.com/connect.php?"+ask.Encode()).Body.String(), "offered are self, wx.") {
		t.Error("type=qq is not refused with what is offered")
	}
}
