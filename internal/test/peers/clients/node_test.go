package clients

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/agents"
	"github.com/keystile/keystile/storage"
)

// callback is an address of an application on another machine: the browser is not let go there.
const callback = "https://app.example.com/cb"

// A program on Node signs somebody in, knows its user, and does what the client has beside that.
func TestNodeClients(t *testing.T) {
	installed(t, "simple-oauth2")
	site := agents.StartTLS(t)
	trust := site.CertificateFile(t)
	for _, c := range []struct {
		name, script string
		app          storage.App
		steps        string
		env          []string
	}{
		{name: "openid-client", steps: "signed in, id_token, userinfo, refresh, revoked"},
		{name: "openid-client 5", script: "openid-client-5", app: storage.App{IDTokenAlg: "RS256"}, steps: "signed in, id_token, userinfo, refresh, revoked"},
		{name: "oauth4webapi", steps: "signed in, id_token, userinfo, refresh, revoked"},
		{name: "authjs", steps: "signed in, id_token, userinfo"},
		{name: "simple-oauth2", steps: "signed in, userinfo, refresh, revoked, its own token"},
		{name: "passport-openidconnect", script: "passport", steps: "signed in, id_token, userinfo"},
		{name: "passport-oauth2", script: "passport", steps: "signed in, userinfo", env: []string{"STRATEGY=oauth2"}},
		{name: "appauth", app: storage.App{Public: true}, steps: "signed in, userinfo, refresh, revoked"},
		{name: "arctic", steps: "state, signed in, id_token, userinfo, refresh, revoked"},
		{name: "badgateway", steps: "signed in, userinfo, refresh, revoked, its own token"},
		{name: "msal-node", steps: "signed in, id_token, userinfo, refresh, its own token"},
		{name: "express-openid-connect", app: storage.App{IDTokenAlg: "RS256"}, steps: "signed in, id_token, userinfo, refresh, logout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.app.Domains = []string{"app.example.com"}
			if c.name == "appauth" {
				port := freePort(t)
				c.env = append(c.env, "PORT="+port, "PATH="+opener(t)+":"+os.Getenv("PATH"))
				c.app.Domains = []string{"127.0.0.1:" + port}
			}
			app := site.App(t, c.app)
			if c.script == "" {
				c.script = c.name
			}
			env := append(c.env, "NODE_EXTRA_CA_CERTS="+trust, "ISSUER="+site.URL, "ID="+app.ID, "REDIRECT="+callback, "SUB="+site.Sub, "EMAIL="+agents.Email)
			if !app.Public {
				env = append(env, "SECRET="+app.AppKey().Reveal())
			}
			said := agents.Drive(t, site.Person(), node, []string{"node", "--import", "./clients/bundled.mjs", "clients/" + c.script + ".mjs"}, env...)
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

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}

// opener returns a folder with an xdg-open that has the address visited by whoever reads its program's output.
func opener(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte("#!/bin/sh\necho \"visit: $1\" >/proc/$PPID/fd/1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
