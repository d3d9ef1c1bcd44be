package mailer

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
)

// connection is the connection of one email. The timeouts of the SMTP client begin anew with each
// answer; a server that drips its answers would block an email for ever if nobody closed it.
type connection struct {
	tls  bool
	conf *tls.Config

	mu   sync.Mutex
	conn net.Conn
	gone bool
}

func (l *connection) dial(ctx context.Context, network, address string) (conn net.Conn, err error) {
	if l.tls {
		conn, err = (&tls.Dialer{Config: l.conf}).DialContext(ctx, network, address)
	} else {
		conn, err = new(net.Dialer).DialContext(ctx, network, address)
	}
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone {
		conn.Close()
		return nil, context.Cause(ctx)
	}
	l.conn = conn
	return conn, nil
}

func (l *connection) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = true
	if l.conn != nil {
		l.conn.Close()
	}
}
