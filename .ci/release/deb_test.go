package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/serving"
)

// ownerOf returns user, group and mode of a file as its file system calls them.
func (d debian) ownerOf(t *testing.T, name string) string {
	t.Helper()
	out, err := run(t.Context(), "", nil, "chroot", d.dir, "stat", "-c", "%U:%G %a", name)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// user returns the numbers of a user and of its group.
func (d debian) user(t *testing.T, name string) syscall.Credential {
	t.Helper()
	for line := range strings.Lines(string(readFile(t, d.path("etc/passwd")))) {
		if words := strings.Split(line, ":"); words[0] == name {
			uid, err := strconv.ParseUint(words[2], 10, 32)
			gid, err2 := strconv.ParseUint(words[3], 10, 32)
			if err == nil && err2 == nil && uid > 0 {
				return syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
			}
		}
	}
	t.Fatalf("there is no user %s", name)
	return syscall.Credential{}
}

// unit reads a unit that is installed: the last value of each key.
func (d debian) unit(t *testing.T, name string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for line := range strings.Lines(string(readFile(t, d.path("usr/lib/systemd/system/"+name)))) {
		if key, value, found := strings.Cut(strings.TrimSpace(line), "="); found && !strings.HasPrefix(key, "#") {
			all[key] = value
		}
	}
	return all
}

// port opens what keystile.socket holds. It stays open from one start of the service to the next.
func port(t *testing.T) *os.File {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// start starts the service as its units say, with what systemd would hand it: the port, a copy of the
// key, and a socket to say on that it is ready. It returns once that was said.
func (d debian) start(t *testing.T, port *os.File) *serving.Server {
	t.Helper()
	service, socket := d.unit(t, "keystile.service"), d.unit(t, "keystile.socket")
	user := d.user(t, service["User"])
	const credentials = "/run/credentials/keystile.service"
	name, from, _ := strings.Cut(service["LoadCredential"], ":")
	put(t, d.path(credentials+"/"+name), readFile(t, d.path(from)), 0o400)
	if err := os.Chown(d.path(credentials+"/"+name), int(user.Uid), int(user.Gid)); err != nil {
		t.Fatal(err)
	}
	env := []string{"CREDENTIALS_DIRECTORY=" + credentials, "NOTIFY_SOCKET=/run/notify", "LISTEN_FDS=1",
		"LISTEN_FDNAMES=" + socket["FileDescriptorName"]}
	if data, err := os.ReadFile(d.path(strings.TrimPrefix(service["EnvironmentFile"], "-"))); err == nil {
		env = append(env, strings.Fields(string(data))...)
	}
	os.Remove(d.path("run/notify"))
	told, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: d.path("run/notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { told.Close() })
	if err := os.Chmod(d.path("run/notify"), 0o777); err != nil {
		t.Fatal(err)
	}
	line := strings.ReplaceAll(service["ExecStart"], "%d", credentials)
	if line == "" || strings.ContainsAny(line, `%"'\$`) {
		t.Fatalf("systemd reads ExecStart=%s in another way than this test", line)
	}
	shell := []string{"-c", "umask " + service["UMask"] + `; LISTEN_PID=$$ exec "$0" "$@"`}
	s := serveIn(t, d.dir, user, env, []*os.File{port}, "/bin/sh", append(shell, strings.Fields(line)...)...)
	said := make([]byte, 1<<10)
	told.SetReadDeadline(time.Now().Add(serving.Patience))
	for n := 0; !strings.Contains(string(said[:n]), "READY=1"); {
		if n, err = told.Read(said); err != nil {
			t.Fatalf("it does not tell systemd that it is ready: %v\n%s", err, s.Log)
		}
	}
	return s
}

// stop ends the service as systemd does, and takes away what was for that start.
func (d debian) stop(t *testing.T, s *serving.Server) {
	t.Helper()
	if err := s.End(syscall.SIGTERM); err != nil || !s.State().Success() {
		t.Errorf("it ends with %v: %v\n%s", s.State(), err, s.Log)
	}
	if err := os.RemoveAll(d.path("run/credentials")); err != nil {
		t.Error(err)
	}
	os.Remove(d.path("run/notify"))
}

// keystile runs a command of the program as INSTALL.md says: by the user of the service, on its data.
func (d debian) keystile(t *testing.T, words ...string) string {
	t.Helper()
	name := d.unit(t, "keystile.service")["User"]
	args := append([]string{"--userspec=" + name + ":" + name, d.dir, "/usr/bin/keystile"}, words...)
	if words[0] != "version" {
		args = append(args, "--data", "/var/lib/keystile", "--json")
	}
	out, err := run(t.Context(), "", nil, "chroot", args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// nextVersion is after every version of this time.
const nextVersion = "9.0.0-dev.99991231235959"

// nextDeb builds the same source as a later version. Its settings are explained in other words.
var nextDeb = sync.OnceValues(func() (string, error) {
	ctx, dir := context.Background(), filepath.Join(work, "next")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	next, err := clone(ctx, root, filepath.Join(dir, "source"))
	if err != nil {
		return "", err
	}
	next.version = nextVersion
	binary, err := next.build(ctx, hostTarget(), filepath.Join(dir, "keystile"))
	if err != nil {
		return "", err
	}
	yaml, err := os.OpenFile(filepath.Join(next.dir, ".ci/release/debian/keystile.yaml"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return "", err
	}
	_, err = yaml.WriteString(saidAnew)
	arch := strings.TrimPrefix(hostTarget(), "linux/")
	err = errors.Join(err, yaml.Close(), next.writeDeb(ctx, dir, arch, binary, []byte("texts"), nil))
	return filepath.Join(dir, fmt.Sprintf("keystile_%s_%s.deb", debVersion(next.version), arch)), err
})

const saidAnew = "# Said anew.\n"

func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
}
