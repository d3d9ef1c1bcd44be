package clients

import (
	"os/exec"
	"testing"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/internal/test/agents"
	"github.com/keystile/keystile/storage"
)

// python is Debian's, which sees the modules that Debian has.
const python = "/usr/bin/python3"

// A program in Python signs somebody in, knows its user, and does what the client has beside that.
func TestPythonClients(t *testing.T) {
	usual := agents.StartTLS(t)
	for _, c := range []struct {
		name, script, module string
		app                  storage.App
		steps                string
		edits                []func(*keystile.Config)
	}{
		{name: "Authlib", script: "authlib_requests", module: "authlib", steps: "signed in, id_token, userinfo, refresh, revoked, refused"},
		{name: "Authlib in Flask", script: "authlib_flask", module: "authlib, flask", app: storage.App{IDTokenAlg: "ES256"}, steps: "signed in, id_token, userinfo", edits: listed},
		{name: "requests-oauthlib", script: "requests_oauthlib_", module: "requests_oauthlib", steps: "signed in, userinfo, refresh, its own token"},
		{name: "oauthlib", script: "oauthlib_", module: "oauthlib, requests", steps: "signed in, userinfo, refresh, revoked, refused"},
		{name: "social-auth", script: "social_auth", module: "social_core", app: storage.App{IDTokenAlg: "RS256"}, steps: "signed in, id_token, userinfo, refresh"},
		{name: "oauth2client", script: "oauth2client_", module: "oauth2client", steps: "signed in, id_token, userinfo, refresh"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := exec.Command(python, "-c", "import "+c.module).Run(); err != nil {
				t.Skipf("%s does not import %s: %v", python, c.module, err)
			}
			site := usual
			if c.edits != nil {
				site = agents.StartTLS(t, c.edits...)
			}
			trust := site.CertificateFile(t)
			c.app.Domains = []string{"app.example.com"}
			app := site.App(t, c.app)
			said := agents.Drive(t, site.Person(), "python", []string{python, c.script + ".py"}, "REQUESTS_CA_BUNDLE="+trust, "SSL_CERT_FILE="+trust,
				"PYTHONDONTWRITEBYTECODE=1", "ISSUER="+site.URL, "ID="+app.ID, "SECRET="+app.AppKey().Reveal(), "REDIRECT="+callback, "SUB="+site.Sub, "EMAIL="+agents.Email)
			wantSteps(t, said, c.steps)
		})
	}
}
