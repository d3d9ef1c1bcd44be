package main

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

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
func serveIn(t *testing.T, dir string, user uint32, env []string, program string, args ...string) *serving.Server {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = "/", env
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: dir, Credential: &syscall.Credential{Uid: user, Gid: user}}
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

// minimalRoot makes a file system with what the scripts of a package call, and nothing else, of the
// programs of this machine. KEYSTILE_DEB_ROOT names another one, such as what debootstrap makes.
func minimalRoot(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("KEYSTILE_DEB_ROOT"); dir != "" {
		return dir
	}
	dir := filepath.Join(work, "root")
	for _, name := range []string{"bin", "sbin", "lib", "lib64"} { // as Debian has it since 12
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, "usr", name), 0o755), os.Symlink("usr/"+name, filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
	}
	files := map[string]string{
		"dev/null": "", "dev/urandom": rand.Text() + rand.Text(), // devices would need more rights
		"etc/passwd": "root:x:0:0:root:/root:/bin/sh\n", "etc/group": "root:x:0:\nshadow:x:42:\n", "etc/shadow": "root:*:20000:0:99999:7:::\n", "etc/gshadow": "root:*::\nshadow:*::\n",
		"etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n", "etc/login.defs": "SYS_UID_MIN 100\nSYS_UID_MAX 999\nSYS_GID_MIN 100\nSYS_GID_MAX 999\n",
		"var/lib/dpkg/status":           "Package: passwd\nStatus: install ok installed\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: its programs are here\n",
		"var/lib/dpkg/info/passwd.list": "",
	}
	for name, text := range files {
		put(t, filepath.Join(dir, name), []byte(text), 0o644)
	}
	for _, name := range []string{"var/lib/dpkg/updates", "var/lib/dpkg/triggers", "tmp", "run", "usr/share", "usr/lib/systemd"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"sh", "cat", "stat", "mkdir", "chown", "chgrp", "head", "base64", "rm", "getent", "useradd", "userdel", "dpkg-deb", "tar"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("%s is not installed", name)
		}
		copyProgram(t, dir, path)
	}
	return dir
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

func put(t *testing.T, name string, data []byte, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, mode); err != nil {
		t.Fatal(err)
	}
}

// filesIn lists a file system, without what dpkg and useradd keep for themselves.
func filesIn(t *testing.T, dir string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(name, "var/lib/dpkg"), strings.HasPrefix(name, "var/log"), strings.HasPrefix(name, "etc/") && strings.HasSuffix(name, "-"), name == "etc/.pwd.lock", name == "etc/subuid", name == "etc/subgid":
		default:
			all[name] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
