package command

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// registered sends a registration as the administrator's browser and returns the answer's body.
func registered(t *testing.T, s *service, body string, status int, headers ...string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+"/api/console/capabilities/register",
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Cookie", cookieOf(t, s).String())
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, text := do(t, http.DefaultClient, req)
	if resp.StatusCode != status {
		t.Errorf("registration %.80s = %d %s, want %d", body, resp.StatusCode, text, status)
	}
	return text
}

// Decision 36.
func TestConsoleAndCommandsSeeWhatTheOtherRegisters(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	const document = `{"openapi":"3.0.3","paths":{"/pets/{id}":{"get":{"operationId":"getPet"}}}}`
	registered(t, s, `{"member":"pets","upstream_url":"https://pets.example.com","auth_type":"bearer","auth_secret":"sesame-0123456789","openapi":`+document+`}`, 200)
	if v := must(t, "capability", "show", "pets", "--data", s.data); v["kind"] != "rest" || v["tool_count"] != 1.0 {
		t.Errorf("the command shows %v", v)
	}
	file := filepath.Join(t.TempDir(), "pets.json")
	if err := os.WriteFile(file, []byte(strings.Replace(document, "getPet", "findPet", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "capability", "register", "pets", "--upstream", "https://pets.example.com", "--openapi", file, "--replace",
		"--data", s.data)
	cookie := cookieOf(t, s).String()
	if _, body := get(t, http.DefaultClient, s.base+"/api/console/capabilities/pets", "Cookie",
		cookie); !strings.Contains(body, "findPet") || strings.Contains(body, "getPet") {
		t.Errorf("the console shows %s", body)
	}
	s.stop()
	// with nobody serving
	must(t, "capability", "register", "mcp", "--upstream", "https://mcp.example.com", "--data", s.data)
	if v := must(t, "capability", "show", "mcp", "--data", s.data); v["kind"] != "mcp" || v["owner"] == "" {
		t.Errorf("the command shows %v", v)
	}
	code, trail, errs := command(t, "", "audit", "export", "--data", s.data)
	for _, want := range []string{
		`"detail":"capability register pets by u`, `"detail":"capability register pets by command line, uid `,
		`"detail":"capability register mcp by command line, uid `,
	} {
		if code != 0 || !strings.Contains(trail, want) {
			t.Errorf("%s is not on the trail: %s %s", want, trail, errs)
		}
	}
	if strings.Contains(trail+s.log.String(), "sesame") {
		t.Error("a secret is on the trail or in the log")
	}
}

// Decision 18.
func TestBearerTokenOpensNoConsole(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	app := firstRunOf(t, s.data).App
	bearer := "Bearer " + machineToken(t, s, app.ClientID, app.ClientSecret)
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		path := map[string]string{http.MethodGet: "", http.MethodPost: "/register", http.MethodDelete: "/pets"}[method]
		req, err := http.NewRequestWithContext(t.Context(), method, s.base+"/api/console/capabilities"+path, io.NopCloser(strings.NewReader(`{}`)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", bearer)
		req.Header.Set("Content-Type", "application/json")
		if resp, body := do(t, http.DefaultClient, req); resp.StatusCode != 401 || !strings.Contains(body, `"errcode":401`) {
			t.Errorf("%s with a bearer token = %d %s", method, resp.StatusCode, body)
		}
	}
}

// Decision 61.
func TestOperatorSaysHowMuchOneUserMayHave(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--registry-max-tools", "2", "--registry-max-capabilities", "1")
	two := `{"openapi":"3.0.3","paths":{"/a":{"get":{"operationId":"a"}},"/b":{"get":{"operationId":"b"}}}}`
	for i, member := range []string{"first", "again"} {
		text := registered(t, s, `{"member":"`+member+`","upstream_url":"https://pets.example.com","openapi":`+two+`}`, 200)
		if left := strings.Contains(text, "the bus leaves this capability out: with its 2 tools its owner would have 4 "+
			"there, and may have at most 2"); left != (i == 1) {
			t.Errorf("an administrator's registration %d is answered %s", i+1, text)
		}
	}
	token := machineToken(t, s, firstRunOf(t, s.data).App.ClientID, firstRunOf(t, s.data).App.ClientSecret)
	if tools := speak(t, s, token, "tools/list", "{}"); !strings.Contains(tools, "first__a") ||
		strings.Contains(tools, "again__a") {
		t.Errorf("the bus lists %s, want what was registered first", tools)
	}
	if v := must(t, "capability", "show", "again", "--data", s.data); !strings.Contains(v["warning"].(string),
		"at most 2") {
		t.Errorf("the command shows %v, want the reason", v)
	}
	must(t, "user", "create", "--username", "mina", "--password", "correct horse", "--role", "developer", "--data", s.data)
	resp, _ := enter(t, s, "mina", "correct horse", "")
	for _, c := range resp.Cookies() {
		if c.Name == "open_sso_token" {
			registered(t, s, `{"member":"one","upstream_url":"https://pets.example.com"}`, 200, "Cookie", c.String())
			registered(t, s, `{"member":"more","upstream_url":"https://pets.example.com"}`, 400, "Cookie", c.String())
			return
		}
	}
	t.Error("a developer is not signed in")
}
