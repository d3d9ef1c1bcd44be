// Package servers finds the server that has a key: the one there is, a master that sentinels name, or a member of
// a cluster.
package servers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/internal/resp"
)

// Config of a Client.
type Config struct {
	Target   resp.Target
	Dialling time.Duration // how long it may take to connect
	Patience time.Duration // how long a connection may leave a command without an answer
	Dialled  func()        // is told of each new connection; it must return at once
}

// Client asks servers. Make it with Open.
type Client struct {
	c       Config
	cluster *cluster // nil: there is one server
	single  *node
	looked  time.Time // when sentinels were asked last

	ctx    context.Context // until Close
	cancel context.CancelFunc
}

// Open connects, and finds out what is there.
func Open(ctx context.Context, c Config) (*Client, error) {
	own, cancel := context.WithCancel(context.Background())
	client := &Client{c: c, ctx: own, cancel: cancel, looked: time.Now()}
	err := client.open(ctx)
	if err != nil {
		client.Close()
		return nil, err
	}
	return client, nil
}

func (c *Client) open(ctx context.Context) error {
	by := time.Now().Add(c.c.Dialling)
	if until, ok := ctx.Deadline(); ok && until.Before(by) {
		by = until
	}
	if c.c.Target.MasterSet != "" {
		c.single = c.node(c.master)
		_, err := c.single.get(by)
		return err
	}
	if len(c.c.Target.Addresses) == 1 && c.c.Target.DB != 0 { // a cluster has one database
		c.single = c.node(at(c.c.Target.Addresses[0]))
		_, err := c.single.get(by)
		return err
	}
	var errs []error
	for _, address := range c.c.Target.Addresses {
		first := c.node(at(address))
		err := c.discover(by, first, address)
		if err == nil {
			return nil
		}
		first.close()
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// discover asks a server whether it belongs to a cluster.
func (c *Client) discover(by time.Time, first *node, address string) error {
	conn, err := first.get(by)
	if err != nil {
		return err
	}
	found, err := readSlots(by, conn, address)
	var said resp.Error
	switch {
	case errors.As(err, &said) && len(c.c.Target.Addresses) > 1:
		return fmt.Errorf("the address names several servers, and %s belongs to no cluster: %w", address, err)
	case errors.As(err, &said):
		c.single = first // a server by itself, or a proxy that knows no clusters
		return nil
	case err != nil:
		return err
	}
	c.cluster = &cluster{client: c, nodes: map[string]*node{address: first}}
	c.cluster.use(found)
	return nil
}

// Cluster reports whether keys are on several servers.
func (c *Client) Cluster() bool { return c.cluster != nil }

// Do has the server that has a key do a command.
func (c *Client) Do(by time.Time, key string, command ...string) (resp.Value, error) {
	if c.cluster != nil {
		return c.cluster.do(by, key, command)
	}
	conn, err := c.single.get(by)
	if err != nil {
		return resp.Value{}, err
	}
	return conn.Do(by, command...)
}

// Close ends all connections.
func (c *Client) Close() {
	c.cancel()
	if c.single != nil {
		c.single.close()
	}
	if c.cluster != nil {
		c.cluster.close()
	}
}
