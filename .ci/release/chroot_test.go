package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/serving"
)

// asRoot skips a test that only root can do.
func asRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can change the root of a process")
	}
}

// serveIn serves within a folder that is the whole file system of the process, as a user.
func serveIn(t *testing.T, dir string, user syscall.Credential, env []string, files []*os.File, program string,
	args ...string) *serving.Server {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = "/", env, files
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: dir, Credential: &user}
	s, err := serving.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.State() == nil {
			s.Kill()
		}
	})
	return s
}

// debian is a file system that packages are installed in.
type debian struct {
	dir   string
	dpkg  []string // the command line
	whole bool     // dpkg is within, as everything else of Debian is
}

// minimalRoot makes a file system with what the scripts of a package call, and nothing else, of the
// programs of this machine.
func minimalRoot(t *testing.T) debian {
	t.Helper()
	asRoot(t)
	dir, err := os.MkdirTemp(work, "root-")
	if err != nil {
		t.Fatal(err)
	}
	os.Chmod(dir, 0o755)
	for _, name := range []string{"bin", "sbin", "lib", "lib64"} { // as Debian has it since 12
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, "usr", name), 0o755),
			os.Symlink("usr/"+name, filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
	}
	files := map[string]string{
		"dev/null": "", "dev/urandom": rand.Text() + rand.Text(), // devices would need more rights
		"etc/passwd": "root:x:0:0:root:/root:/bin/sh\n", "etc/group": "root:x:0:\nshadow:x:42:\n",
		"etc/shadow": "root:*:20000:0:99999:7:::\n", "etc/gshadow": "root:*::\nshadow:*::\n",
		"etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
		"etc/login.defs":    "SYS_UID_MIN 100\nSYS_UID_MAX 999\nSYS_GID_MIN 100\nSYS_GID_MAX 999\nUSERGROUPS_ENAB yes\n",
		"var/lib/dpkg/status": "Package: passwd\nStatus: install ok installed\nVersion: 1\nArchitecture: all\n" +
			"Maintainer: nobody\nDescription: its programs are here\n",
		"var/lib/dpkg/info/passwd.list": "", "usr/share/doc/README": "other packages are here too\n",
		"usr/lib/systemd/system/README": "and here\n",
	}
	for name, text := range files {
		put(t, filepath.Join(dir, name), []byte(text), 0o644)
	}
	for _, name := range []string{"var/lib/dpkg/updates", "var/lib/dpkg/triggers", "tmp", "run", "etc/systemd/system"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"sh", "cat", "stat", "mkdir", "chown", "chgrp", "head", "base64", "readlink", "rm",
		"rmdir", "getent", "useradd", "userdel", "groupdel", "dpkg-deb", "tar"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("%s is not installed", name)
		}
		copyProgram(t, dir, path)
	}
	return debian{dir: dir, dpkg: []string{"dpkg", "--root=" + dir, "--force-not-root", "--log=/dev/null"}}
}

// copyProgram copies a program to where it is, with the libraries it loads.
func copyProgram(t *testing.T, dir, path string) {
	t.Helper()
	needed, _ := run(t.Context(), "", nil, "ldd", path) // fails for what is static
	for _, word := range append(strings.Fields(needed), path) {
		if !strings.HasPrefix(word, "/") {
			continue
		}
		put(t, filepath.Join(dir, word), readFile(t, word), 0o755)
	}
}

// freshDebian makes the smallest Debian there is, of the mirror that DEBIAN_MIRROR names.
func freshDebian(t *testing.T) debian {
	t.Helper()
	asRoot(t)
	if _, err := exec.LookPath("debootstrap"); err != nil {
		t.Skip("debootstrap is not installed: apt-get install debootstrap")
	}
	mirror := os.Getenv("DEBIAN_MIRROR")
	if mirror == "" {
		mirror = "http://deb.debian.org/debian"
	}
	const suite = "bookworm"
	resp, err := (&http.Client{Timeout: 20 * time.Second}).Head(mirror + "/dists/" + suite + "/InRelease")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Skipf("the mirror %s is not reached: %v (DEBIAN_MIRROR names another one)", mirror, err)
	}
	resp.Body.Close()
	dir := filepath.Join(work, "debian")
	begin := time.Now()
	cmd := exec.CommandContext(t.Context(), "debootstrap", "--variant=minbase", suite, dir, mirror)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("debootstrap: %v: %s", err, out[max(0, len(out)-2000):])
	}
	t.Logf("note: a fresh Debian in %.0f s", time.Since(begin).Seconds())
	return debian{dir: dir, dpkg: []string{"chroot", dir, "dpkg"}, whole: true}
}

// try runs dpkg, and returns all that it says.
func (d debian) try(t *testing.T, args ...string) (string, error) {
	t.Helper()
	words := append([]string{}, d.dpkg[1:]...)
	for _, a := range args {
		if d.whole && strings.HasSuffix(a, ".deb") { // it has to be within
			within := "/tmp/" + filepath.Base(a)
			put(t, d.path(within), readFile(t, a), 0o644)
			defer os.Remove(d.path(within))
			a = within
		}
		words = append(words, a)
	}
	cmd := exec.CommandContext(t.Context(), d.dpkg[0], words...)
	cmd.Env = []string{"DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// do is try where nothing may fail.
func (d debian) do(t *testing.T, args ...string) string {
	t.Helper()
	out, err := d.try(t, args...)
	if err != nil {
		t.Fatalf("dpkg %q: %v: %s", args, err, out)
	}
	return out
}

// path is where a file of it is on this machine.
func (d debian) path(name string) string { return filepath.Join(d.dir, name) }

func put(t *testing.T, name string, data []byte, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, mode); err != nil {
		t.Fatal(err)
	}
}

// state lists all files, users and groups: who owns each, what may be done with it, and what it holds.
// Records of dpkg and useradd themselves are left out: a journal, locks, the last version of a list.
func (d debian) state(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(d.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(d.dir, path)
		switch info, err := e.Info(); {
		case err != nil:
			return err
		case strings.HasPrefix(name, "var/lib/dpkg/") && !strings.HasPrefix(name, "var/lib/dpkg/info/keystile"),
			name == "var/log/dpkg.log", name == "etc/.pwd.lock", name == "dev/null":
		case strings.HasPrefix(name, "etc/") && strings.HasSuffix(name, "-"):
		default:
			owner := info.Sys().(*syscall.Stat_t)
			all[name] = fmt.Sprintf("%v of %d:%d", info.Mode(), owner.Uid, owner.Gid)
			switch {
			case info.Mode().IsRegular():
				data, err := os.ReadFile(path)
				all[name] += fmt.Sprintf(", %x", sha256.Sum256(data))
				return err
			case info.Mode()&fs.ModeSymlink != 0:
				to, err := os.Readlink(path)
				all[name] += " to " + to
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(readFile(t, d.path("var/lib/dpkg/status")), []byte("Package: keystile\n")) {
		all["the package keystile"] = "known to dpkg"
	}
	return all
}
