package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/postgres"
)

// A canceled commit that waits for a standby stops waiting, and shows what a failover would lose. Here
// the statement waits for a lock, which looks the same from outside: who gives up leaves it alone.
func TestCallThatGivesUpDoesNotCancelItsStatement(t *testing.T) {
	dsn, schema := address(t, direct), newSchema(t)
	s := open(t, dsn, postgres.Options{Schema: schema, Timeout: 2 * time.Second})
	defer s.Close()
	ctx := t.Context()
	holder := database.Connect(t)
	defer holder.Close(ctx)
	tx, err := holder.Begin(ctx)
	must(t, err)
	_, err = tx.Exec(ctx, "UPDATE "+schema+".number SET n = n")
	must(t, err)
	impatient, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	if err := s.Revoke(impatient, driver.Revocation{Kind: driver.RevokeJTI, ID: "x"}); err == nil {
		t.Fatal("a revocation was stored that cannot be")
	}
	for range 20 { // a cancel would come behind the answer
		var waiting int
		must(t, holder.QueryRow(ctx, "SELECT count(*) FROM pg_sleep(0.02), pg_locks WHERE NOT granted AND pg_backend_pid() "+
			"= ANY (pg_blocking_pids(pid))").Scan(&waiting))
		if waiting != 1 {
			t.Fatalf("%d statements wait after their caller has given up, want 1", waiting)
		}
	}
	must(t, tx.Commit(ctx))
	for range 1000 {
		feed, err := s.Revocations(ctx, 0, 10)
		if must(t, err); len(feed) == 1 {
			return
		}
	}
	t.Error("what was left alone is not carried out")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
