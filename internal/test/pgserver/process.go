package pgserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// children are the processes whose parent the postmaster is.
func (s *Server) children() (all []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is good
	for _, path := range stats {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path))) // only digits match
		if parent, _, found := statOf(pid); found && parent == s.cmd.Process.Pid {
			all = append(all, pid)
		}
	}
	return all
}

// alive reports whether a process is there, and no zombie.
func alive(pid int) bool {
	_, state, found := statOf(pid)
	return found && state != "Z" && state != "X"
}

// statOf reads the parent and the state of a process.
func statOf(pid int) (parent int, state string, found bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, found := strings.Cut(string(text), ") ") // behind the name
	fields := strings.Fields(rest)
	if err != nil || !found || len(fields) < 2 {
		return 0, "", false
	}
	parent, err = strconv.Atoi(fields[1])
	return parent, fields[0], err == nil
}

// gone waits until processes have ended.
func gone(all []int) error {
	for end := time.Now().Add(patience); slices.ContainsFunc(all, alive); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return errors.New("processes of a killed PostgreSQL do not end")
		}
	}
	return nil
}
