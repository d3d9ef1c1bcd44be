package postgres_test

import (
	"testing"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/postgres"
	"github.com/keystile/keystile/storage/storagetest/planted"
)

func TestPlantedBugs(t *testing.T) {
	if testing.Short() {
		t.Skip("some 500 bugs in a schema of their own each")
	}
	dsn := address(t, direct)
	planted.Run(t, func(t *testing.T) driver.Backend {
		return open(t, dsn, postgres.Options{Schema: newSchema(t), Conns: 10})
	})
}
