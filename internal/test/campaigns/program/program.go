package program

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// Run runs a program that has a folder, until the test ends. The channel is closed when it has ended.
func Run(t testing.TB, dir, name string, args ...string) (ended chan struct{}) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // a killed nginx leaves its workers behind
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended = make(chan struct{})
	go func() { defer close(ended); cmd.Wait() }()
	t.Cleanup(func() { <-ended })
	return ended
}

// Free returns an address where nobody listens. Its port is not among those that a kernel
// gives to outgoing connections, so that none takes it before the program does.
func Free(t testing.TB) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 20_000+rand.IntN(10_000))
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
	t.Fatal("100 ports are taken")
	return ""
}

// Ready returns when a program answers, and fails the test if it ends instead.
// Traefik listens first, and answers 404 until it has read its file.
func Ready(t testing.TB, address string, ended <-chan struct{}) {
	t.Helper()
	Until(t, ended, func() bool {
		resp, err := http.Get("http://" + address + "/")
		if err == nil {
			resp.Body.Close()
		}
		return err == nil && resp.StatusCode != http.StatusNotFound
	})
}

// Listening returns when somebody listens at an address, and fails the test if the program ends instead. It is for
// servers that lead whoever asks on to others.
func Listening(t testing.TB, address string, ended <-chan struct{}) {
	t.Helper()
	Until(t, ended, func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

// Until returns when something is so, and fails the test if the program ends before.
func Until(t testing.TB, ended <-chan struct{}, so func() bool) {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !so() {
		select {
		case <-again.C:
		case <-ended:
			t.Fatal("the program ends before it serves")
		}
	}
}
