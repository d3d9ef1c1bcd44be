// Package backend opens the store that a test's service stands on: one in memory, or one in a
// PostgreSQL database, so that the same tests prove both.
//
//	KEYSTILE_TEST_STORAGE=postgres go test -run '^TestDialogues$' ./oauth ./internal/test/service/...
//
// KEYSTILE_POSTGRES_URL then says where the server is: eval "$(.ci/postgres start DIR)" starts one.
package backend

import (
	"context"
	"os"
	"testing"

	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/postgres"
)

const choice = "KEYSTILE_TEST_STORAGE" // memory, which is the default, or postgres

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
		s, err := postgres.Open(context.Background(), database.WithSchema(t), postgres.Options{PollOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return alone{s}
	default:
		t.Fatalf("%s=%s: give memory or postgres", choice, name)
		return nil
	}
}

// alone is a Backend that only this process writes to: it hides the other methods of a Store.
type alone struct{ driver.Backend }
