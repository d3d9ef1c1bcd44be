// Package planted has the contract of storage find some 500 bugs, each planted before an adapter, and the tests of the
// token log and of plain requests those that somebody could make there, each in a build of its own.
package planted

import (
	"path/filepath"
	"testing"

	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/postgres"
	"github.com/keystile/keystile/storage/storagetest/planted"
)

func TestPlantedBugsBeforeBolt(t *testing.T) {
	if testing.Short() {
		t.Skip("some 500 bugs on a store of their own each")
	}
	planted.Run(t, func(t *testing.T) driver.Backend { return openBolt(t, bolt.Options{}) })
}

func TestPlantedBugsBeforeBoltWithATokenLog(t *testing.T) {
	if testing.Short() {
		t.Skip("some 500 bugs on a store of their own each")
	}
	planted.Run(t, func(t *testing.T) driver.Backend { return openBolt(t, bolt.Options{TokenLog: true}) })
}

func openBolt(t *testing.T, opts bolt.Options) driver.Backend {
	t.Helper()
	s, err := bolt.Open(filepath.Join(t.TempDir(), "keystile.db"), opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPlantedBugsBeforePostgres(t *testing.T) {
	if testing.Short() {
		t.Skip("some 500 bugs in a schema of their own each")
	}
	dsn := database.URL(t, database.Direct)
	planted.Run(t, func(t *testing.T) driver.Backend {
		s, err := postgres.Open(t.Context(), dsn, postgres.Options{Schema: database.Schema(t), Conns: 10})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}
