package connections

import (
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/keystile/keystile/internal/network"
)

// Listen listens at a TCP address for a server that is to be guarded. Multipath TCP is not spoken:
// its connections ignore the bound on answers that the client does not read.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	c := net.ListenConfig{Control: keepLittle}
	c.SetMultipathTCP(false)
	return c.Listen(ctx, "tcp", address)
}

// Inherit does to a listener that somebody else has opened what Listen does to its own.
func Inherit(l *net.TCPListener) error {
	raw, err := l.SyscallConn()
	if err != nil {
		return err
	}
	return keepLittle("", "", raw)
}

// listener hands out only what the limits let in.
type listener struct {
	net.Listener
	limits *Limits
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := l.limits.admit(nc); c != nil {
			return c, nil
		}
		forgetUnsent(nc)
		nc.Close()
	}
}

// admit counts a connection; nil if there are too many.
func (l *Limits) admit(nc net.Conn) *conn {
	from := addressOf(nc)
	if l.c.Trusted(from) {
		from = netip.Addr{}
	}
	from = network.Of(from).Addr()
	switch l.held.take(from, l.c.PerAddress, l.c.Total) {
	case tooManyOfAddress:
		l.refusedAddress.Add(1)
		return nil
	case tooManyInAll:
		l.refusedFull.Add(1)
		return nil
	}
	c := &conn{Conn: nc, limits: l, from: from}
	c.out = byteRate{left: l.c.Grace, grace: l.c.Grace, rate: l.c.AnswerRate, capped: true}
	c.queue = unknown
	c.linger.ended.L = &c.mu
	c.mu.Lock()
	c.watch = time.AfterFunc(l.c.StreamIdle/2, c.checkIdle)
	c.mu.Unlock()
	return c
}

// addressOf is the zero Addr for a peer that has none, as at a unix socket.
func addressOf(nc net.Conn) netip.Addr {
	tcp, ok := nc.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().WithZone("").Unmap()
}

// forgetUnsent makes Close reset a connection, so that the kernel keeps nothing of it.
func forgetUnsent(nc net.Conn) {
	if tcp, ok := nc.(interface{ SetLinger(int) error }); ok {
		tcp.SetLinger(0)
	}
}
