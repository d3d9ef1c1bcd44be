package clients

import (
	"os"
	"os/exec"
	"testing"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/internal/test/campaigns/agents"
	"github.com/keystile/keystile/storage"
)

// client is a client of other people, and what is to be set for it. Tests of a language share its list, and the table
// of examples/CLIENTS.md is compared with them.
type client struct {
	name   string
	as     string // its name in npm or Debian, if that is another
	set    string // what is to be set beside the next
	file   string // of its program, if that has another name
	needs  string // the imports by which its program is known to run
	steps  string // what its program does
	public bool
	alg    string   // --id-token-alg of the application
	listed bool     // the setting id_token_algs lists ES256 too
	env    []string // of its program
}

// list makes discovery list ES256 too, by the setting id_token_algs. It is for clients that go by discovery and have no
// HS256.
func list(c *keystile.Config) { c.OAuth.IDTokenAlgs = []string{"HS256", "ES256"} }

// settings are the environment of the programs: what an application is configured with, and who is to sign in.
func settings(site *agents.Site, app storage.App, trust string) []string {
	env := []string{
		"NODE_EXTRA_CA_CERTS=" + trust, "REQUESTS_CA_BUNDLE=" + trust, "SSL_CERT_FILE=" + trust,
		"PERL_LWP_SSL_CA_FILE=" + trust, "PYTHONDONTWRITEBYTECODE=1",
		"ISSUER=" + site.URL, "ID=" + app.ID, "REDIRECT=" + callback, "SUB=" + site.Sub, "EMAIL=" + agents.Email,
	}
	if app.Public {
		return env
	}
	return append(env, "SECRET="+app.AppKey().Reveal())
}

// installed skips a test whose client of npm is not installed.
func installed(t *testing.T, name string) {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts programs")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	if _, err := os.Stat(node + "/node_modules/" + name); err != nil {
		t.Skip("the clients are not installed: run npm ci --include=dev in internal/test/campaigns/peers/node")
	}
}
