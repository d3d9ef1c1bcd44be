package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/keystile/keystile/internal/resp"
)

// Sentinels are asked so often whether the master is still the one.
const lookEvery = 5 * time.Second

// master asks sentinels where the master is, one after the other until one knows.
func (c *Client) master(ctx context.Context) (string, error) {
	t := c.c.Target
	t.User, t.Password, t.DB = "", "", 0 // those are the master's
	var errs []error
	for _, address := range t.Addresses {
		found, err := c.named(ctx, t, address)
		if err == nil {
			return found, nil
		}
		errs = append(errs, fmt.Errorf("sentinel %s: %w", address, err))
	}
	return "", errors.Join(errs...)
}

func (c *Client) named(ctx context.Context, t resp.Target, sentinel string) (string, error) {
	// so that others are asked too, and the master is connected to
	share := c.c.Dialling / time.Duration(len(t.Addresses)+1)
	ctx, cancel := context.WithTimeout(ctx, share)
	defer cancel()
	conn, err := resp.Dial(ctx, t, sentinel, c.c.Patience)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	by, _ := ctx.Deadline()
	v, err := conn.Do(by, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", t.MasterSet)
	if err != nil {
		return "", err
	}
	if v.Kind == resp.Null {
		return "", fmt.Errorf("it knows no master %q", t.MasterSet)
	}
	found, err := v.Strings()
	if err != nil || len(found) != 2 {
		return "", errors.Join(resp.ErrOther, err)
	}
	return net.JoinHostPort(found[0], found[1]), nil
}

// Look asks sentinels, once in a while, whether the master is still the one, and leaves it if it is not: whoever
// is cut off from them may not have been told yet.
func (c *Client) Look(ctx context.Context) {
	if c.c.Target.MasterSet == "" || time.Since(c.looked) < lookEvery {
		return
	}
	c.looked = time.Now()
	ctx, cancel := context.WithTimeout(ctx, c.c.Dialling)
	defer cancel()
	address, err := c.master(ctx)
	n := c.single
	n.mu.Lock()
	moved := err == nil && n.address != "" && n.address != address
	n.mu.Unlock()
	if moved {
		n.close()
	}
}
