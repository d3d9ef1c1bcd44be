package command

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/said"
)

// oldClient is an application in PHP that was written for an aggregated login, with its application here.
type oldClient struct {
	*service
	address string
	app     map[string]any
}

// startOldClient registers an application with some flags, and runs one that takes an answer with this code for a
// success.
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
	o.app = must(t, append([]string{"app", "create", "--name", "Forum", "--domain", o.address, "--tier", "white_label",
		"--data", s.data}, flags...)...)
	cmd := exec.Command(php, "-S", o.address, filepath.Join("testdata", "oldclient.php"))
	cmd.Env = append(os.Environ(), "CONNECT="+s.base+"/connect.php?", "BACK=http://"+o.address+"/back", "SUCCESS="+success,
		"APPID="+o.app["client_id"].(string), "APPKEY="+o.app["client_secret"].(string))
	said := said.New()
	cmd.Stderr = said // what it serves
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	t.Cleanup(func() { cmd.Process.Kill(); <-ended })
	said.Find(t, ended, `(Development Server \(http://`+o.address+`\) started)`)
	return o
}

// signIn clicks the button of a type in a browser, and goes where it is led until a page is shown, which is not the
// application's.
func (o oldClient) signIn(t *testing.T, browser *http.Client, loginType string) (*http.Response, string) {
	t.Helper()
	return get(t, browser, "http://"+o.address+"/login?type="+loginType)
}

// allow signs in on the page of a fake provider.
func (o oldClient) allow(
	t *testing.T, browser *http.Client, page *http.Response, person string,
) (*http.Response, string) {
	t.Helper()
	form := url.Values{"person": {person}, "query": {page.Request.URL.RawQuery}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, o.base+page.Request.URL.Path,
		strings.NewReader(form.Encode()))
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

// An application that nobody has changed goes the whole way: a click leads to the provider, with no page of ours
// between, and the provider leads back to the application, which learns who it is. It goes once with the code that the
// family of such clients takes for a success, and once with that of the protocol.
func TestOldClientSignsItsUsersInByEachType(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--fake-providers", "--limits-per-ip", "6000")
	for success, flags := range map[string][]string{"0": {"--first-party", "--legacy"}, "1": {"--first-party"}} {
		o := startOldClient(t, s, success, flags...)
		for _, loginType := range []string{"qq", "wx", "alipay", "douyin", "feishu", "wecom", "wework", "dingtalk", "github",
			"oidc"} {
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
			if len(uid) != 32 || is.Query["social_uid"] != uid || is.Callback["nickname"] != "林晓雨" ||
				!strings.HasPrefix(face, s.base) {
				t.Errorf("type=%s tells of %v, then of %v", loginType, is.Callback, is.Query)
			}
			if loginType == "qq" && is.Callback["gender"] != "女" ||
				loginType == "wx" && is.Callback["location"] != "中国 上海" {
				t.Errorf("type=%s tells of %v", loginType, is.Callback)
			}
			if _, text = o.signIn(t, browser, loginType); toldOf(t, text).Callback["social_uid"] != uid {
				t.Errorf("type=%s, once more in the same browser, says %s", loginType, text)
			}
		}
	}
}

// WeChat sends a name with a control character in it as it is, which is no JSON. It costs nobody their sign-in.
func TestNameThatIsNoJSONReachesTheApplication(t *testing.T) {
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

// A user who is signed in by one way and clicks another is led there: a client that looks its users up by the type it
// has asked for finds them.
func TestTypeThatAnOldClientAsksForIsTheOneItGets(t *testing.T) {
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
func TestOldClientSignsItsUsersInByEmail(t *testing.T) {
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
		_, text := submitted(t, browser, s.base+to, form)
		return text
	}
	send("/oauth/signin/email", url.Values{"address": {"ada@example.org"},
		"query": {page.Request.URL.Query().Get("query")}})
	var mail struct{ Content string }
	if err := json.Unmarshal([]byte(next()), &mail); err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(mail.Content, "\r\n\r\n")
	is := toldOf(t, send("/oauth/signin/email/code", url.Values{"code": {mailedCode.FindString(body)}}))
	if uid, _ := is.Callback["social_uid"].(string); is.Redirect != "email" || is.Callback["type"] != "email" ||
		len(uid) != 32 {
		t.Errorf("type=email comes back as %+v", is)
	}
}
