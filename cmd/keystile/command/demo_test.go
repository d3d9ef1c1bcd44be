package command

import (
	"html"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

func TestSignInThroughTheDemoShowsTheClaims(t *testing.T) {
	s := start(t, t.TempDir())
	page := signIn(t, s)
	for _, want := range []string{"Hello, Admin", "<th scope=\"row\">preferred_username</th><td>admin</td>",
		"<td>" + s.base + "</td>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not show %q:\n%s", want, page)
		}
	}
	token := bearer(t, page)
	if resp, body := get(t, http.DefaultClient, s.base+"/oauth/userinfo", "Authorization", "Bearer "+token); resp.StatusCode != 200 || !strings.Contains(body, `"preferred_username":"admin"`) {
		t.Errorf("the curl line of the page answers %d %s", resp.StatusCode, body)
	}
}

func TestDemoThatIsOffIsNotServed(t *testing.T) {
	s := start(t, t.TempDir(), "--demo=false")
	if resp, body := get(t, http.DefaultClient, s.base+"/demo"); resp.StatusCode != 404 || !strings.Contains(body, `"errcode":404`) {
		t.Errorf("GET /demo = %d %s", resp.StatusCode, body)
	}
	if firstRunOf(t, s.data).App != nil || strings.Contains(s.out.String(), "/demo") {
		t.Errorf("there is an application, or it is spoken of: %s", s.out)
	}
}

// The secret of a trial, and the codes of its mails in files, are for one's own machine.
func TestBeyondThisMachineTheDemoIsOffUnlessAskedFor(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	start(t, data).stop()
	app := firstRunOf(t, data).App
	s := start(t, data, "--base-url", "https://id.example.com")
	if resp, _ := get(t, http.DefaultClient, s.origin()+"/demo"); resp.StatusCode != 404 {
		t.Errorf("GET /demo = %d, want 404", resp.StatusCode)
	}
	if resp, _ := get(t, http.DefaultClient, s.origin()+"/oauth/signin/email"); resp.StatusCode != 404 {
		t.Errorf("sign-in by mails in files = %d, want 404", resp.StatusCode)
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {app.ClientID},
		"client_secret": {app.ClientSecret}}
	if resp, body := post(t, s, "/oauth/token", form); resp.StatusCode != 401 && resp.StatusCode != 400 {
		t.Errorf("the demo's secret still opens: %d %s", resp.StatusCode, body)
	}
	ask := url.Values{"response_type": {"code"}, "client_id": {app.ClientID}, "redirect_uri": {"http://127.0.0.1/cb"}}
	if resp, _ := get(t, person(t), s.origin()+"/oauth/authorize?"+ask.Encode()); resp.StatusCode != 400 {
		t.Errorf("authorize for the demo's application = %d, want 400", resp.StatusCode)
	}
	if said := s.out.String(); !strings.Contains(said, "--demo switches it on") || strings.Contains(said, "/demo\n") {
		t.Errorf("it says: %s", said)
	}
	s.stop()
	s = start(t, data, "--base-url", "https://id.example.com", "--demo")
	if resp, _ := get(t, http.DefaultClient, s.origin()+"/demo"); resp.StatusCode != 200 {
		t.Errorf("asked for, GET /demo = %d", resp.StatusCode)
	}
	machineToken(t, s, app.ClientID, app.ClientSecret)
}

func TestDemoEndRevokesItsGrants(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := start(t, data, "--base-url", "http://127.0.0.1")
	token := redeem(t, s, authorize(t, s), 200).AccessToken
	wantUserInfo(t, s, token, 200)
	s.stop()
	s = start(t, data, "--base-url", "http://127.0.0.1", "--demo=false")
	wantUserInfo(t, s, token, 401)
	if strings.Contains(s.out.String(), "--demo") {
		t.Errorf("who switches it off is told how to switch it on: %s", s.out)
	}
}

// Nobody has said that only this machine gets there: its base_url is made up.
func TestDemoIsOffOnAllAddressesUnlessAskedFor(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--listen", "0.0.0.0:0")
	if s.base[:17] != "http://localhost:" || firstRunOf(t, s.data).App != nil {
		t.Errorf("base_url %s, application %v", s.base, firstRunOf(t, s.data).App)
	}
	_, port, _ := strings.Cut(s.base, "localhost:")
	if resp, _ := get(t, http.DefaultClient, "http://127.0.0.1:"+port+"/demo"); resp.StatusCode != 404 {
		t.Errorf("GET /demo = %d", resp.StatusCode)
	}
}

// signIn goes the whole way as a browser without scripts does, and returns the last page.
func signIn(t *testing.T, s *service) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, Transport: s.wherever()}
	_, page := get(t, client, s.base+"/demo")
	_, page = get(t, client, attribute(t, page, `<a class="button" href="([^"]+)"`))
	who := firstRunOf(t, s.data).Admin
	fields := url.Values{"username": {who.Username}, "password": {who.Password}, "query": {attribute(t, page, `name="query" value="([^"]+)"`)}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+attribute(t, page, `<form method="post" action="([^"]+)"`), strings.NewReader(fields.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", s.base)
	resp, page := do(t, client, req)
	if resp.StatusCode != 200 || resp.Request.URL.Path != "/demo/result" {
		t.Fatalf("after the form: %d at %s\n%s", resp.StatusCode, resp.Request.URL, page)
	}
	return page
}

func attribute(t *testing.T, page, pattern string) string {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("no %s on the page:\n%s", pattern, page)
	}
	return html.UnescapeString(found[1])
}

func bearer(t *testing.T, page string) string {
	t.Helper()
	return attribute(t, page, `Authorization: Bearer ([\w.-]+)`)
}
