package servers

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/resp"
)

func (c *Client) node(where func(context.Context) (string, error)) *node {
	return &node{client: c, where: where}
}

func at(address string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return address, nil }
}

// node is a server and the connection to it, which is made anew when it is over.
type node struct {
	client *Client
	where  func(context.Context) (string, error)

	mu      sync.Mutex
	conn    *resp.Conn
	address string // of conn
	dialing *dialing
}

// dialing is an attempt to connect, for which all wait who need it.
type dialing struct {
	done chan struct{}
	conn *resp.Conn
	err  error
}

// get returns the connection, or waits for one until a time.
func (n *node) get(by time.Time) (*resp.Conn, error) {
	n.mu.Lock()
	if n.conn != nil && n.conn.Err() == nil {
		defer n.mu.Unlock()
		return n.conn, nil
	}
	d := n.dialing
	if d == nil {
		d = &dialing{done: make(chan struct{})}
		n.dialing = d
		go n.dial(d)
	}
	n.mu.Unlock()
	late := time.NewTimer(time.Until(by))
	defer late.Stop()
	select {
	case <-d.done:
		return d.conn, d.err
	case <-late.C:
		return nil, os.ErrDeadlineExceeded
	}
}

func (n *node) dial(d *dialing) {
	c := n.client
	ctx, cancel := context.WithTimeout(c.ctx, c.c.Dialling)
	defer cancel()
	address, err := n.where(ctx)
	if err == nil {
		d.conn, err = resp.Dial(ctx, c.c.Target, address, c.c.Patience)
	}
	n.mu.Lock()
	if err == nil && c.ctx.Err() != nil {
		d.conn.Close()
		err = resp.ErrClosed
	}
	d.err, n.dialing, n.conn, n.address = err, nil, d.conn, address
	n.mu.Unlock()
	close(d.done)
	if err == nil {
		c.c.Dialled()
	}
}

func (n *node) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.conn != nil {
		n.conn.Close()
	}
}

// at returns where the connection leads.
func (n *node) at() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.address
}
