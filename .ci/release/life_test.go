package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/serving"
	"github.com/keystile/keystile/storage"
)

func TestPackageKeepsEverythingUntilItIsPurged(t *testing.T) { theLife(t, minimalRoot) }

func TestPackageKeepsEverythingUntilItIsPurgedInAFreshDebian(t *testing.T) {
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
		if got := string(readFile(t, d.path("etc/keystile/keystile.yaml"))); got != settings || d.masterKey(t) != key ||
			d.ownerOf(t, "/etc/keystile/keystile.yaml") != "root:keystile 644" {
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
	if said := d.do(t, "--force-confold", "-i", this); !strings.Contains(said,
		"downgrading keystile from "+debVersion(nextVersion)) {
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
	if got := string(readFile(t, d.path("etc/keystile/keystile.yaml"))); !strings.HasSuffix(got, saidAnew) ||
		d.ownerOf(t, "/etc/keystile/keystile.yaml") != "root:keystile 640" {
		t.Errorf("after an upgrade the settings are those of before, or somebody else's: %s", got)
	}

	// A store that the administrator has put elsewhere is no part of the package, nor left to the
	// next owner of its user's number.
	data := d.path("srv/data")
	if err := os.MkdirAll(d.path("srv"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(d.path("var/lib/keystile"), data),
		os.Symlink("/srv/data", d.path("var/lib/keystile"))); err != nil {
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
		"/usr/bin/keystile": "root:root 755", "/etc/keystile/keystile.yaml": "root:keystile 640",
		"/etc/keystile/master.key": "root:root 600", "/var/lib/keystile": "keystile:keystile 700",
		"/usr/lib/systemd/system/keystile.service": "root:root 644", "/usr/share/man/man1/keystile.1.gz": "root:root 644",
		"/usr/share/doc/keystile/copyright": "root:root 644",
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
	// systemctl edit
	put(t, d.path("etc/systemd/system/keystile.socket.d/override.conf"), []byte("[Socket]\nListenStream=127.0.0.1:8081\n"),
		0o644)
	// usermod -aG keystile root
	group := d.path("etc/group")
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
