//go:build unix

package systemd

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// firstSocket is SD_LISTEN_FDS_START.
const firstSocket = 3

// Sockets returns the listeners that the manager handed over, by name. It is called once: the descriptors
// are this process's then, and its children do not get them.
func (m Manager) Sockets() (map[string]*Socket, error) {
	if !m.isMe(m.env["LISTEN_PID"]) {
		return nil, nil
	}
	n, err := strconv.Atoi(m.env["LISTEN_FDS"])
	if err != nil || n < 0 || n > 64 {
		return nil, fmt.Errorf("LISTEN_FDS is %q: the service manager hands over no such number of sockets",
			m.env["LISTEN_FDS"])
	}
	names := strings.Split(m.env["LISTEN_FDNAMES"], ":")
	all, errs := map[string]*Socket{}, []error(nil)
	for i := range n {
		name := ""
		if i < len(names) {
			name = names[i]
		}
		if name != Public && name != Admin && n == 1 {
			name = Public // its unit gave it no name
		}
		l, err := open(firstSocket+i, name)
		switch {
		case err != nil:
			errs = append(errs, err)
		case all[name] != nil:
			errs = append(errs, fmt.Errorf("two sockets are called %s: keep one ListenStream= for it (BindIPv6Only=both takes "+
				"IPv4 too)", name), l.Close())
		default:
			all[name] = l
		}
	}
	if len(errs) > 0 {
		for _, l := range all {
			l.Close()
		}
		return nil, errors.Join(errs...)
	}
	return all, nil
}

// open makes a listener of a descriptor, and closes the descriptor.
func open(fd int, name string) (*Socket, error) {
	syscall.CloseOnExec(fd)
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	if name != Public && name != Admin {
		return nil, fmt.Errorf("a socket is called %q: say FileDescriptorName=public or FileDescriptorName=admin in its unit",
			name)
	}
	l, err := net.FileListener(f)
	if err != nil {
		return nil, fmt.Errorf("the socket %s cannot be listened on: %w; its unit has to say ListenStream= and Accept=no",
			name, err)
	}
	if _, is := l.(*net.TCPListener); !is {
		l.Close()
		return nil, fmt.Errorf("the socket %s is at %s: the service counts callers by their address, so ListenStream= has "+
			"to be a TCP port", name, l.Addr())
	}
	return &Socket{l}, nil
}
