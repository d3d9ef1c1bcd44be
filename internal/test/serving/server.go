// Package serving starts a keystile in a process of its own, talks to it as its clients do, and
// ends it: for tests that need the whole program, and not a part of it. Which program that is,
// with a planted fault or without, is the matter of package overlay.
package serving

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Server is a serving keystile, traced or not.
type Server struct {
	Address string        // host:port
	Admin   string        // host:port of the admin listener; "" without --admin-listen
	Log     *Head         // what it complains of
	Ended   chan struct{} // closed when the process, and its tracer, have ended

	cmd     *exec.Cmd
	process atomic.Int64  // of the program itself, where cmd is its tracer; else 0
	ready   chan struct{} // closed when it says where it listens
	silent  chan struct{} // closed when it says nothing any more
}

// Issuer is the issuer of every server, because tokens outlive it. Nobody connects to it.
const Issuer = "http://127.0.0.1:9"

// Patience is for anything that must happen at all.
const Patience = time.Minute

// Args are the arguments of a server on a data folder and a free port, which no rate slows down.
func Args(data string, more ...string) []string {
	args := []string{"serve", "--data", data, "--listen", "127.0.0.1:0", "--base-url", Issuer, "--log-level", "warn",
		"--limits-per-ip", "1000000000"}
	return append(args, more...)
}

// Launch starts a program and waits for nothing.
func Launch(cmd *exec.Cmd) (*Server, error) {
	s := &Server{cmd: cmd, Log: &Head{}, Ended: make(chan struct{}), ready: make(chan struct{}),
		silent: make(chan struct{})}
	cmd.Stderr = s.Log
	line, speaks, err := os.Pipe() // not StdoutPipe, which Wait would close before it is read
	if err != nil {
		return nil, err
	}
	cmd.Stdout = speaks
	if err := errors.Join(cmd.Start(), speaks.Close()); err != nil {
		return nil, errors.Join(err, line.Close())
	}
	go func() { defer close(s.Ended); cmd.Wait() }()
	go s.listen(line)
	return s, nil
}

// Start starts a program, and waits until it says where it listens.
func Start(cmd *exec.Cmd) (*Server, error) {
	s, err := Launch(cmd)
	if err != nil {
		return nil, err
	}
	select {
	case <-s.ready:
		return s, nil
	case <-s.silent:
	case <-time.After(Patience):
		s.Kill()
		return nil, fmt.Errorf("the server has not started after %v\n%s", Patience, s.Log)
	}
	select {
	case <-s.ready: // and has ended at once
		return s, nil
	default:
	}
	<-s.Ended
	return nil, fmt.Errorf("the server does not start: %v\n%s", cmd.ProcessState, s.Log)
}

// listen reads what the program says until it ends.
func (s *Server) listen(line io.ReadCloser) {
	defer close(s.silent)
	defer line.Close()
	listeners := 1
	if slices.Contains(s.cmd.Args, "--admin-listen") {
		listeners = 2
	}
	lines := bufio.NewScanner(line)
	for lines.Scan() {
		into := (*string)(nil)
		if id, ok := strings.CutPrefix(lines.Text(), "process "); ok {
			n, _ := strconv.ParseInt(id, 10, 64)
			s.process.Store(n)
		}
		_, address, found := strings.Cut(lines.Text(), "Listening on ")
		if found {
			into = &s.Address
		} else if _, address, found = strings.Cut(lines.Text(), "Admin listener "); found {
			into = &s.Admin
		}
		if !found || *into != "" {
			continue
		}
		*into = strings.TrimPrefix(strings.TrimSpace(address), "http://")
		if listeners--; listeners == 0 {
			close(s.ready)
		}
	}
}

// End sends a signal to the program and waits until it, and its tracer, have ended.
func (s *Server) End(signal syscall.Signal) error {
	err := s.Signal(signal)
	<-s.Ended
	return err
}

// Kill is SIGKILL: nothing in the process runs afterwards.
func (s *Server) Kill() { s.End(syscall.SIGKILL) }

// Signal sends a signal to the program and waits for nothing.
func (s *Server) Signal(signal syscall.Signal) error {
	if id := s.process.Load(); id != 0 && id != int64(s.cmd.Process.Pid) {
		return syscall.Kill(int(id), signal)
	}
	return s.cmd.Process.Signal(signal) // which cannot meet another process that has the id by now
}

// PID is the process that was started.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// State says how the process has ended.
func (s *Server) State() *os.ProcessState { return s.cmd.ProcessState }
