package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/keystile/keystile/internal/test/serving"
	"github.com/keystile/keystile/storage"
)

// dpkg runs dpkg on the file system of a test, and returns what it says.
func dpkg(t *testing.T, dir string, args ...string) string {
	t.Helper()
	env := append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin")
	out, err := run(t.Context(), "", env, "dpkg", append([]string{"--root=" + dir, "--force-not-root", "--log=/dev/null"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// ownerOf returns user, group and mode of a file as its file system calls them.
func ownerOf(t *testing.T, dir, name string) string {
	t.Helper()
	out, err := run(t.Context(), "", nil, "chroot", dir, "stat", "-c", "%U:%G %a", name)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// serveInstalled starts what a package has installed, as its unit does.
func serveInstalled(t *testing.T, dir string) *serving.Server {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, "var/lib/keystile"))
	if err != nil {
		t.Fatal(err)
	}
	user := info.Sys().(*syscall.Stat_t).Uid
	credential := filepath.Join(dir, "run/credentials/keystile.service/master.key")
	put(t, credential, readFile(t, filepath.Join(dir, "etc/keystile/master.key")), 0o400)
	if err := os.Chown(credential, int(user), int(user)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(filepath.Join(dir, "run/credentials")) })
	return serveIn(t, dir, user, []string{"CREDENTIALS_DIRECTORY=/run/credentials/keystile.service"}, "/usr/bin/keystile", "serve", "--config", "/etc/keystile/keystile.yaml",
		"--data", "/var/lib/keystile", "--master-key-file", "/run/credentials/keystile.service/master.key", "--listen", "127.0.0.1:0")
}

// signsIn starts what is installed, signs the first administrator in, and stops it.
func signsIn(t *testing.T, dir string) {
	t.Helper()
	s := serveInstalled(t, dir)
	c, err := serving.NewClient(s.Address, filepath.Join(dir, "var/lib/keystile"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SignIn(); err != nil {
		t.Errorf("%v\n%s", err, s.Log)
	}
	if err := s.End(syscall.SIGTERM); err != nil || !s.State().Success() {
		t.Errorf("it ends with %v: %v\n%s", s.State(), err, s.Log)
	}
}

// The life of a package: nothing is lost until it is purged, and then nothing is left.
func TestThePackageKeepsEverythingUntilItIsPurged(t *testing.T) {
	asRoot(t)
	m := theRelease(t)
	dir := minimalRoot(t)
	before := filesIn(t, dir)
	if said := dpkg(t, dir, "-i", m.the(t, ".deb")); !strings.Contains(said, "systemctl enable --now keystile.socket keystile.service") {
		t.Errorf("who installs it is not told what comes next: %s", said)
	}
	for name, want := range map[string]string{
		"/usr/bin/keystile": "root:root 755", "/etc/keystile/keystile.yaml": "root:keystile 640", "/etc/keystile/master.key": "root:root 600", "/var/lib/keystile": "keystile:keystile 700",
		"/usr/lib/systemd/system/keystile.service": "root:root 644", "/usr/share/man/man1/keystile.1.gz": "root:root 644", "/usr/share/doc/keystile/copyright": "root:root 644",
	} {
		if got := ownerOf(t, dir, name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	signsIn(t, dir)
	key := string(readFile(t, filepath.Join(dir, "etc/keystile/master.key")))
	if _, err := storage.ParseMasterKey(key); err != nil {
		t.Errorf("the key that was made: %v", err)
	}
	config := filepath.Join(dir, "etc/keystile/keystile.yaml")
	changed := string(readFile(t, config)) + "drain: 1s\n"
	if err := os.WriteFile(config, []byte(changed), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(config, 0o644); err != nil {
		t.Fatal(err)
	}

	dpkg(t, dir, "-i", nextDeb(t, m))
	same := func(after string) {
		if string(readFile(t, config)) != changed || string(readFile(t, filepath.Join(dir, "etc/keystile/master.key"))) != key || ownerOf(t, dir, "/etc/keystile/keystile.yaml") != "root:keystile 644" {
			t.Errorf("after the %s the configuration or the key is another one", after)
		}
	}
	same("upgrade")
	signsIn(t, dir)

	dpkg(t, dir, "-r", "keystile")
	same("removal")
	if _, err := os.Stat(filepath.Join(dir, "var/lib/keystile/keystile.db")); err != nil {
		t.Errorf("the removal takes the store: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "usr/bin/keystile")); err == nil {
		t.Error("the removal leaves the program")
	}
	dpkg(t, dir, "-i", nextDeb(t, m))
	same("second installation")
	signsIn(t, dir)

	os.RemoveAll(filepath.Join(dir, "run/credentials")) // which systemd takes away
	dpkg(t, dir, "-P", "keystile")
	for name := range filesIn(t, dir) {
		if !before[name] {
			t.Errorf("the purge leaves %s", name)
		}
	}
	if users := string(readFile(t, filepath.Join(dir, "etc/passwd"))); strings.Contains(users, "keystile") {
		t.Errorf("the purge leaves the user: %s", users)
	}
}

// nextDeb packs the program once more, as a later version.
func nextDeb(t *testing.T, m made) string {
	t.Helper()
	out := t.TempDir()
	next := m.source
	next.version = "0.1.0-dev.99991231235959"
	arch := strings.TrimPrefix(hostTarget(), "linux/")
	if err := next.writeDeb(t.Context(), out, arch, m.binary, []byte("texts"), nil); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(out, fmt.Sprintf("keystile_%s_%s.deb", debVersion(next.version), arch))
}
