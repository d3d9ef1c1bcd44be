// Package serving starts a keystile in a process of its own and talks to it as its clients do:
// for tests that need the whole program, and not a part of it.
package serving

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Server is a serving keystile, traced or not.
type Server struct {
	cmd     *exec.Cmd
	process int // of the program itself
	Address string
	Log     *head
	ended   chan struct{}
}

// Issuer is what every server calls itself: tokens outlive it.
const Issuer = "http://127.0.0.1:9"

const patience = time.Minute // for anything that must happen at all

// Args are the arguments of a server on a data folder and a free port.
func Args(data string) []string {
	return []string{"serve", "--data", data, "--listen", "127.0.0.1:0", "--base-url", Issuer, "--log-level", "warn", "--limits-per-ip", "1000000000"}
}

// Start starts a program, and waits until it says where it listens.
func Start(cmd *exec.Cmd) (*Server, error) {
	s := &Server{cmd: cmd, Log: &head{}, ended: make(chan struct{})}
	cmd.Stderr = s.Log
	says, speaks, err := os.Pipe() // not StdoutPipe, which Wait would close before it is read
	if err != nil {
		return nil, err
	}
	cmd.Stdout = speaks
	if err := errors.Join(cmd.Start(), speaks.Close()); err != nil {
		return nil, errors.Join(err, says.Close())
	}
	s.process = cmd.Process.Pid
	go func() { defer close(s.ended); cmd.Wait() }()
	found := make(chan string, 1)
	go s.listen(says, found)
	select {
	case s.Address = <-found:
		if s.Address != "" {
			return s, nil
		}
		<-s.ended
		return nil, fmt.Errorf("it does not start: %v\n%s", cmd.ProcessState, s.Log)
	case <-time.After(patience):
		cmd.Process.Kill()
		<-s.ended
		return nil, fmt.Errorf("it has not started after %v\n%s", patience, s.Log)
	}
}

func (s *Server) listen(says io.ReadCloser, found chan<- string) {
	defer says.Close()
	lines := bufio.NewScanner(says)
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "process "); ok {
			s.process, _ = strconv.Atoi(id)
		}
		if _, address, ok := strings.Cut(lines.Text(), "Listening on "); ok {
			found <- strings.TrimSpace(address)
		}
	}
	close(found)
}

// End sends a signal to the program and waits until it, and its tracer, have ended.
func (s *Server) End(signal syscall.Signal) error {
	err := syscall.Kill(s.process, signal)
	<-s.ended
	return err
}

// head keeps the beginning of what a program says.
type head struct {
	mu   sync.Mutex
	text strings.Builder
}

func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.text.Len() < 16<<10 {
		h.text.Write(p)
	}
	return len(p), nil
}

func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}
