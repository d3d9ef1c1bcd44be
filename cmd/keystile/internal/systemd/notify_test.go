package systemd

import (
	"context"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// manager is the end of the socket that a service manager listens at.
type manager struct{ *net.UnixConn }

func newManager(t *testing.T, name string) manager {
	t.Helper()
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return manager{c}
}

// heard returns the messages that have come.
func (m manager) heard(t *testing.T) (all []string) {
	t.Helper()
	for b := make([]byte, 4096); ; {
		m.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		n, err := m.Read(b)
		if err != nil {
			return all
		}
		all = append(all, string(b[:n]))
	}
}

func TestTellReachesTheManager(t *testing.T) {
	abstract := strings.ReplaceAll(t.TempDir(), "/", "-")
	for _, name := range []string{filepath.Join(t.TempDir(), "notify"), "@" + abstract} {
		m := newManager(t, name)
		if err := From([]string{"NOTIFY_SOCKET=" + name}, 1).Tell(Ready, Status("serving\nall")); err != nil {
			t.Error(err)
		}
		if got := m.heard(t); !slices.Equal(got, []string{"READY=1\nSTATUS=serving all"}) {
			t.Errorf("%s: it hears %q", name, got)
		}
	}
}

func TestNotifySaysNothingWithoutAManager(t *testing.T) {
	for _, m := range []Manager{{}, From(nil, 1), From([]string{"LISTEN_PID=2", "LISTEN_FDS=1"}, 1)} {
		sockets, err := m.Sockets()
		if told := m.Tell(Ready); told != nil || err != nil || sockets != nil {
			t.Errorf("%v, %v, %v", told, sockets, err)
		}
		m.Watch(t.Context(), nil) // returns at once
	}
	if err := From([]string{"NOTIFY_SOCKET=" + filepath.Join(t.TempDir(), "gone")}, 1).Tell(Ready); err == nil ||
		!strings.Contains(err.Error(), "NOTIFY_SOCKET") {
		t.Errorf("a socket that nobody listens at: %v", err)
	}
}

func TestWatchdogHearsTwiceInItsTimeWhileTheServiceAnswers(t *testing.T) {
	m := newManager(t, filepath.Join(t.TempDir(), "notify"))
	env := []string{"NOTIFY_SOCKET=" + m.LocalAddr().String(), "WATCHDOG_USEC=20000000"}
	for name, c := range map[string]struct {
		owner string
		well  bool
		want  int
	}{
		"well":                  {"WATCHDOG_PID=7", true, 7}, // now, and every 10 s of a minute
		"it does not answer":    {"WATCHDOG_PID=7", false, 0},
		"meant for another one": {"WATCHDOG_PID=8", true, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			go From(append(env, c.owner), 7).Watch(ctx, func(context.Context) bool { return c.well })
			time.Sleep(time.Minute)
			synctest.Wait()
			cancel()
			synctest.Wait()
		})
		got := m.heard(t)
		if len(got) != c.want || c.want > 0 && got[0] != "WATCHDOG=1" {
			t.Errorf("%s: it hears %q, want %d", name, got, c.want)
		}
	}
}
