package command

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A rule that an operator sets for a capability holds at once in the server that runs, for lists,
// calls and bundles (decision 54).
func TestAccessToToolsChangesAtOnce(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := start(t, data)
	document := filepath.Join(t.TempDir(), "pets.json")
	if err := os.WriteFile(document, []byte(pets), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "capability", "register", "pets", "--upstream", "https://pets.example.com", "--openapi", document, "--data",
		data)
	record := firstRunOf(t, data)
	token := machineToken(t, s, record.App.ClientID, record.App.ClientSecret)
	found := func(want bool) {
		t.Helper()
		if list := speak(t, s, token, "tools/list", ``); strings.Contains(list, "pets__getPet") != want {
			t.Errorf("tools/list = %s, want the tool in it: %t", list, want)
		}
	}
	found(true)
	must(t, "capability", "access", "pets", "--deny", "app:"+record.App.ClientID, "--data", data)
	found(false)
	must(t, "capability", "access", "pets", "--reset", "--data", data)
	found(true)
	must(t, "setting", "set", "mcp.default_access", "owner", "--data", data)
	found(false)
	must(t, "setting", "set", "mcp.default_access", "auto", "--data", data)
	found(true)

	bundle := func(want int) {
		t.Helper()
		r, err := http.NewRequest("POST", s.base+"/api/mcp/b/support", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		resp, body := do(t, http.DefaultClient, r)
		if resp.StatusCode != want || want == 200 && !strings.Contains(body, "pets__getPet") {
			t.Errorf("the bundle = %d %s, want %d", resp.StatusCode, body, want)
		}
	}
	bundle(404)
	must(t, "capability", "bundle", "create", "support", "--tools", "pets__*", "--data", data)
	bundle(200)
	must(t, "capability", "bundle", "delete", "support", "--data", data)
	bundle(404)
	if _, body := get(t, http.DefaultClient, s.base+"/.well-known/oauth-protected-resource/api/mcp/b/support"); !strings.Contains(body, `"scopes_supported":["tools:b:support"]`) {
		t.Errorf("the bundle's metadata is %s", body)
	}
}

// Where strangers become users by themselves, a tool is its owner's until somebody says more.
func TestAccessWithOpenSignUpIsForTheToolsOwners(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := start(t, data, "--signup", "open")
	document := filepath.Join(t.TempDir(), "pets.json")
	if err := os.WriteFile(document, []byte(pets), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "capability", "register", "pets", "--upstream", "https://pets.example.com", "--openapi", document, "--data",
		data)
	record := firstRunOf(t, data)
	token := machineToken(t, s, record.App.ClientID, record.App.ClientSecret)
	if list := speak(t, s, token, "tools/list", ``); !strings.Contains(list, `"tools":[]`) {
		t.Errorf("an application finds %s", list)
	}
	must(t, "capability", "access", "pets", "--allow", "app:"+record.App.ClientID, "--data", data)
	if list := speak(t, s, token, "tools/list", ``); !strings.Contains(list, "pets__getPet") {
		t.Errorf("an application that is allowed finds %s", list)
	}
}

// Users who came while a way in was open have no more tools once it is closed.
func TestClosingSignUpOpensNoToolToWhoeverCameBefore(t *testing.T) {
	t.Parallel()
	document := filepath.Join(t.TempDir(), "pets.json")
	if err := os.WriteFile(document, []byte(pets), 0o600); err != nil {
		t.Fatal(err)
	}
	for before, c := range map[string]struct {
		args []string
		want string // what an application may use afterwards
	}{
		"open":                  {[]string{"--signup", "open"}, `"tools":[]`},
		"by invitation":         {[]string{"--signup", "invitation"}, `"tools":[]`},
		"a trial with fakes":    {[]string{"--fake-providers"}, `"tools":[]`},
		"closed from the start": {nil, "pets__getPet"},
	} {
		data := t.TempDir()
		must(t, "user", "create", "--data", data, "--username", "ada", "--password", userPassword) // before the first start
		start(t, data, c.args...).stop()
		s := start(t, data)
		must(t, "capability", "register", "pets", "--upstream", "https://pets.example.com", "--openapi", document, "--data",
			data)
		app := must(t, "app", "create", "--data", data, "--name", "A", "--domain", "a.example")
		token := machineToken(t, s, app["client_id"].(string), app["client_secret"].(string))
		if list := speak(t, s, token, "tools/list", ``); !strings.Contains(list, c.want) {
			t.Errorf("with sign-up %s before, an application finds %s", before, list)
		}
		_, out, _ := command(t, "", "capability", "access", "--who", "ada", "--data", data)
		if strings.Contains(out, "pets__getPet  true") != (c.want == "pets__getPet") {
			t.Errorf("with sign-up %s before, of ada it is said: %s", before, out)
		}
		must(t, "setting", "set", "mcp.default_access", "everyone", "--data", data)
		if list := speak(t, s, token, "tools/list", ``); !strings.Contains(list, "pets__getPet") {
			t.Errorf("with sign-up %s before, and everyone's tools, an application finds %s", before, list)
		}
		s.stop()
	}
}

func TestConsoleSaysByWhichSignUpTheDefaultAccessHolds(t *testing.T) {
	t.Parallel()
	for signUp, standing := range map[string]string{"closed": "everyone", "open": "owner"} {
		s := start(t, t.TempDir(), "--signup", signUp)
		want := `"default":"` + standing + `","default_by":{"setting":"mcp.default_access","value":"auto","signup":"` + signUp + `",`
		if _, body := get(t, http.DefaultClient, s.base+"/api/console/access", "Cookie",
			cookieOf(t, s).String()); !strings.Contains(body, want) {
			t.Errorf("with sign-up %s the console answers %s, want %s", signUp, body, want)
		}
	}
}
