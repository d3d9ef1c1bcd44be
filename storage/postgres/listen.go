package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/keystile/keystile/storage/driver"
)

var _ driver.Shared = (*Store)(nil)

const (
	heardWithin = 2 * time.Second
	listenPing  = 30 * time.Second // so that a connection that has vanished is noticed
)

// hint returns the channel on which a write is told to other processes; nil if it is not. Every
// notification takes a lock that all databases of the server share, so only what they wait for is
// told, and nothing where nobody listens.
func (s *Store) hint(awaited bool) *string {
	if !awaited || s.options.PollOnly {
		return nil
	}
	return &s.channel
}

// Listen calls hint when another process, or this one, has stored a revocation or an epoch. It
// holds one connection, which must lead to the server itself: a pooler in transaction mode drops
// what is listened to without a word, so a test message is sent first.
func (s *Store) Listen(ctx context.Context, hint func()) error {
	if s.options.PollOnly {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ended, cancel)()
	c, dsn, err := s.options.listener(ctx, s.dsn)
	if err != nil {
		return err
	}
	defer func() {
		leaving, done := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer done()
		_ = c.Close(leaving)
	}()
	if _, err := c.Exec(ctx, "LISTEN "+quoted(s.channel), pgx.QueryExecModeSimpleProtocol); err != nil {
		return explain(dsn, err)
	}
	heard, err := s.hears(ctx, c)
	if err != nil {
		return explain(dsn, err)
	}
	if !heard {
		s.options.Log.WarnContext(ctx, "notifications of the database do not arrive, perhaps because a pooler stands "+
			"between: other nodes' changes are read each second instead; name the server's own address for listening")
		return nil
	}
	hint()
	for {
		wait, done := context.WithTimeout(ctx, listenPing)
		_, err := c.WaitForNotification(wait)
		done()
		switch {
		case err == nil:
			hint()
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, context.DeadlineExceeded):
			if err := ping(ctx, c, s.options.Timeout); err != nil {
				return explain(dsn, err)
			}
		default:
			return explain(dsn, err)
		}
	}
}

// listener connects to where hints are listened to, and also returns the DSN of that.
func (o Options) listener(ctx context.Context, dsn string) (c *pgx.Conn, at string, err error) {
	dsn = cmp.Or(o.ListenDSN, dsn)
	config, err := connConfig(dsn)
	if err == nil {
		config.ConnectTimeout = o.Timeout
		c, err = pgx.ConnectConfig(ctx, config)
	}
	if err != nil {
		err = explain(dsn, err)
	}
	return c, dsn, err
}

func ping(ctx context.Context, c *pgx.Conn, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return c.Ping(ctx)
}

// hears sends a message through the pool, and reports whether it comes back.
func (s *Store) hears(ctx context.Context, c *pgx.Conn) (bool, error) {
	nonce := rand.Text()
	if _, err := s.pool.Exec(ctx, "SELECT pg_notify($1, $2)", s.channel, nonce); err != nil {
		return false, err
	}
	wait, cancel := context.WithTimeout(ctx, heardWithin)
	defer cancel()
	for {
		n, err := c.WaitForNotification(wait)
		switch {
		case err == nil && n.Payload == nonce:
			return true, nil
		case err == nil:
		case ctx.Err() != nil:
			return false, ctx.Err()
		case errors.Is(err, context.DeadlineExceeded):
			return false, nil
		default:
			return false, err
		}
	}
}
