package clients

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/agents"
	"github.com/keystile/keystile/internal/test/campaigns/program"
	"github.com/keystile/keystile/storage"
)

const (
	apache  = "/usr/sbin/apache2"
	modules = "/usr/lib/apache2/modules"
)

// httpd is an Apache whose one page is for Ada alone.
const httpd = `
ServerName 127.0.0.1
Listen %[1]s
PidFile %[2]s/pid
ErrorLog %[2]s/error.log
DocumentRoot %[2]s
User www-data
Group www-data
LoadModule mpm_event_module %[3]s/mod_mpm_event.so
LoadModule authn_core_module %[3]s/mod_authn_core.so
LoadModule authz_core_module %[3]s/mod_authz_core.so
LoadModule authz_user_module %[3]s/mod_authz_user.so
LoadModule auth_openidc_module %[3]s/mod_auth_openidc.so
OIDCProviderMetadataURL %[4]s/.well-known/openid-configuration
OIDCClientID %[5]s
OIDCClientSecret %[6]s
OIDCScope "openid profile email"
OIDCRedirectURI http://%[1]s/app/cb
OIDCCryptoPassphrase a-passphrase
OIDCCABundlePath %[7]s
OIDCInfoHook access_token id_token userinfo refresh_token
<Location /app>
  AuthType openid-connect
  <RequireAny>
    Require claim sub:%[8]s
  </RequireAny>
</Location>
`

// Apache lets the user of the id_token in, and nobody once they have signed out.
func TestModAuthOpenIDC(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a server")
	}
	for _, needed := range []string{apache, modules + "/mod_auth_openidc.so"} {
		if _, err := os.Stat(needed); err != nil {
			t.Skipf("libapache2-mod-auth-openidc is not installed: %v", err)
		}
	}
	site, address, dir := agents.StartTLS(t), program.Free(t), t.TempDir()
	app := site.App(t, storage.App{Domains: []string{address}})
	here := "http://" + address + "/app/"
	must(t, os.Mkdir(filepath.Join(dir, "app"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "app", "page"), []byte("a page for Ada"), 0o644))
	must(t, os.Chmod(filepath.Dir(dir), 0o755)) // its workers are of another user
	text := fmt.Sprintf(httpd, address, dir, modules, site.URL, app.ID, app.AppKey().Reveal(),
		site.CertificateFile(t), site.Sub)
	must(t, os.WriteFile(filepath.Join(dir, "httpd.conf"), []byte(text), 0o644))
	program.Listening(t, address, program.Run(t, dir, apache, "-X", "-f", filepath.Join(dir, "httpd.conf")))

	ada := site.Person()
	use := func(path string) string {
		t.Helper()
		status, page, err := ada.Use(here + path)
		if err != nil || status != 200 {
			log, _ := os.ReadFile(filepath.Join(dir, "error.log"))
			t.Fatalf("%s = %d %s, %v\n%s", path, status, page, err, log)
		}
		return page
	}
	if page := use("page"); page != "a page for Ada" {
		t.Errorf("after signing in: %q", page)
	}
	about := func() (it struct {
		Token   string `json:"access_token"`
		Refresh string `json:"refresh_token"`
		User    struct{ Email string }
	}) {
		t.Helper()
		var all map[string]json.RawMessage
		must(t, json.Unmarshal([]byte(use("cb?info=json")), &all))
		must(t, json.Unmarshal(all["access_token"], &it.Token))
		must(t, json.Unmarshal(all["refresh_token"], &it.Refresh))
		must(t, json.Unmarshal(all["userinfo"], &it.User))
		return it
	}
	first := about()
	if first.User.Email != agents.Email || first.Refresh == "" {
		t.Errorf("it knows %+v", first)
	}
	use("cb?refresh=" + url.QueryEscape(here+"page") + "&access_token=" + url.QueryEscape(first.Token))
	if next := about(); next.Token == first.Token || next.Refresh == first.Refresh {
		t.Error("it does not refresh")
	}
	ada.Use(here + "cb?logout=" + url.QueryEscape("http://"+address+"/"))
	seen := len(ada.Pages())
	use("page")
	if len(ada.Pages()) == seen {
		t.Error("after signing out nobody is asked who they are")
	}
}

// must fails a test that cannot be made ready.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
