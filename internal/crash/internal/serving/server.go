// Package serving runs a keystile in a process of its own, and ends it.
package serving

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Server is a keystile in a process of its own.
type Server struct {
	Address string
	Log     *Head         // what it complains of
	Ended   chan struct{} // closed when the process is gone
	cmd     *exec.Cmd
}

// origin is what the server calls itself, whatever port it has this time: tokens must
// outlive a restart. Nobody connects to it.
const origin = "http://127.0.0.1:9"

// Patience is how long a server may take to start.
const Patience = 15 * time.Second

// Launch starts the program over a data folder and waits for nothing. The caller closes what
// is returned.
func Launch(binary, data string) (*Server, io.ReadCloser, error) {
	cmd := exec.Command(binary, "serve", "--data", data, "--listen", "127.0.0.1:0", "--base-url", origin, "--log-level", "warn", "--limits-per-ip", "1000000000",
		"--lifetimes-code", "24h", "--reuse-leeway-code", "24h", "--reuse-leeway-refresh", "24h",
		"--signup", "open", "--trusted-proxies", "127.0.0.1", "--upstreams-allow-private", "127.0.0.1")
	s := &Server{cmd: cmd, Log: &Head{}, Ended: make(chan struct{})}
	cmd.Stderr = s.Log
	says, speaks, err := os.Pipe() // not StdoutPipe, which Wait would close before it is read
	if err != nil {
		return nil, nil, err
	}
	cmd.Stdout = speaks
	if err := errors.Join(cmd.Start(), speaks.Close()); err != nil {
		return nil, nil, errors.Join(err, says.Close())
	}
	go func() { defer close(s.Ended); cmd.Wait() }()
	return s, says, nil
}

// Start returns a server that listens.
func Start(binary, data string) (*Server, error) {
	s, says, err := Launch(binary, data)
	if err != nil {
		return nil, err
	}
	found := make(chan string, 1)
	go func() {
		defer says.Close()
		lines := bufio.NewScanner(says)
		for lines.Scan() {
			if _, address, ok := strings.Cut(lines.Text(), "Listening on "); ok {
				found <- strings.TrimSpace(address)
			}
		}
	}()
	select {
	case s.Address = <-found:
		return s, nil
	case <-s.Ended:
		return nil, fmt.Errorf("the server does not start: %v\n%s", s.cmd.ProcessState, s.Log)
	case <-time.After(Patience):
		s.Kill()
		return nil, fmt.Errorf("the server has not started after %v\n%s", Patience, s.Log)
	}
}

// Kill is SIGKILL: nothing in the process runs afterwards.
func (s *Server) Kill() {
	s.cmd.Process.Kill()
	<-s.Ended
}

// Stop is SIGTERM.
func (s *Server) Stop() error { return s.cmd.Process.Signal(syscall.SIGTERM) }

// State says how the process has ended.
func (s *Server) State() *os.ProcessState { return s.cmd.ProcessState }

// Head keeps the beginning of what a program says.
type Head struct {
	mu   sync.Mutex
	text strings.Builder
}

func (h *Head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.text.Len() < 16<<10 {
		h.text.Write(p)
	}
	return len(p), nil
}

func (h *Head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}
