package main

import (
	"html"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

func TestASignInThroughTheDemoShowsTheClaims(t *testing.T) {
	s := start(t, t.TempDir())
	page := signIn(t, s)
	for _, want := range []string{"Hello, Admin", "<th scope=\"row\">preferred_username</th><td>admin</td>", "<td>" + s.base + "</td>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not show %q:\n%s", want, page)
		}
	}
	token := bearer(t, page)
	if resp, body := get(t, http.DefaultClient, s.base+"/oauth/userinfo", "Authorization", "Bearer "+token); resp.StatusCode != 200 || !strings.Contains(body, `"preferred_username":"admin"`) {
		t.Errorf("the curl line of the page answers %d %s", resp.StatusCode, body)
	}
}

func TestNothingThatIsLoggedOrPrintedLaterIsSecret(t *testing.T) {
	data := t.TempDir()
	s := start(t, data)
	page := signIn(t, s)
	p := paperOf(t, data)
	must(t, "user", "create", "--data", data, "--username", "ada", "--password", "correct horse")
	made := must(t, "app", "create", "--data", data, "--name", "A", "--domain", "a.example")
	if code := s.stop(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	again := start(t, data)
	again.stop()
	said := s.log.String() + again.log.String() + again.out.String()
	for name, secret := range map[string]string{
		"password": p.Admin.Password, "client_secret": p.App.ClientSecret, "access token": bearer(t, page),
		"a new user's password": "correct horse", "a new client_secret": made["client_secret"].(string),
	} {
		if strings.Contains(said, secret) {
			t.Errorf("the %s is shown: %s", name, said)
		}
	}
	if !strings.Contains(s.out.String(), p.Admin.Password) || !strings.Contains(s.out.String(), p.App.ClientSecret) {
		t.Errorf("the first run does not say what it made: %s", s.out)
	}
}

func TestWithoutTheDemoThereIsNoDemo(t *testing.T) {
	s := start(t, t.TempDir(), "--demo=false")
	if resp, body := get(t, http.DefaultClient, s.base+"/demo"); resp.StatusCode != 404 || !strings.Contains(body, `"errcode":404`) {
		t.Errorf("GET /demo = %d %s", resp.StatusCode, body)
	}
	if paperOf(t, s.data).App != nil || strings.Contains(s.out.String(), "/demo") {
		t.Errorf("there is an application, or it is spoken of: %s", s.out)
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
	who := paperOf(t, s.data).Admin
	fields := url.Values{"username": {who.Username}, "password": {who.Password}, "query": {attribute(t, page, `name="query" value="([^"]+)"`)}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+attribute(t, page, `<form method="post" action="([^"]+)"`), strings.NewReader(fields.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", s.base)
	resp, page := do(t, client, req)
	if resp.StatusCode != 200 || resp.Request.URL.Path != "/demo/callback" {
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
