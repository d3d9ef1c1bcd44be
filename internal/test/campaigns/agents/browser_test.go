package agents

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/browser"
	"github.com/keystile/keystile/internal/test/vendordocs"
)

// A user at a real browser reads who asks, allows tools that change nothing and no others, and is back at
// the program that asked. That program gets what was allowed.
func TestBrowserAllowsAnAgentToolsThatChangeNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a browser")
	}
	chromium := browser.Launch(t)
	documents := WithVendors(t)
	for name, c := range map[string]struct {
		id   func(t *testing.T, site *Site, redirect string) string
		says []string
	}{
		"with a document": {func(*testing.T, *Site, string) string { return vendordocs.OpenCode },
			[]string{"opencode.ai", "not verified", "a program on this device"}},
		"dynamic": {registered, []string{"registered itself here", "Terminal", "not verified",
			"a program on this device"}},
	} {
		t.Run(name, func(t *testing.T) {
			site := Start(t, documents)
			program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				io.WriteString(w, "<!doctype html><title>Done</title><h1>You can close this page</h1>")
			}))
			defer program.Close()
			redirect := program.URL + "/callback"
			id := c.id(t, site, redirect)
			v := values()

			p := chromium.Tab(t, browser.Phone)
			p.Open(site.URL + "/oauth/authorize?" + url.Values{
				"response_type": {"code"}, "client_id": {id}, "redirect_uri": {redirect}, "scope": {"tools"}, "state": {"s1"},
				"resource": {site.URL + "/api/mcp"}, "code_challenge": {v["challenge"]}, "code_challenge_method": {"S256"},
			}.Encode())
			p.Type("#username", Username)
			p.Type("#password", Password)
			p.Follow("button[type=submit]")
			for _, text := range c.says {
				if got := p.Text("main"); !strings.Contains(got, text) {
					t.Errorf("the page does not say %q: %s", text, got)
				}
			}
			if p.Overflows() {
				t.Error("the page is wider than a phone")
			}
			p.Click("input[name=tools][value=read]")
			p.Follow("button[name=allow]")
			if got := p.Text("h1"); got != "You can close this page" {
				t.Fatalf("after a yes: %q at %s", got, p.URL())
			}
			back, err := url.Parse(p.URL())
			if err != nil || !strings.HasPrefix(p.URL(), redirect+"?") || back.Query().Get("state") != "s1" ||
				back.Query().Get("iss") != site.URL {
				t.Errorf("the browser is back at %s", p.URL())
			}
			bearer := site.redeem(t, url.Values{"grant_type": {"authorization_code"}, "client_id": {id},
				"redirect_uri": {redirect},
				"code":         {back.Query().Get("code")}, "code_verifier": {v["verifier"]}, "resource": {site.URL + "/api/mcp"}})
			if _, listed := site.ask(t, bearer, "tools/list", ""); !strings.Contains(listed, "up__status") ||
				strings.Contains(listed, "up__order") {
				t.Errorf("it lists %s", listed)
			}
			if status, answer := site.ask(t, bearer, "tools/call", "up__status"); status != http.StatusOK ||
				!strings.Contains(answer, "/status") {
				t.Errorf("a tool that changes nothing = %d %s", status, answer)
			}
			if status, answer := site.ask(t, bearer, "tools/call", "up__order"); status != http.StatusForbidden {
				t.Errorf("a tool that changes something = %d %s", status, answer)
			}
			for _, fault := range p.Faults() {
				t.Errorf("the browser complains: %s", fault)
			}
		})
	}
}

func registered(t *testing.T, site *Site, redirect string) string {
	t.Helper()
	answer, err := http.Post(site.URL+"/oauth/register", "application/json", strings.NewReader(`{"client_name":"Terminal","redirect_uris":["`+redirect+`"]}`))
	if err != nil {
		t.Fatal(err)
	}
	var client struct {
		ID string `json:"client_id"`
	}
	decode(t, answer, http.StatusCreated, &client)
	return client.ID
}

// redeem redeems a code for an access token.
func (s *Site) redeem(t *testing.T, form url.Values) string {
	t.Helper()
	answer, err := http.PostForm(s.URL+"/oauth/token", form)
	if err != nil {
		t.Fatal(err)
	}
	var tokens struct {
		Token string `json:"access_token"`
	}
	decode(t, answer, http.StatusOK, &tokens)
	return tokens.Token
}

// ask sends one message to the bus.
func (s *Site) ask(t *testing.T, bearer, method, tool string) (status int, text string) {
	t.Helper()
	params := map[string]any{}
	if tool != "" {
		params = map[string]any{"name": tool, "arguments": map[string]any{"code": 404}}
	}
	message, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodPost, s.URL+"/api/mcp", bytes.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+bearer)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func decode(t *testing.T, answer *http.Response, status int, into any) {
	t.Helper()
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != status || json.Unmarshal(body, into) != nil {
		t.Fatalf("%s = %d %s, %v", answer.Request.URL.Path, answer.StatusCode, body, err)
	}
}
