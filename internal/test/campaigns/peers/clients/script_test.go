package clients

import (
	"os/exec"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/agents"
	"github.com/keystile/keystile/storage"
)

// language is an interpreter of Debian's, which finds the modules that Debian has.
type language struct{ program, flag, folder string }

var pythonClients = []client{
	{name: "Authlib", as: "python3-authlib", file: "authlib_requests.py",
		needs: "import authlib", steps: "signed in, id_token, userinfo, refresh, revoked, refused"},
	{name: "Authlib in Flask", as: "python3-authlib", file: "authlib_flask.py",
		needs: "import authlib, flask", alg: "ES256", steps: "signed in, id_token, userinfo", listed: true},
	{name: "requests-oauthlib", as: "python3-requests-oauthlib", file: "requests_oauthlib_.py",
		needs: "import requests_oauthlib", steps: "signed in, userinfo, refresh, its own token"},
	{name: "oauthlib", as: "python3-oauthlib", file: "oauthlib_.py",
		needs: "import oauthlib, requests", steps: "signed in, userinfo, refresh, revoked, refused"},
	{name: "social-auth", as: "python3-social-auth-core", file: "social_auth.py",
		needs: "import social_core, jose", alg: "RS256", steps: "signed in, id_token, userinfo, refresh"},
	{name: "oauth2client", as: "python3-oauth2client", file: "oauth2client_.py",
		needs: "import oauth2client", steps: "signed in, id_token, userinfo, refresh"},
}

var rubyClients = []client{
	{name: "oauth2", as: "ruby-oauth2", file: "oauth2_.rb",
		needs: "require 'oauth2'", steps: "state, signed in, userinfo, refresh, its own token"},
	{name: "openid_connect", as: "ruby-openid-connect", file: "openid_connect_.rb",
		needs: "require 'openid_connect'", alg: "RS256", steps: "signed in, id_token, userinfo, refresh"},
}

var perlClients = []client{
	{name: "LWP::Authen::OAuth2", as: "liblwp-authen-oauth2-perl", file: "lwp_authen.pl",
		needs: "use LWP::Authen::OAuth2; use LWP::Protocol::https", steps: "signed in, userinfo, refresh"},
	{name: "Net::OAuth2", as: "libnet-oauth2-perl", file: "net_oauth2.pl",
		needs: "use Net::OAuth2::Profile::WebServer; use LWP::Protocol::https",
		steps: "state, signed in, userinfo, refresh"},
}

// A program in Python signs somebody in, knows its user, and does what the client has beside that.
func TestPythonClients(t *testing.T) {
	language{"/usr/bin/python3", "-c", "python"}.play(t, pythonClients)
}

func TestRubyClients(t *testing.T) { language{"/usr/bin/ruby", "-e", "ruby"}.play(t, rubyClients) }

func TestPerlClients(t *testing.T) { language{"/usr/bin/perl", "-e", "perl"}.play(t, perlClients) }

func (l language) play(t *testing.T, clients []client) {
	if testing.Short() {
		t.Skip("it starts programs")
	}
	usual := agents.StartTLS(t)
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			if out, err := exec.Command(l.program, l.flag, c.needs).CombinedOutput(); err != nil {
				t.Skipf("%s has no %s: %v %s", l.program, c.name, err, out)
			}
			site := usual
			if c.listed {
				site = agents.StartTLS(t, list)
			}
			app := site.App(t, storage.App{Domains: []string{"app.example.com"}, IDTokenAlg: c.alg})
			said := agents.Drive(t, site.Person(), l.folder, []string{l.program, c.file},
				settings(site, app, site.CertificateFile(t))...)
			wantSteps(t, said, c.steps)
		})
	}
}
