// Package netns gives programs of a test a network namespace each, with an address of its own on a
// bridge that leads nowhere else, so that a link can be taken away as a pulled plug takes it away:
// nobody is told. It needs root and Linux's ip.
package netns

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// Net is a bridge with the test at its first address.
type Net struct {
	name  string
	block string // the first three numbers of the addresses
	all   []*Space
}

// Space is a network namespace. A nil Space is the one that the test itself is in.
type Space struct {
	name, link string
	Host       string
	path       string
}

// New makes a bridge. The block is drawn among those that nobody on this machine has.
func New(pick func(n int) int) (*Net, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("network namespaces need root")
	}
	var err error
	for range 20 {
		id := pick(1 << 14)
		n := &Net{name: fmt.Sprintf("ks%d", id), block: fmt.Sprintf("10.%d.%d", 192+id>>8, id&255)}
		if err = run("link", "add", n.name, "type", "bridge"); err != nil {
			continue // somebody else's, or no right
		}
		err = errors.Join(run("addr", "add", n.block+".1/24", "dev", n.name), run("link", "set", n.name, "up"))
		if err != nil {
			return nil, errors.Join(err, n.Close())
		}
		return n, nil
	}
	return nil, err
}

// Host is the address of the test.
func (n *Net) Host() string { return n.block + ".1" }

// Space makes a namespace on the bridge.
func (n *Net) Space() (*Space, error) {
	i := len(n.all) + 2
	s := &Space{name: fmt.Sprintf("%s-%d", n.name, i), link: fmt.Sprintf("%sv%d", n.name, i),
		Host: fmt.Sprintf("%s.%d", n.block, i)}
	s.path = "/run/netns/" + s.name
	if err := run("netns", "add", s.name); err != nil {
		return nil, err
	}
	n.all = append(n.all, s)
	for _, step := range []string{
		"link add " + s.link + " type veth peer name eth0 netns " + s.name,
		"link set " + s.link + " master " + n.name + " up",
		"-n " + s.name + " link set lo up",
		"-n " + s.name + " addr add " + s.Host + "/24 dev eth0",
		"-n " + s.name + " link set eth0 up",
	} {
		if err := run(strings.Fields(step)...); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Close removes everything. Programs in the namespaces have ended, or have no network any more.
func (n *Net) Close() (err error) {
	for _, s := range n.all {
		err = errors.Join(err, run("netns", "del", s.name)) // and with it both ends of its link
	}
	return errors.Join(err, run("link", "del", n.name))
}

// Plug takes the link of the namespace away, or gives it back.
func (s *Space) Plug(in bool) error {
	return run("link", "set", s.link, map[bool]string{true: "up", false: "down"}[in])
}

// Do runs a function in the namespace: what it starts and what it listens on belongs there.
func (s *Space) Do(f func() error) error {
	if s == nil {
		return f()
	}
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	defer home.Close()
	there, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer there.Close()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if err := enter(there); err != nil {
			runtime.UnlockOSThread()
			done <- err
			return
		}
		err := f()
		if back := enter(home); back == nil {
			runtime.UnlockOSThread() // else the thread ends with the goroutine
		}
		done <- err
	}()
	return <-done
}

func run(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}
