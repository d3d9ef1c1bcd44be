package command

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// handedOver starts a keystile as systemd does: with sockets, whose names are separated by colons, and
// a socket to tell it things.
func handedOver(t *testing.T, data, names string, sockets []*net.TCPListener, env ...string) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`, self, "serve", "--data", data)
	for _, l := range sockets {
		f, err := l.File()
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, f)
	}
	return launch(t, cmd, append(env, fmt.Sprintf("LISTEN_FDS=%d", len(sockets)), "LISTEN_FDNAMES="+names)...)
}

func socketAt(t *testing.T, address string) *net.TCPListener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.(*net.TCPListener)
}

// hears waits for what a manager is told next.
func hears(t *testing.T, m *net.UnixConn) string {
	t.Helper()
	b := make([]byte, 4096)
	m.SetReadDeadline(time.Now().Add(time.Minute))
	n, err := m.Read(b)
	if err != nil {
		t.Fatalf("the service manager hears nothing: %v", err)
	}
	return string(b[:n])
}

func TestServiceManagerLosesNoRequestInARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	env := []string{"NOTIFY_SOCKET=" + filepath.Join(dir, "notify"), "WATCHDOG_USEC=600000000"}
	public, operators := socketAt(t, "127.0.0.1:0"), socketAt(t, "127.0.0.1:0")
	data := filepath.Join(dir, "data")
	first := handedOver(t, data, "admin:public", []*net.TCPListener{operators, public}, env...)
	for _, want := range []string{"READY=1\nSTATUS=Serving http://" + public.Addr().String(), "WATCHDOG=1"} {
		if got := hears(t, manager); got != want {
			t.Fatalf("it is told %q, want %q: %s", got, want, first.log)
		}
	}
	if resp, body := get(t, http.DefaultClient, "http://"+public.Addr().String()+"/demo"); resp.StatusCode != 200 {
		t.Errorf("the public socket answers %d %s", resp.StatusCode, body)
	}
	if resp, body := get(t, http.DefaultClient, "http://"+operators.Addr().String()+"/metrics"); resp.StatusCode != 200 {
		t.Errorf("the admin socket answers %d %s", resp.StatusCode, body)
	}
	http.DefaultClient.CloseIdleConnections()
	first.Process.Signal(syscall.SIGTERM)
	if got := hears(t, manager); got != "STOPPING=1" {
		t.Errorf("it is told %q of the end", got)
	}
	<-first.ended
	waiting, err := net.Dial("tcp", public.Addr().String()) // while nobody serves
	if err != nil {
		t.Fatalf("nobody holds the socket: %v", err)
	}
	defer waiting.Close()
	fmt.Fprint(waiting, "GET /healthz/ready HTTP/1.0\r\n\r\n")
	second := handedOver(t, data, "admin:public", []*net.TCPListener{operators, public}, env...)
	waiting.SetReadDeadline(time.Now().Add(time.Minute))
	answer := make([]byte, 12)
	if _, err := waiting.Read(answer); err != nil || string(answer) != "HTTP/1.0 200" {
		t.Errorf("who waited is answered %q, %v: %s", answer, err, second.log)
	}
}

// A service that listens on all addresses must not offer a demo, whatever address the configuration names.
func TestSocketForAllMachinesHasNoDemo(t *testing.T) {
	t.Parallel()
	public := socketAt(t, "0.0.0.0:0")
	_, port, _ := net.SplitHostPort(public.Addr().String())
	c := handedOver(t, t.TempDir(), "keystile.socket", []*net.TCPListener{public}, "KEYSTILE_LISTEN=127.0.0.1:0")
	if base := c.out.Find(t, c.ended, `running at (\S+)`); base != "http://localhost:"+port {
		t.Errorf("it is at %s, want port %s", base, port)
	}
	if resp, _ := get(t, http.DefaultClient, "http://127.0.0.1:"+port+"/demo"); resp.StatusCode != 404 {
		t.Errorf("/demo is answered %d", resp.StatusCode)
	}
}

func TestSocketsThatCannotBeServedSayWhatToChange(t *testing.T) {
	t.Parallel()
	for names, want := range map[string]string{
		"public:http":   `FileDescriptorName=public or FileDescriptorName=admin`,
		"public:public": `two sockets are called public`,
	} {
		c := handedOver(t, t.TempDir(), names, []*net.TCPListener{socketAt(t, "127.0.0.1:0"), socketAt(t, "127.0.0.1:0")})
		<-c.ended
		if code := c.ProcessState.ExitCode(); code != 2 || !strings.Contains(c.log.String(), want) {
			t.Errorf("%s: it exits %d: %s", names, code, c.log)
		}
	}
}
