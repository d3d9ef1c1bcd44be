package admin

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/storage"
)

// Decision 6.
func TestApplicationIsRegisteredAsItWasTyped(t *testing.T) {
	o := newOffice(t)
	v := o.must("app", "create", "--name", "Shop", "--domain", "https://Shop.Example.com/x", "--domain", "localhost:3000",
		"--domain", "shop.example.com",
		"--redirect-uri", "https://shop.example.com/cb", "--tier", "white_label", "--id-token-alg", "ES256")
	app, err := o.target.Store.App(t.Context(), v["client_id"].(string))
	if err != nil {
		t.Fatal(err)
	}
	if !app.AppKey().Equal(v["client_secret"].(string)) || app.Name != "Shop" || app.Tier != "white_label" ||
		app.IDTokenAlg != "ES256" || app.Public {
		t.Errorf("application = %+v, printed %v", app, v)
	}
	if !slices.Equal(app.Domains, []string{"shop.example.com", "localhost:3000"}) ||
		!slices.Equal(app.RedirectURIs, []string{"https://shop.example.com/cb"}) {
		t.Errorf("domains %q, redirects %q", app.Domains, app.RedirectURIs)
	}
}

// Decisions 21, 29 and 52: nothing is first-party or somebody's unless asked for.
func TestApplicationIsNobodysAndAsksForConsentUnlessTheCommandSaysOtherwise(t *testing.T) {
	o := newOffice(t)
	admin := o.must("user", "create", "--username", "root", "--password", "correct horse", "--role", "admin")
	for _, c := range []struct {
		words      []string
		firstParty bool
		owner      any
	}{
		{nil, false, ""},
		{[]string{"--first-party"}, true, ""},
		{[]string{"--first-party=false", "--owner", "root"}, false, admin["sub"]},
	} {
		v := o.must(append([]string{"app", "create", "--name", "Shop", "--domain", "a.example"}, c.words...)...)
		app := o.stored(v["client_id"].(string))
		if app.FirstParty != c.firstParty || app.Owner != c.owner || v["first_party"] != c.firstParty ||
			v["owner"] != c.owner {
			t.Errorf("%q makes %+v, printed %v", c.words, app, v)
		}
		_, out, _ := o.run("", append([]string{"app", "create", "--name", "Shop", "--domain", "a.example"}, c.words...)...)
		if !strings.Contains(out, fmt.Sprintf("first_party    %t\n", c.firstParty)) || !strings.Contains(out, "\nowner") {
			t.Errorf("%q prints %s", c.words, out)
		}
	}
	for _, row := range o.rows("app", "list") {
		if _, there := row["first_party"]; !there || row["owner"] == nil {
			t.Errorf("the list does not show it: %v", row)
		}
	}
}

func TestFirstMembersPrintedAreIDAndSecret(t *testing.T) {
	_, out, _ := newOffice(t).run("", "app", "create", "--name", "Shop", "--domain", "a.example", "--json")
	if !strings.HasPrefix(out, `{"client_id":"ks`) || !strings.Contains(out[:60], `,"client_secret":"`) || strings.Count(out, "\n") != 1 {
		t.Errorf("printed %q", out)
	}
}

// Decision 4.
func TestPublicApplicationHasNoSecret(t *testing.T) {
	o := newOffice(t)
	v := o.must("app", "create", "--name", "Phone", "--domain", "localhost", "--public")
	if _, there := v["client_secret"]; there || v["public"] != true || v["id_token_alg"] != "ES256" {
		t.Errorf("printed %v", v)
	}
}

// Decision 29.
func TestOwnerIsWhomTheCommandNames(t *testing.T) {
	o := newOffice(t)
	o.must("user", "create", "--username", "root", "--password", "correct horse", "--role", "admin")
	ada := o.must("user", "create", "--username", "Ada", "--password", "correct horse")
	if v := o.must("app", "create", "--name", "A", "--domain", "a.example", "--owner", "ada"); v["owner"] != ada["sub"] {
		t.Errorf("owner %v, want ada %v", v["owner"], ada["sub"])
	}
	o.wantFailure(1, `no user "bob"`, "app", "create", "--name", "A", "--domain", "a.example", "--owner", "bob")
}

func TestAppFlagsThatCannotBeAreAWrongCall(t *testing.T) {
	o := newOffice(t)
	for want, words := range map[string][]string{
		"wildcards":                {"--domain", "*.example.com"},
		"tier: \"gold\"":           {"--domain", "a.example", "--tier", "gold"},
		"HS256":                    {"--domain", "a.example", "--public", "--id-token-alg", "HS256"},
		"redirect_uris":            {"--domain", "a.example", "--redirect-uri", "https://b.example/cb"},
		"needs --domain":           {},
		"for public applications":  {"--redirect-uri", "com.example.phone:/callback"},
		"a domain name in reverse": {"--public", "--redirect-uri", "phone:/callback"},
	} {
		o.wantFailure(2, want, append([]string{"app", "create", "--name", "A"}, words...)...)
	}
	if apps, _, _ := o.target.Store.Apps(t.Context(), "", "", 10); len(apps) > 0 {
		t.Errorf("registered all the same: %v", apps)
	}
}

func TestUserCanSignInAndThePasswordIsNotShown(t *testing.T) {
	for _, c := range []struct{ name, stdin, flag string }{
		{"typed", "", "correct horse"}, {"from the standard input", "correct horse\nbattery\n", "-"},
		{"without a line's end", "correct horse", "-"},
	} {
		for _, served := range []bool{false, true} {
			o := newOffice(t)
			if served {
				o.serve()
			}
			code, out, errs := o.run(c.stdin, "user", "create", "--username", "ada", "--password", c.flag, "--role", "developer",
				"--nickname", "Ada", "--email", "ada@example.com", "--json")
			u, err := o.users.Authenticate(t.Context(), "ada", "correct horse")
			if code != 0 || err != nil || u.Role != "developer" || u.Nickname != "Ada" || u.Email != "ada@example.com" ||
				u.EmailVerified {
				t.Errorf("%s: %d %q, user %+v, %v", c.name, code, errs, u, err)
			}
			if strings.Contains(out+errs+o.log.String(), "correct horse") || !strings.Contains(out, u.Sub) {
				t.Errorf("%s: printed %q %q, logged %q", c.name, out, errs, o.log.String())
			}
		}
	}
}

func TestUserWhoCanNotBeMadeIsExplained(t *testing.T) {
	for _, served := range []bool{false, true} {
		o := newOffice(t)
		if served {
			o.serve()
		}
		o.must("user", "create", "--username", "ada", "--password", "correct horse")
		o.wantFailure(1, "there is a user named ada already\n", "user", "create", "--username", "ADA", "--password",
			"correct horse")
		o.wantFailure(2, "at least 8", "user", "create", "--username", "bob", "--password", "short")
		o.wantFailure(2, "role", "user", "create", "--username", "bob", "--password", "correct horse", "--role", "king")
		o.wantFailure(2, "there is none", "user", "create", "--username", "bob", "--password", "-")
	}
}

func TestSettingIsSetByItsNameOrItsAlias(t *testing.T) {
	o := newOffice(t)
	if v := o.must("setting", "get", "oauth_force_pkce"); v["value"] != "0" {
		t.Errorf("unset it is %v, want 0 (protocol 3.3)", v)
	}
	for i, name := range []string{"oauth_force_pkce", storage.SettingForcePKCE} {
		value := []string{"1", "0"}[i]
		o.must("setting", "set", name, value)
		if got, _ := o.target.Store.Setting(t.Context(), storage.SettingForcePKCE); got != value {
			t.Errorf("after setting %s to %s it is %q", name, value, got)
		}
	}
	o.wantFailure(2, `nearest one is "oauth_force_pkce"`, "setting", "set", "oauth_force_pcke", "1")
	o.wantFailure(2, "one of 0, 1", "setting", "set", "oauth_force_pkce", "yes")
	o.wantFailure(2, "no setting", "setting", "set", "demo.client_id", "x")
}

func TestPlainOutputIsAligned(t *testing.T) {
	o := newOffice(t)
	if _, out, _ := o.run("", "setting", "get", "oauth_force_pkce"); out != "name   service_config.oauth_force_pkce\n"+
		"value  0\n" {
		t.Errorf("printed %q", out)
	}
	if _, out, _ := o.run("", "app", "create", "--name", "A", "--domain", "a.example", "--domain",
		"b.example"); !strings.Contains(out, "domains        a.example, b.example\n") {
		t.Errorf("printed %q", out)
	}
}

func TestRunningServerIsAskedAndTheFileLeftAlone(t *testing.T) {
	o := newOffice(t)
	o.serve()
	o.must("setting", "set", "oauth_force_pkce", "1")
	if o.opened != 0 {
		t.Error("the store was opened beside the server")
	}
	if !strings.Contains(o.log.String(), `command="setting set"`) {
		t.Errorf("logged %q", o.log.String())
	}
}

func TestSocketThatNobodyServesIsPassedOver(t *testing.T) {
	o := newOffice(t)
	o.must("setting", "get", "oauth_force_pkce")
	l, err := net.Listen("unix", filepath.Join(o.data, "admin.sock"))
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	o.must("setting", "set", "oauth_force_pkce", "1")
	if o.opened != 2 {
		t.Errorf("the store was opened %d times, want 2", o.opened)
	}
}

func TestServerThatIsJustStartingIsAskedAgain(t *testing.T) {
	o := newOffice(t)
	o.held, o.whileOpening = errLocked, o.serve
	o.must("setting", "set", "oauth_force_pkce", "1")
}

func TestStoreThatIsHeldByWhoDoesNotAnswerIsExplained(t *testing.T) {
	o := newOffice(t)
	o.held = errLocked
	o.wantFailure(1, errLocked.Error(), "setting", "get", "oauth_force_pkce")
}

func TestServerOfAnotherVersionSaysSo(t *testing.T) {
	o := newOffice(t)
	if _, err := execute(t.Context(), o.target, "app explode", cli.Args{}); err == nil ||
		!strings.Contains(err.Error(), "another version") {
		t.Errorf("execute(unknown) = %v", err)
	}
	if _, err := execute(t.Context(), o.target, "setting get", cli.Args{}); err == nil {
		t.Error("a command without its words was executed")
	}
}
