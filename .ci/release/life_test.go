package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/serving"
	"github.com/keystile/keystile/storage"
)

// kept is what an installation must not lose.
type kept struct {
	*serving.Client      // with the cookie of the administrator's session
	sub, access, refresh string
	ada                  string // a user's sub
	app                  serving.App
	bearer               string // of that application
	calls, records       int
}

// use does with a first start what people do.
func use(t *testing.T, d debian, address string) *kept {
	t.Helper()
	c, err := serving.NewClient(address, d.path("var/lib/keystile"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	k := &kept{Client: c}
	if err := c.SignIn(); err != nil {
		t.Fatal(err)
	}
	k.signedIn(t)
	k.sub = k.userinfo(t)
	var user struct{ Sub string }
	read(t, d.keystile(t, "user", "create", "--username", "ada", "--password", "the first program"), &user)
	k.ada = user.Sub
	read(t, d.keystile(t, "app", "create", "--name", "Shop", "--domain", "shop.example.com"), &k.app)
	a, err := serving.Granted(c.Post("/oauth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {k.app.ID}, "client_secret": {k.app.Secret}}))
	if err != nil {
		t.Fatal(err)
	}
	k.bearer = a.Reply().Access
	k.call(t)
	if err := os.Remove(d.path("var/lib/keystile/first-run.json")); err != nil { // as INSTALL.md says
		t.Error(err)
	}
	return k
}

// signedIn has the session give the demo's application a code, and that its tokens.
func (k *kept) signedIn(t *testing.T) {
	t.Helper()
	code, verifier, err := k.Authorize()
	if err != nil {
		t.Fatalf("the session: %v", err)
	}
	a, err := k.Exchange(code, verifier)
	if err != nil {
		t.Fatal(err)
	}
	if k.access == "" { // the first one is asked for to the end
		k.access, k.refresh = a.Reply().Access, a.Reply().Refresh
	}
}

func (k *kept) userinfo(t *testing.T) string {
	t.Helper()
	a, err := k.Get("/oauth/userinfo", "Authorization", "Bearer "+k.access)
	var claims struct{ Sub string }
	if err == nil {
		err = a.JSON(&claims)
	}
	if err != nil || a.Status != http.StatusOK || claims.Sub == "" {
		t.Errorf("userinfo is answered %v, %v", a, err)
	}
	return claims.Sub
}

// call makes a call that is charged.
func (k *kept) call(t *testing.T) {
	t.Helper()
	a, err := k.Get("/api/v1/verify?product=ai", "Authorization", "Bearer "+k.bearer)
	if err != nil || a.Status != http.StatusOK {
		t.Errorf("a call is answered %v, %v", a, err)
	}
	k.calls++
}

// check holds a start to what was there before it.
func (k *kept) check(t *testing.T, d debian, when string) {
	t.Helper()
	k.signedIn(t)
	if sub := k.userinfo(t); sub != k.sub {
		t.Errorf("%s the token is of %s, want %s", when, sub, k.sub)
	}
	a, err := k.Refresh(k.refresh)
	if err != nil {
		t.Errorf("%s the refresh token: %v", when, err)
	}
	k.refresh = a.Reply().Refresh
	if users := d.keystile(t, "user", "list"); !strings.Contains(users, `"sub":"`+k.ada+`"`) {
		t.Errorf("%s the user is gone: %s", when, users)
	}
	a, err = k.Post("/oauth/signin", url.Values{"username": {"ada"}, "password": {"the first program"}})
	if err != nil || !strings.Contains(a.Header.Get("Set-Cookie"), "open_sso_token=") {
		t.Errorf("%s the user signs in: %v, %v", when, a, err)
	}
	if app := d.keystile(t, "app", "show", k.app.ID); !strings.Contains(app, `"name":"Shop"`) {
		t.Errorf("%s the application is gone: %s", when, app)
	}
	k.call(t)
	now := time.Now().UTC()
	span := url.Values{"from": {now.AddDate(0, 0, -2).Format(time.DateOnly)}, "to": {now.AddDate(0, 0, 2).Format(time.DateOnly)}}
	var usage struct {
		Data struct{ Totals map[string]int }
	}
	if a, err = k.Get("/api/v1/usage?"+span.Encode(), "Authorization", "Bearer "+k.bearer); err == nil {
		err = a.JSON(&usage)
	}
	if err != nil || usage.Data.Totals["ai"] != k.calls {
		t.Errorf("%s %d calls were made, and usage is %v, %v", when, k.calls, a, err)
	}
	var trail struct {
		Whole         bool
		Records, Lost int
	}
	read(t, d.keystile(t, "audit", "verify"), &trail)
	if !trail.Whole || trail.Lost > 0 || trail.Records <= k.records {
		t.Errorf("%s the audit trail is %+v, and had %d records", when, trail, k.records)
	}
	k.records = trail.Records
}

func read(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

func TestThePackageKeepsEverythingUntilItIsPurged(t *testing.T) { theLife(t, minimalRoot) }

func TestInAFreshDebianThePackageKeepsEverythingUntilItIsPurged(t *testing.T) {
	theLife(t, freshDebian)
}

// theLife of a package: nothing is lost until it is purged, and then nothing is left.
func theLife(t *testing.T, made func(*testing.T) debian) {
	needs(t, "dpkg", "dpkg-deb", "systemctl")
	m := theRelease(t) // first, because its second build changes what every file of this process is made with
	t.Parallel()
	d := made(t)
	next, err := nextDeb()
	if err != nil {
		t.Fatal(err)
	}
	this := m.the(t, ".deb")
	before := d.state(t)
	if said := d.do(t, "-i", this); !strings.Contains(said, "systemctl enable --now keystile.socket keystile.service") {
		t.Errorf("who installs it is not told what comes next: %s", said)
	}
	d.isInstalled(t)
	d.enable(t)
	settings := configure(t, d)
	key := d.masterKey(t)

	held := port(t)
	s := d.start(t, held)
	k := use(t, d, s.Address)
	k.check(t, d, "at first")

	same := func(after, version string) {
		t.Helper()
		if got := string(readFile(t, d.path("etc/keystile/keystile.yaml"))); got != settings || d.masterKey(t) != key || d.ownerOf(t, "/etc/keystile/keystile.yaml") != "root:keystile 644" {
			t.Errorf("after the %s the configuration or the key is another one", after)
		}
		if version == "" {
			return
		}
		if said := d.keystile(t, "version"); !strings.HasPrefix(said, "keystile v"+version+", ") {
			t.Errorf("after the %s it is %s, want %s", after, said, version)
		}
		s = d.start(t, held)
		k.check(t, d, "after the "+after)
	}
	d.do(t, "--force-confold", "-i", next) // while it runs, as systemd lets it until the scripts are through
	if got := readFile(t, d.path("etc/keystile/keystile.yaml.dpkg-dist")); !strings.HasSuffix(string(got), saidAnew) {
		t.Errorf("the settings of the new version are not beside those of the administrator: %s", got)
	}
	d.stop(t, s)
	same("upgrade", nextVersion)
	d.stop(t, s)
	if said := d.do(t, "--force-confold", "-i", this); !strings.Contains(said, "downgrading keystile from "+debVersion(nextVersion)) {
		t.Errorf("of a step back dpkg says %s", said)
	}
	same("step back", m.version)
	d.stop(t, s)

	d.do(t, "-r", "keystile")
	same("removal", "")
	if _, err := os.Stat(d.path("usr/bin/keystile")); err == nil {
		t.Error("the removal leaves the program")
	}
	d.do(t, "--force-confold", "-i", next)
	same("second installation", nextVersion)
	d.stop(t, s)

	d.do(t, "-r", "keystile")
	d.do(t, "-P", "keystile")
	after := d.state(t)
	for name, is := range after {
		if was, there := before[name]; !there {
			t.Errorf("the purge leaves %s: %s", name, is)
		} else if is != was {
			t.Errorf("the purge leaves %s changed: %s, it was %s", name, is, was)
		}
	}
	for name := range before {
		if after[name] == "" {
			t.Errorf("the purge takes %s, which was there before", name)
		}
	}
	if len(after) < 50 || d.whole && len(after) < 5000 {
		t.Errorf("%d files are no system", len(after))
	}
}

func TestSettingsThatNobodyHasChangedFollowTheVersion(t *testing.T) {
	needs(t, "dpkg", "dpkg-deb")
	m := theRelease(t)
	d := minimalRoot(t)
	next, err := nextDeb()
	if err != nil {
		t.Fatal(err)
	}
	d.do(t, "-i", m.the(t, ".deb"))
	d.do(t, "-i", next)
	if got := string(readFile(t, d.path("etc/keystile/keystile.yaml"))); !strings.HasSuffix(got, saidAnew) || d.ownerOf(t, "/etc/keystile/keystile.yaml") != "root:keystile 640" {
		t.Errorf("after an upgrade the settings are those of before, or somebody else's: %s", got)
	}

	// A store that the administrator has put elsewhere is no part of the package, nor left to whoever
	// gets the number of its user next.
	data := d.path("srv/data")
	if err := os.MkdirAll(d.path("srv"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(d.path("var/lib/keystile"), data), os.Symlink("/srv/data", d.path("var/lib/keystile"))); err != nil {
		t.Fatal(err)
	}
	if said := d.do(t, "-P", "keystile"); !strings.Contains(said, "/srv/data, and the user keystile whose it is, stay") {
		t.Errorf("of what the purge leaves it says %s", said)
	}
	if got := d.ownerOf(t, "/srv/data"); got != "keystile:keystile 700" {
		t.Errorf("the store belongs to %s", got)
	}
	if _, err := os.Lstat(d.path("var/lib/keystile")); err == nil {
		t.Error("the link stays")
	}
}

// isInstalled checks who owns what the package lays down and makes.
func (d debian) isInstalled(t *testing.T) {
	t.Helper()
	for name, want := range map[string]string{
		"/usr/bin/keystile": "root:root 755", "/etc/keystile/keystile.yaml": "root:keystile 640", "/etc/keystile/master.key": "root:root 600", "/var/lib/keystile": "keystile:keystile 700",
		"/usr/lib/systemd/system/keystile.service": "root:root 644", "/usr/share/man/man1/keystile.1.gz": "root:root 644", "/usr/share/doc/keystile/copyright": "root:root 644",
	} {
		if got := d.ownerOf(t, name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if links, _ := filepath.Glob(d.path("etc/systemd/system/*/keystile.*")); len(links) > 0 {
		t.Errorf("it is started before it was configured: %q", links)
	}
}

// enable does what an administrator does to the units, as systemctl does it without a systemd that runs.
func (d debian) enable(t *testing.T) {
	t.Helper()
	if out, err := run(t.Context(), "", nil, "systemctl", "--root="+d.dir, "enable", "keystile.service"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if links, _ := filepath.Glob(d.path("etc/systemd/system/*.wants/keystile.*")); len(links) != 2 {
		t.Errorf("systemctl enable has made %q", links)
	}
	put(t, d.path("etc/systemd/system/keystile.socket.d/override.conf"), []byte("[Socket]\nListenStream=127.0.0.1:8081\n"), 0o644) // systemctl edit
	group := d.path("etc/group")                                                                                                   // usermod -aG keystile root
	members := regexp.MustCompile(`(?m)^keystile:.*:$`).ReplaceAll(readFile(t, group), []byte("${0}root"))
	if !strings.HasSuffix(string(members), ":root\n") {
		t.Fatalf("there is no group: %s", members)
	}
	put(t, group, members, 0o644)
}

// configure writes the administrator's own settings, and returns the file.
func configure(t *testing.T, d debian) string {
	t.Helper()
	name := d.path("etc/keystile/keystile.yaml")
	settings := string(readFile(t, name)) + "base_url: " + serving.Issuer + "\n"
	if err := os.WriteFile(name, []byte(settings), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0o644); err != nil {
		t.Fatal(err)
	}
	put(t, d.path("etc/keystile/secrets.env"), []byte("KEYSTILE_LIMITS_PER_IP=1000000\n"), 0o600)
	return settings
}

func (d debian) masterKey(t *testing.T) string {
	t.Helper()
	key := string(readFile(t, d.path("etc/keystile/master.key")))
	if _, err := storage.ParseMasterKey(key); err != nil {
		t.Errorf("the key that was made: %v", err)
	}
	return key
}
