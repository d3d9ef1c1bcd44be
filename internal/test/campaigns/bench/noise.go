//go:build linux

package main

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Rounds in which others took more than tooLoud of the processors are measured again, as
// long as there is patience for it: patientRounds times the rounds that were asked for.
const (
	tooLoud       = 0.10
	patientRounds = 3
)

// noise measures what other processes take while servers and this one work.
type noise struct {
	began     time.Time
	all, ours time.Duration
	servers   map[*process]bool // with those that they hand work on to
}

func listen(servers ...*process) (n noise, err error) {
	n.began, n.servers = time.Now(), map[*process]bool{}
	for _, p := range servers {
		n.servers[p] = true
		for _, behind := range p.behind {
			n.servers[behind] = true
		}
	}
	n.all, n.ours, err = n.now()
	return n, err
}

// share returns the part of the processors that others took since, 1 being all.
func (n noise) share() (float64, error) {
	all, ours, err := n.now()
	others := (all - n.all) - (ours - n.ours)
	whole := time.Since(n.began) * time.Duration(runtime.NumCPU())
	return max(0, float64(others)/float64(whole)), err
}

// now is the processor time of everybody, and of this process and those that it measures.
func (n noise) now() (all, ours time.Duration, err error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 4 {
		return 0, 0, errors.New("/proc/stat is too short")
	}
	for _, f := range fields[1:4] { // user, nice, system
		v, err := strconv.Atoi(f)
		if err != nil {
			return 0, 0, err
		}
		all += time.Duration(v) * (time.Second / ticks)
	}
	var me syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &me); err != nil {
		return 0, 0, err
	}
	ours = time.Duration(me.Utime.Nano() + me.Stime.Nano())
	for p := range n.servers {
		served, err := p.cpu()
		if err != nil {
			return 0, 0, err
		}
		ours += served
	}
	return all, ours, nil
}
