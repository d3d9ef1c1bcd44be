package postgres_test

import (
	"context"
	"sync"
	"testing"

	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/postgres"
	"github.com/keystile/keystile/storage/storagetest"
)

const (
	direct = database.Direct
	pooled = database.Pooled
)

// address returns where a server for tests is.
func address(t testing.TB, variable string) string { t.Helper(); return database.URL(t, variable) }

func newSchema(t testing.TB) string { t.Helper(); return database.Schema(t) }

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

// Three processes on one store are held to the contract as one is.
func TestContractOfThreeNodes(t *testing.T) {
	dsn := address(t, direct)
	storagetest.Run(t, func(t *testing.T) driver.Backend {
		node := func() driver.Backend { return open(t, dsn, postgres.Options{Schema: schemaOf(t), Conns: 4}) }
		return storagetest.Nodes(node(), node(), node())
	})
}

func BenchmarkContract(b *testing.B) {
	dsn := address(b, direct)
	storagetest.Bench(b, func(b *testing.B) driver.Backend { return open(b, dsn, postgres.Options{Schema: newSchema(b)}) })
}
