package command

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestUmaskChangesNothing(t *testing.T) {
	for _, mask := range []string{"000", "077", "277"} {
		t.Run(mask, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			c := spawn(t, []string{"BE_UMASK=" + mask}, "serve", "--data", data, "--listen", "127.0.0.1:0")
			c.out.Find(t, c.ended, `running at (\S+)`)
			for name, want := range map[string]fs.FileMode{"": 0o700, "keystile.db": 0o600, "master.key": 0o600,
				"first-run.json": 0o600, "admin.sock": 0o600} {
				if info, err := os.Lstat(filepath.Join(data, name)); err != nil || info.Mode().Perm() != want {
					t.Errorf("%q: %v, %v, want mode %v", name, info, err, want)
				}
			}
		})
	}
}

func TestSignalLetsRequestsOnTheirWayFinish(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		c, conn := spawnWithRequest(t, halfBody)
		c.Process.Signal(signal)
		c.log.Find(t, c.ended, `msg=(stopping)`)
		fmt.Fprint(conn, "grant_type=x")
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%v: a request on its way is not answered: %v", signal, err)
		}
		if body, _ := io.ReadAll(resp.Body); resp.StatusCode != 400 && resp.StatusCode != 401 {
			t.Errorf("%v: answered %d %s", signal, resp.StatusCode, body)
		}
		<-c.ended
		if code := c.ProcessState.ExitCode(); code != 0 {
			t.Errorf("%v: it exits %d: %s", signal, code, c.log)
		}
	}
}

func TestHalfSentRequestsDoNotHoldUpTheStop(t *testing.T) {
	t.Parallel()
	for name, half := range map[string]string{
		"half a header": "POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-",
		"no byte":       "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := spawnWithRequest(t, half)
			asked := time.Now()
			c.Process.Signal(syscall.SIGTERM)
			<-c.ended
			if took := time.Since(asked); took > 10*time.Second || c.ProcessState.ExitCode() != 0 {
				t.Errorf("it exits %d after %v: %s", c.ProcessState.ExitCode(), took, c.log)
			}
		})
	}
}

func TestSecondSignalEndsItAtOnce(t *testing.T) {
	t.Parallel()
	c, _ := spawnWithRequest(t, halfBody)
	c.Process.Signal(syscall.SIGTERM)
	c.log.Find(t, c.ended, `msg=(stopping)`)
	again := time.NewTicker(10 * time.Millisecond) // the first repetition may still find the handler of the first signal
	defer again.Stop()
	for running := true; running; {
		select {
		case <-c.ended:
			running = false
		case <-again.C:
			c.Process.Signal(syscall.SIGTERM)
		}
	}
	if status := c.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGTERM {
		t.Errorf("it ends with %v, want by the signal", c.ProcessState)
	}
}

func TestKilledServerLeavesNothingInTheWay(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	c := spawn(t, nil, "serve", "--data", data, "--listen", "127.0.0.1:0")
	c.out.Find(t, c.ended, `running at (\S+)`)
	before := firstRunOf(t, data)
	c.Process.Kill()
	<-c.ended
	if _, err := os.Lstat(filepath.Join(data, "admin.sock")); err != nil {
		t.Fatal("the socket is gone: the test kills too gently")
	}
	must(t, "setting", "set", "oauth_force_pkce", "0", "--data", data)
	s := start(t, data)
	must(t, "setting", "get", "oauth_force_pkce", "--data", data)
	if after := firstRunOf(t, data); after.Admin != before.Admin {
		t.Error("the administrator has another password")
	}
	signIn(t, s)
}

// spawnWithRequest runs a server and sends it the beginning of a request.
func spawnWithRequest(t *testing.T, half string) (*child, net.Conn) {
	t.Helper()
	s := serveIn(t, t.TempDir())
	return s.child, s.half(t, half)
}
