package pages

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/browser"
)

// The page's own script waits, sees what the phone does and goes on.
func TestBrowserIsSignedInByAPhone(t *testing.T) {
	t.Parallel()
	p := browser.Start(t)
	s := start(t, t.TempDir())
	p.Look(1000, false)
	p.Open(s.base + "/demo")
	p.Follow("a.button")
	look(t, p, "signin-with-code")
	p.Follow(`a[href^="/oauth/signin/qr"]`)
	look(t, p, "code")

	cookie := cookieOf(t, s).String()
	at := s.base + "/oauth/signin/scan/" + p.Attribute("#collect [name=id]", "value")
	resp, page := get(t, http.DefaultClient, at, "Cookie", cookie)
	number := regexp.MustCompile(`the number (\d\d)\?`).FindStringSubmatch(page)
	if resp.StatusCode != 200 || !strings.Contains(page, "on Linux wants to sign in as you") || number == nil {
		t.Fatalf("the phone's page = %d %s", resp.StatusCode, page)
	}
	p.Shown("#number")
	if got := p.Text("#number"); got != number[1] {
		t.Errorf("the screen shows the number %q, the phone %q", got, number[1])
	}
	if got := p.Text("#state"); !strings.Contains(got, "the number "+number[1]+".") {
		t.Errorf("the screen says %q, not the number %s", got, number[1])
	}
	look(t, p, "code-scanned")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at,
		strings.NewReader(url.Values{"answer": {"confirm"}}.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Cookie", cookie)
	if resp, page := do(t, http.DefaultClient, req); resp.StatusCode != 200 && resp.StatusCode != 303 {
		t.Fatalf("confirm = %d %s", resp.StatusCode, page)
	}
	p.Arrive()
	if got := p.Text("h1"); got != "Hello, Admin" {
		t.Errorf("the browser arrives at %s: %q", p.URL(), got)
	}

	p.Follow("form [type=submit]")
	p.Follow("a.button")
	p.Follow(`a[href^="/oauth/signin/qr"]`)
	id := p.Attribute("#collect [name=id]", "value")
	p.Open(s.base + "/oauth/signin") // the phone is this browser, for the looks of it
	p.Type("#username", firstRunOf(t, s.data).Admin.Username)
	p.Type("#password", firstRunOf(t, s.data).Admin.Password)
	p.Follow("button[type=submit]")
	p.Open(s.base + "/oauth/signin/scan/" + id)
	look(t, p, "scan")
	p.Follow("button[value=reject]")
	if got := p.Text("h1"); got != "You have rejected it" {
		t.Errorf("rejecting shows %q", got)
	}
	for _, fault := range p.Faults() {
		t.Errorf("the browser complains: %s", fault)
	}
}
