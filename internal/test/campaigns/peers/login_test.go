package peers

import (
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/agents"
	"github.com/keystile/keystile/internal/test/vendordocs"
)

// drivers are stock clients that sign in by themselves, with how often they say that something is right.
var drivers = map[string]int{"login-v1.mjs": 9, "login-v2.mjs": 9, "login-remote.mjs": 6}

// Nobody registered anything: each client is refused, registers itself, sends its user to a browser,
// gets a token, lists and calls, and stays signed in by refreshing.
func TestStockClientsSignInByRegisteringThemselves(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts programs")
	}
	clientsAreInstalled(t, "mcp-remote")
	for script, least := range drivers {
		t.Run(script, func(t *testing.T) {
			site := agents.Start(t)
			person := agents.NewPerson(site.URL)
			said := drive(t, person, script, "BUS="+site.URL+"/api/mcp")
			if got := strings.Count(said, "ok: "); got < least {
				t.Errorf("%d things are right, want %d", got, least)
			}
			if pages := person.Pages(); len(pages) != 2 || !strings.Contains(pages[1], "not verified") {
				t.Errorf("%d pages were shown, want the sign-in and a consent that says that nobody checked it", len(pages))
			}
		})
	}
}

// The documents that vendors publish are recorded; a driver plays each vendor's client.
func TestDocumentOfEachVendorLetsStockClientsIn(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts programs")
	}
	clientsAreInstalled(t, "mcp-remote")
	documents := agents.WithVendors(t)
	for _, vendor := range agents.Vendors() {
		for script, least := range drivers {
			if script == "login-remote.mjs" && !vendor.Local() {
				continue // it listens on the user's machine, these do not
			}
			t.Run(vendor.Name+" "+script, func(t *testing.T) {
				site := agents.Start(t, documents)
				env := []string{"BUS=" + site.URL + "/api/mcp", "ISSUER=" + site.URL, "METADATA=" + vendor.ID,
					"REDIRECT=" + vendor.Redirect}
				if vendor.Signs {
					env = append(env, "PRIVATE_KEY="+vendordocs.PrivateKey(t))
				}
				if !vendor.Stays {
					env = append(env, "ONCE=1")
					least -= 3
				}
				person := agents.NewPerson(site.URL)
				said := drive(t, person, script, env...)
				if got := strings.Count(said, "ok: "); got < least {
					t.Errorf("%d things are right, want %d", got, least)
				}
				host, _ := url.Parse(vendor.ID)
				if pages := person.Pages(); len(pages) != 2 || !strings.Contains(pages[1], host.Host) {
					t.Errorf("%d pages were shown, want the sign-in and a consent that names %s", len(pages), host.Host)
				}
			})
		}
	}
}

// A user who has allowed tools that change nothing is asked again when the agent wants another. Version 1 of
// the TypeScript SDK does not ask: where it has a refresh token it refreshes, and gives up.
func TestStockClientAsksAgainForAToolThatWasNotAllowed(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts programs")
	}
	clientsAreInstalled(t, "@modelcontextprotocol/client")
	site := agents.Start(t)
	person, times := agents.NewPerson(site.URL), 0
	person.Choose = func(form url.Values) {
		if times++; times == 1 {
			form.Set("tools", "read")
		}
	}
	said := drive(t, person, "login-v2.mjs", "BUS="+site.URL+"/api/mcp", "STEP_UP=1")
	if got := strings.Count(said, "ok: "); got < 8 || times != 2 {
		t.Errorf("%d things are right, want 8; the user was asked %d times, want 2", got, times)
	}
}

// mcp-remote signs in where there is no browser: its user types a code elsewhere (RFC 8628).
func TestStockClientSignsInAsADevice(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts programs")
	}
	clientsAreInstalled(t, "mcp-remote")
	site := agents.Start(t)
	person := agents.NewPerson(site.URL)
	said := drive(t, person, "login-remote.mjs", "BUS="+site.URL+"/api/mcp", "DEVICE=1")
	if got := strings.Count(said, "ok: "); got < 6 || !strings.Contains(said, "/oauth/device?user_code=") {
		t.Errorf("%d things are right, want 6", got)
	}
	pages := person.Pages()
	if len(pages) < 3 || !strings.Contains(pages[len(pages)-2], "not verified") {
		t.Errorf("%d pages were shown, want the sign-in, the code, a consent and the end", len(pages))
	}
}

// clientsAreInstalled skips a test where the clients of folder node are not.
func clientsAreInstalled(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	if _, err := os.Stat("node/node_modules/" + name); err != nil {
		t.Skip("the clients are not installed: run npm ci --include=dev in internal/test/campaigns/peers/node")
	}
}

func drive(t *testing.T, person *agents.Person, script string, env ...string) (said string) {
	t.Helper()
	return agents.Drive(t, person, "node", []string{"node", script}, env...)
}
