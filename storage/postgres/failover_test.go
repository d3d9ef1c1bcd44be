package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/pgserver"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/postgres"
)

// pair is a primary and its synchronous standby, and an address that names the standby first.
func pair(t *testing.T) (primary, standby *pgserver.Server, both string) {
	t.Helper()
	if testing.Short() {
		t.Skip("slow: it runs without -short")
	}
	if pgserver.Installed() == "" {
		t.Skip("no PostgreSQL is installed")
	}
	ctx := t.Context()
	primary, err := pgserver.New(ctx)
	must(t, err)
	t.Cleanup(func() { primary.Close() })
	standby, err = pgserver.Make(pgserver.Place{})
	must(t, err)
	t.Cleanup(func() { standby.Close() })
	must(t, standby.Follow(ctx, primary.Conninfo(), "standby"))
	must(t, primary.Demand(ctx, "standby"))
	must(t, primary.Synchronous(ctx))
	return primary, standby, "postgres://keystile@" + standby.Address() + "," + primary.Address() +
		"/postgres?sslmode=disable"
}

// Of all hosts in the address the one that takes writes is used, for listening too, and another one when
// that has changed.
func TestStoreFollowsAFailover(t *testing.T) {
	primary, standby, both := pair(t)
	ctx := t.Context()
	s := open(t, both, postgres.Options{Schema: "failover", Timeout: time.Second})
	defer s.Close()
	hints, ended := listening(t, s)
	must(t, s.Revoke(ctx, driver.Revocation{Kind: driver.RevokeJTI, ID: "before"}))
	<-hints
	must(t, primary.Kill())
	if err := <-ended; err == nil {
		t.Error("listening to a server that was killed ends without an error")
	}
	must(t, standby.Promote(ctx))
	must(t, again(ctx, func() error { return s.Revoke(ctx, driver.Revocation{Kind: driver.RevokeJTI, ID: "after"}) }))
	feed, err := s.Revocations(ctx, 0, 10)
	if must(t, err); len(feed) != 2 || feed[0].ID != "before" {
		t.Errorf("after the failover there are %+v", feed)
	}
	hints, _ = listening(t, s)
	must(t, s.Revoke(ctx, driver.Revocation{Kind: driver.RevokeJTI, ID: "later"}))
	<-hints
}

// again does something until it works, as callers do that are told 503.
func again(ctx context.Context, do func() error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		if err = do(); err == nil {
			return nil
		}
	}
	return err
}
