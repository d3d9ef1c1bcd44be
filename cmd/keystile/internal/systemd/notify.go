package systemd

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// States that are sent to the manager.
const (
	Ready    = "READY=1"
	Stopping = "STOPPING=1"
	alive    = "WATCHDOG=1"
)

// Manager knows what the service manager has put into the environment of the process. The zero value
// is that of a process that none has started.
type Manager struct {
	socket string        // "": it wants to hear nothing
	every  time.Duration // 0: it does not watch
	env    map[string]string
	pid    int
}

// From reads an environment, written as by os.Environ, for the process with this number. Variables
// meant for another process, such as the parent, are ignored.
func From(environ []string, pid int) Manager {
	m := Manager{env: map[string]string{}, pid: pid}
	for _, line := range environ {
		if name, value, is := strings.Cut(line, "="); is {
			m.env[name] = value
		}
	}
	m.socket = m.env["NOTIFY_SOCKET"]
	usec, err := strconv.ParseInt(m.env["WATCHDOG_USEC"], 10, 64)
	if owner := m.env["WATCHDOG_PID"]; err == nil && usec > 0 && (owner == "" || m.isMe(owner)) {
		m.every = time.Duration(usec) * time.Microsecond
	}
	return m
}

func (m Manager) isMe(pid string) bool { return pid == strconv.Itoa(m.pid) }

// Tell sends lines to the manager, such as Ready and Status.
func (m Manager) Tell(lines ...string) error {
	if m.socket == "" {
		return nil
	}
	name := m.socket
	if strings.HasPrefix(name, "@") {
		name = "\x00" + name[1:] // of the abstract namespace
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("the service manager cannot be told (NOTIFY_SOCKET): %w", err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(strings.Join(lines, "\n"))); err != nil {
		return fmt.Errorf("the service manager cannot be told (NOTIFY_SOCKET): %w", err)
	}
	return nil
}

// Status makes a line that `systemctl status` shows.
func Status(text string) string { return "STATUS=" + strings.ReplaceAll(text, "\n", " ") }

// Watch tells the manager that the process is alive, twice in each time it allows (WatchdogSec), for as
// long as well returns; it returns when ctx ends. A call of well that hangs keeps the next message away,
// and the manager then restarts the service.
func (m Manager) Watch(ctx context.Context, well func(context.Context) bool) {
	if m.socket == "" || m.every == 0 {
		return
	}
	tick := time.NewTicker(m.every / 2)
	defer tick.Stop()
	for {
		if well(ctx) {
			m.Tell(alive) // the next one says it again
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
