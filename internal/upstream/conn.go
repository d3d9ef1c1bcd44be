package upstream

import (
	"bufio"
	"context"
	"errors"
	"math"
	"net"
	"os"
	"syscall"
)

const noLimit = math.MaxInt64

// conn is a connection to a service. One exchange at a time has it, or the pool.
type conn struct {
	net.Conn
	host   string // as URLs have it
	in     *bufio.Reader
	limit  int64           // how many bytes more may be read
	reused bool            // it has had an exchange before this one
	tick   uint64          // of the pool, when it became idle
	raw    syscall.RawConn // nil: there is none
	abort  func()
	peek   func(fd uintptr)
	silent bool // what peek has found
}

func newConn(plain net.Conn, host string) *conn {
	c := &conn{Conn: plain, host: host}
	c.in = bufio.NewReaderSize((*limited)(c), 4<<10)
	c.abort = func() { c.Close() }
	if s, ok := plain.(syscall.Conn); ok {
		c.raw, _ = s.SyscallConn()
		c.peek = func(fd uintptr) { c.silent = silent(fd) }
	}
	return c
}

// isSilent reports whether a connection is open, and nothing has come on it that nobody asked for. It does not wait.
// One that cannot be asked is not silent.
func (c *conn) isSilent() bool {
	if c.raw == nil {
		return false
	}
	c.silent = false
	err := c.raw.Control(c.peek)
	return err == nil && c.silent
}

// limited reads from a connection within its limit.
type limited conn

var errLong = errors.New("upstream: too long")

func (l *limited) Read(p []byte) (int, error) {
	if l.limit <= 0 {
		return 0, errLong
	}
	n, err := l.Conn.Read(p[:min(int64(len(p)), l.limit)])
	l.limit -= int64(n)
	return n, err
}

// late is the error of an answer whose header does not come in time.
type late struct{}

var errLate error = late{}

func (late) Error() string        { return "upstream: the header of the answer did not come in time" }
func (late) Timeout() bool        { return true }
func (late) Temporary() bool      { return true }
func (late) Unwrap() error        { return os.ErrDeadlineExceeded }
func (late) Is(target error) bool { return target == context.DeadlineExceeded }

func isLate(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
