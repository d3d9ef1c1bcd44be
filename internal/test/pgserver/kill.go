package pgserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Kill sends SIGKILL to the postmaster and to every process that it has begun, and waits until the
// last of them is gone: PostgreSQL does not start while one is there.
//
// All of them stop at one moment, as with their machine. Processes that outlive their postmaster give up
// waiting for a standby, and for an instant show each other commits that no standby has.
func (s *Server) Kill() error {
	if s.cmd == nil {
		return nil
	}
	s.Pause() // one that has ended has no children
	children := s.children()
	for _, pid := range children {
		syscall.Kill(pid, syscall.SIGKILL) // one that is gone already does not matter
	}
	if err := s.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-s.ended
	return gone(children)
}

// KillOne sends SIGKILL to one process that serves a connection, if there is one; pick chooses among
// n. The postmaster then ends all others and recovers by itself, and KillOne waits for that.
func (s *Server) KillOne(ctx context.Context, pick func(n int) int) error {
	children := s.children()
	var serving []int
	for _, pid := range children {
		if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); bytes.Contains(line, []byte(s.place.Host+"(")) {
			serving = append(serving, pid)
		}
	}
	if len(serving) == 0 || syscall.Kill(serving[pick(len(serving))], syscall.SIGKILL) != nil {
		return nil
	}
	return errors.Join(gone(children), s.Await(ctx))
}

// Close ends the server and removes its folder.
func (s *Server) Close() error {
	return errors.Join(s.Kill(), os.RemoveAll(s.dir))
}

// Pause stops all processes of the server; Resume lets them go on.
func (s *Server) Pause() error { return s.signal(syscall.SIGSTOP) }

// Resume lets the processes of the server go on that Pause has stopped.
func (s *Server) Resume() error { return s.signal(syscall.SIGCONT) }

func (s *Server) signal(signal syscall.Signal) error {
	err := s.cmd.Process.Signal(signal) // first: it begins no more of them
	for _, pid := range s.children() {
		syscall.Kill(pid, signal) // one that is gone already does not matter
	}
	return err
}
