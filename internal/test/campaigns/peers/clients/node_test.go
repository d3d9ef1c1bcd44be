package clients

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/agents"
	"github.com/keystile/keystile/internal/test/campaigns/program"
	"github.com/keystile/keystile/storage"
)

// callback is an address of an application on another machine: the browser is stopped before it goes there.
const callback = "https://app.example.com/cb"

var nodeClients = []client{
	{name: "openid-client", steps: "signed in, id_token, userinfo, refresh, revoked"},
	{name: "openid-client 5", as: "openid-client-5", file: "openid-client-5", alg: "RS256",
		steps: "signed in, id_token, userinfo, refresh, revoked"},
	{name: "oauth4webapi", steps: "signed in, id_token, userinfo, refresh, revoked"},
	{name: "authjs", as: "@auth/core", steps: "signed in, id_token, userinfo"},
	{name: "simple-oauth2", steps: "signed in, userinfo, refresh, revoked, its own token"},
	{name: "passport-openidconnect", file: "passport", steps: "signed in, id_token, userinfo"},
	{name: "passport-oauth2", file: "passport", steps: "signed in, userinfo", env: []string{"STRATEGY=oauth2"}},
	{name: "appauth", as: "@openid/appauth", public: true, steps: "signed in, userinfo, refresh, revoked"},
	{name: "arctic", steps: "state, signed in, id_token, userinfo, refresh, revoked"},
	{name: "badgateway", as: "@badgateway/oauth2-client",
		steps: "signed in, userinfo, refresh, revoked, its own token"},
	{name: "msal-node", as: "@azure/msal-node", set: "`protocolMode: 'OIDC'`, `knownAuthorities`",
		steps: "signed in, id_token, userinfo, refresh, its own token"},
	{name: "express-openid-connect",
		set: "`response_type: 'code'`, as it asks for an id_token by the browser, which OAuth 2.1 leaves out",
		alg: "RS256", steps: "signed in, id_token, userinfo, refresh, logout"},
}

// A program on Node signs somebody in, knows its user, and does what the client has beside that.
func TestNodeClients(t *testing.T) {
	installed(t, "simple-oauth2")
	site := agents.StartTLS(t)
	trust := site.CertificateFile(t)
	for _, c := range nodeClients {
		t.Run(c.name, func(t *testing.T) {
			domain := "app.example.com"
			if c.name == "appauth" {
				domain = program.Free(t)
				c.env = append(c.env, "LISTEN="+domain, "PATH="+opener(t)+":"+os.Getenv("PATH"))
			}
			app := site.App(t, storage.App{Domains: []string{domain}, Public: c.public, IDTokenAlg: c.alg})
			program := "clients/" + cmp.Or(c.file, c.name) + ".mjs"
			said := agents.Drive(t, site.Person(), node, []string{"node", "--import", "./clients/bundled.mjs", program},
				append(settings(site, app, trust), c.env...)...)
			wantSteps(t, said, c.steps)
		})
	}
}

// wantSteps fails a test whose client did not say each step.
func wantSteps(t *testing.T, said, steps string) {
	t.Helper()
	var done []string
	for line := range strings.Lines(said) {
		if step, ok := strings.CutPrefix(strings.TrimSpace(line), "ok: "); ok {
			done = append(done, step)
		}
	}
	if got := strings.Join(done, ", "); got != steps {
		t.Errorf("it did: %s; want %s", got, steps)
	}
}

// opener returns a folder with an xdg-open that has the address visited by the reader of its program's output.
func opener(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"visit: $1\" >/proc/$PPID/fd/1\n"
	must(t, os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(script), 0o755))
	return dir
}
