package command

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
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

func TestDamagedDatabaseIsExplainedAndLeftAlone(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	start(t, data).stop()
	good, err := os.ReadFile(filepath.Join(data, "keystile.db"))
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func([]byte) []byte{
		"a random head":                       func(b []byte) []byte { return noise(b, 0, 16<<10) },
		"half a file":                         func(b []byte) []byte { return b[:20<<10] },
		"text":                                func([]byte) []byte { return []byte(strings.Repeat("Dear diary, ", 5000)) },
		"zero length":                         func([]byte) []byte { return nil },
		"one byte":                            func([]byte) []byte { return []byte{1} },
		"all pages but the first two flipped": func(b []byte) []byte { return flip(b, 2*os.Getpagesize(), len(b)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := withKeyOf(t, data)
			path, bad := filepath.Join(dir, "keystile.db"), damage(bytes.Clone(good))
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			c := spawn(t, nil, "serve", "--data", dir, "--listen", "127.0.0.1:0")
			wantExit(t, c, path, "put a backup in its place, or choose another data folder")
			if left, err := os.ReadFile(path); err != nil || !bytes.Equal(left, bad) {
				t.Errorf("the file was touched, %v", err)
			}
		})
	}
}

// A start may see nothing of a single damaged page. It must not crash in any case.
func TestDamagedPageNeverCrashes(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	start(t, data).stop()
	good, err := os.ReadFile(filepath.Join(data, "keystile.db"))
	if err != nil {
		t.Fatal(err)
	}
	size := os.Getpagesize()
	for page := range 8 {
		dir := withKeyOf(t, data)
		bad := flip(bytes.Clone(good[:16*size]), page*size, (page+1)*size)
		if err := os.WriteFile(filepath.Join(dir, "keystile.db"), bad, 0o600); err != nil {
			t.Fatal(err)
		}
		c := spawn(t, nil, "app", "list", "--data", dir)
		<-c.ended
		if code := c.ProcessState.ExitCode(); code != 0 && code != 1 || strings.Contains(c.log.String(), "goroutine ") {
			t.Errorf("page %d: it exits %d: %s", page, code, c.log)
		}
	}
}

func TestSecondProcessOnTheSameFolderSaysSoAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	data := t.TempDir()
	first := serveIn(t, data)
	began := time.Now()
	second := spawn(t, nil, "serve", "--data", data, "--listen", "127.0.0.1:0")
	wantExit(t, second, filepath.Join(data, "keystile.db")+" is in use by another process; stop it, or choose another "+
		"data folder")
	if took := time.Since(began); took > 8*time.Second { // it waits 2 s for one that is just ending
		t.Errorf("it took %v to say so", took)
	}
	machineToken(t, first.service, firstRunOf(t, data).App.ClientID, firstRunOf(t, data).App.ClientSecret)
	must(t, "setting", "get", "oauth_force_pkce", "--data", data) // its socket is still there
}

func TestFolderThatCanNotBeWrittenIsExplained(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{file, filepath.Join(file, "data")} {
		c := spawn(t, nil, "serve", "--data", data, "--listen", "127.0.0.1:0")
		wantExit(t, c, "the data folder cannot be used", "not a directory; choose another one with --data")
	}
	for name, mode := range map[string]os.FileMode{"may not be read": 0o700, "may only be read": 0o755,
		"is read-only": 0o555} {
		dir := worldDir(t)
		data := filepath.Join(dir, "data")
		if err := os.Mkdir(data, 0o700); err != nil {
			t.Fatal(err)
		}
		if os.Geteuid() != 0 { // then no other user can be had
			mode &^= 0o222
		}
		if err := os.Chmod(data, mode); err != nil {
			t.Fatal(err)
		}
		c := asNobody(t, dir, "serve", "--data", data, "--listen", "127.0.0.1:0")
		wantExit(t, c, data, "permission denied")
		if left, err := os.ReadDir(data); err != nil && os.Geteuid() == 0 || len(left) > 0 {
			t.Errorf("a folder that %s: left behind %v, %v", name, left, err)
		}
	}
}

func TestRequestsOnTheirWayGetTimeAndNotTooMuch(t *testing.T) {
	if drain < readHeader || drain > 9*time.Second {
		t.Errorf("they get %v; want at least the %v of a header, and that the process ends within 10 s", drain, readHeader)
	}
}

func TestHalfSentRequestsThatArriveAreAllAnswered(t *testing.T) {
	if testing.Short() {
		t.Skip("sends slowly")
	}
	t.Parallel()
	c := serveIn(t, t.TempDir())
	conns := make([]net.Conn, 8)
	for i := range conns {
		conns[i] = c.half(t, halfBody)
	}
	asked := time.Now()
	c.Process.Signal(syscall.SIGTERM)
	c.child.log.Find(t, c.child.ended, `msg=(stopping)`)
	for refused := false; !refused; { // the connection is closed before the rest arrives
		conn, err := net.Dial("tcp", c.address)
		if refused = err != nil; !refused {
			conn.Close()
		}
	}
	for i, conn := range conns {
		if i%2 > 0 {
			continue // these never arrive
		}
		fmt.Fprint(conn, "grant_type=x")
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode != 400 && resp.StatusCode != 401 {
			t.Errorf("request %d is answered %v, %v", i, resp, err)
		}
	}
	<-c.child.ended
	if took := time.Since(asked); took > 10*time.Second || c.ProcessState.ExitCode() != 0 {
		t.Errorf("it exits %d after %v: %s", c.ProcessState.ExitCode(), took, c.child.log)
	}
	for i := 1; i < len(conns); i += 2 {
		conns[i].SetReadDeadline(time.Now().Add(5 * time.Second))
		if rest, err := io.ReadAll(conns[i]); isTimeout(err) {
			t.Errorf("request %d is still open after %q", i, rest)
		}
	}
}

// withKeyOf is a folder with nothing but another one's master key.
func withKeyOf(t *testing.T, data string) string {
	t.Helper()
	dir := t.TempDir()
	copyFile(t, filepath.Join(data, "master.key"), filepath.Join(dir, "master.key"))
	return dir
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error)
	return ok && timeout.Timeout()
}

func noise(b []byte, from, to int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	for i := from; i < min(to, len(b)); i++ {
		b[i] = byte(random.Uint32())
	}
	return b
}

func flip(b []byte, from, to int) []byte {
	for i := from; i < min(to, len(b)); i++ {
		b[i] ^= 0xff
	}
	return b
}

// wantExit waits for a child that has to fail and to say why, in friendly words.
func wantExit(t *testing.T, c *child, messages ...string) {
	t.Helper()
	<-c.ended
	said := c.log.String()
	if code := c.ProcessState.ExitCode(); code != 1 || c.out.String() != "" {
		t.Errorf("it exits %d: %s%s", code, c.out, said)
	}
	for _, want := range messages {
		if !strings.Contains(said, want) {
			t.Errorf("it says %s, want %q", said, want)
		}
	}
	if strings.Contains(said, "goroutine ") || strings.Contains(said, "panic") {
		t.Errorf("it crashes: %s", said)
	}
}

// worldDir is a folder that every user can reach.
func worldDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ks")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// asNobody runs the program as another user, if this one is root: nothing is forbidden to
// root. The program is copied to where that user can reach it.
func asNobody(t *testing.T, dir string, args ...string) *child {
	t.Helper()
	if os.Geteuid() != 0 {
		return spawn(t, nil, args...)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "keystile")
	copyFile(t, self, program)
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	return launch(t, cmd)
}
