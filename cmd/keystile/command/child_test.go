package command

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"

	"github.com/keystile/keystile/internal/test/said"
)

// TestMain makes the test binary a keystile, for the tests that need a process of their
// own. Its umask can be chosen, and its disk can be full.
func TestMain(m *testing.M) {
	if os.Getenv("BE_KEYSTILE") == "" {
		os.Exit(m.Run())
	}
	if mask, err := strconv.ParseInt(os.Getenv("BE_UMASK"), 8, 0); err == nil {
		syscall.Umask(int(mask))
	}
	if full := os.Getenv("BE_FULL"); full != "" {
		fillOnSignal(full == "at once")
	}
	Main(everything())
}

// fillOnSignal makes the disk look full from SIGUSR1 to SIGUSR2: no file can be written
// beyond its first page. The kernel fails the same calls as on a disk without room, and it
// needs no mount.
func fillOnSignal(now bool) {
	var free syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &free); err != nil {
		panic(err)
	}
	full := free
	full.Cur = 4096
	signal.Ignore(syscall.SIGXFSZ)
	if now {
		syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2)
	go func() {
		for s := range signals {
			limit := map[os.Signal]*syscall.Rlimit{syscall.SIGUSR1: &full, syscall.SIGUSR2: &free}[s]
			fmt.Println(s, "error:", syscall.Setrlimit(syscall.RLIMIT_FSIZE, limit))
		}
	}()
}

// child is a keystile in a process of its own.
type child struct {
	*exec.Cmd
	out, log *said.Output
	ended    chan struct{}
}

func spawn(t *testing.T, env []string, args ...string) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return launch(t, exec.Command(self, args...), env...)
}

func launch(t *testing.T, cmd *exec.Cmd, env ...string) *child {
	t.Helper()
	c := &child{Cmd: cmd, out: said.New(), log: said.New(), ended: make(chan struct{})}
	// Under the race detector a process sleeps for a second before it ends.
	c.Env = append(append(os.Environ(), "BE_KEYSTILE=1", "GORACE=atexit_sleep_ms=0"), env...)
	c.Stdout, c.Stderr = c.out, c.log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { defer close(c.ended); c.Wait() }()
	t.Cleanup(func() { c.Process.Kill(); <-c.ended })
	return c
}

// server is a child that serves.
type server struct {
	*child
	*service
}

// serveIn serves a data folder in a process of its own.
func serveIn(t *testing.T, data string, env ...string) server {
	t.Helper()
	c := spawn(t, env, "serve", "--data", data, "--listen", "127.0.0.1:0")
	s := &service{data: data, address: c.out.Find(t, c.ended, `Listening on +(\S+)`)}
	s.base = "http://" + s.address
	return server{c, s}
}

// halfBody is a request without its body. It asks the server to say when it wants that:
// then the request is on its way, and not only in some buffer.
const halfBody = "POST /oauth/token HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n" +
	"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 12\r\n\r\n"

// half sends the beginning of a request.
func (s server) half(t *testing.T, half string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprint(conn, half)
	if half == halfBody {
		want := "HTTP/1.1 100 Continue\r\n\r\n"
		got := make([]byte, len(want))
		if _, err := io.ReadFull(conn, got); err != nil || string(got) != want {
			t.Fatalf("the server answers %q, %v", got, err)
		}
	}
	return conn
}
