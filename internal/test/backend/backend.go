// Package backend opens the store that a test's service stands on: one in memory, or one in a
// PostgreSQL database, so that the same tests prove both.
//
//	KEYSTILE_TEST_STORAGE=postgres go test -run '^TestDialogues$' ./oauth ./gateway
//
// KEYSTILE_POSTGRES_URL then says where the server is: eval "$(.ci/postgres start DIR)" starts one.
package backend

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/postgres"
)

const (
	choice  = "KEYSTILE_TEST_STORAGE" // memory, which is the default, or postgres
	address = "KEYSTILE_POSTGRES_URL"
)

// New returns an empty Backend of the storage that the environment chooses, and closes it in the end.
//
// It may be called in a synctest bubble. The clock of a bubble stands still while the database is
// asked, and nothing waits for the database while nobody asks it. So the Backend is no driver.Shared:
// a listening connection would hold up the clock, and a month that a test lets pass would be
// millions of looks for what other processes have written.
func New(t testing.TB) driver.Backend {
	t.Helper()
	switch name := os.Getenv(choice); name {
	case "", "memory":
		b := memory.New()
		t.Cleanup(func() { b.Close() })
		return b
	case "postgres":
		return alone{Postgres(t, postgres.Options{PollOnly: true})}
	default:
		t.Fatalf("%s=%s: give memory or postgres", choice, name)
		return nil
	}
}

// alone is a Backend that only this process writes to: it hides the other methods of a Store.
type alone struct{ driver.Backend }

// Postgres returns a Store in a schema that nobody has, which is removed in the end. It skips the
// test where there is no server.
func Postgres(t testing.TB, o postgres.Options) *postgres.Store {
	t.Helper()
	dsn, schema := Schema(t)
	o.Schema = schema
	s, err := postgres.Open(context.Background(), dsn, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Schema returns the address of a server for tests, and the name of a schema that nobody has. It is
// removed in the end. Without a server the test is skipped.
func Schema(t testing.TB) (dsn, schema string) {
	t.Helper()
	dsn = os.Getenv(address)
	if dsn == "" {
		t.Skipf(`%s is not set: eval "$(.ci/postgres start DIR)" starts a server for tests`, address)
	}
	schema = "b_" + strings.ToLower(rand.Text()[:12])
	t.Cleanup(func() {
		c, err := pgx.Connect(context.Background(), dsn)
		if err == nil {
			_, err = c.Exec(context.Background(), "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
			c.Close(context.Background())
		}
		if err != nil {
			t.Error(err)
		}
	})
	return dsn, schema
}
