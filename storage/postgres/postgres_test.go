package postgres_test

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/postgres"
	"github.com/keystile/keystile/storage/storagetest"
)

// address returns where a PostgreSQL for tests is: .ci/postgres starts one.
func address(t testing.TB, variable string) string {
	t.Helper()
	dsn := os.Getenv(variable)
	if dsn == "" {
		t.Skipf("%s is not set: eval \"$(.ci/postgres start DIR)\" starts a server for tests", variable)
	}
	return dsn
}

const (
	direct = "KEYSTILE_POSTGRES_URL"
	pooled = "KEYSTILE_PGBOUNCER_URL"
)

// schemas has the schema of each test that has opened one.
var schemas sync.Map

// schemaOf returns the schema of a test: one, however often it opens a store.
func schemaOf(t testing.TB) string {
	if name, there := schemas.Load(t.Name()); there {
		return name.(string)
	}
	name := newSchema(t)
	schemas.Store(t.Name(), name)
	t.Cleanup(func() { schemas.Delete(t.Name()) })
	return name
}

// newSchema returns the name of a schema that nobody has, and removes it in the end.
func newSchema(t testing.TB) string {
	t.Helper()
	name := "t_" + strings.ToLower(rand.Text()[:12])
	t.Cleanup(func() {
		c, err := pgx.Connect(context.Background(), address(t, direct))
		if err == nil {
			_, err = c.Exec(context.Background(), "DROP SCHEMA IF EXISTS "+name+" CASCADE")
			c.Close(context.Background())
		}
		if err != nil {
			t.Error(err)
		}
	})
	return name
}

func open(t testing.TB, dsn string, o postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(context.Background(), dsn, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestContract(t *testing.T) {
	for name, variable := range map[string]string{"directly": direct, "behind PgBouncer": pooled} {
		t.Run(name, func(t *testing.T) {
			dsn := address(t, variable)
			storagetest.Run(t, func(t *testing.T) driver.Backend {
				return open(t, dsn, postgres.Options{Schema: schemaOf(t), Conns: 10})
			})
		})
	}
}

func TestReopen(t *testing.T) {
	dsn := address(t, direct)
	storagetest.RunDurable(t, func(t *testing.T, _ string) driver.Backend {
		return open(t, dsn, postgres.Options{Schema: schemaOf(t)})
	})
}

func TestTransfer(t *testing.T) {
	dsn := address(t, direct)
	storagetest.RunTransfer(t, func(t *testing.T) driver.Backend {
		return open(t, dsn, postgres.Options{Schema: schemaOf(t)})
	})
}
