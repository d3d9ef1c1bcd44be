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
