package postgres

import (
	"context"
	"errors"
	"net"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

var errUncanceled = errors.New("postgres: a statement that was sent is not canceled")

// neverCancel has connections that are given up leave their statement alone, where pgx would ask the
// server to cancel it, by a second connection.
//
// A commit that waits for its standby stops waiting when it is canceled: it stands, and every session
// sees it, but it is on no other server. A session that reads it, or repeats it, gets an answer that
// the next failover takes back. Uncanceled it stays unseen until the standby has it.
//
// Canceling would also cost the connection, and a stranger who hangs up again and again would cost as many.
func neverCancel(config *pgxpool.Config) {
	before := config.BeforeConnect
	config.BeforeConnect = func(ctx context.Context, c *pgx.ConnConfig) error {
		var connected atomic.Bool
		dial, after := c.DialFunc, c.AfterConnect
		c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
			if connected.Load() { // each connection has a DialFunc of its own, and nothing else dials after it
				return nil, errUncanceled
			}
			return dial(ctx, network, address)
		}
		c.AfterConnect = func(ctx context.Context, p *pgconn.PgConn) error {
			connected.Store(true)
			if after == nil {
				return nil
			}
			return after(ctx, p)
		}
		if before == nil {
			return nil
		}
		return before(ctx, c)
	}
}
