package storagetest

import (
	"slices"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

// Run holds a Backend to everything it promises while it is open. Each call of open
// returns an empty Backend.
func Run(t *testing.T, open func(t *testing.T) driver.Backend) {
	for _, c := range []chapter{
		{"Issue and Token", issuing()},
		{"Exchange", exchanging()},
		{"Exchange refuses", slices.Concat(refusing(), refusingNext())},
		{"Revoke", revoking()},
		{"Revoke joins", joining()},
		{"Revocations", revocationFeed()},
		{"Put and Get", putting()},
		{"Put refuses", conflicts()},
		{"List", listing()},
		{"List pages", paging()},
		{"Count", counting()},
		{"Usage", reporting()},
		{"Append and Records", auditing()},
		{"Prune", pruning()},
		{"Sweep", sweeping()},
		{"Sweep keeps", keeping()},
		{"copies", copying()},
		{"edges", edges()},
	} {
		t.Run(c.about, func(t *testing.T) { c.run(t, open) })
	}
	t.Run("Close", func(t *testing.T) { runClose(t, open) })
}

// chapter is the promises about one thing.
type chapter struct {
	about    string
	promises []promise
}

// promise is a sentence of the contract, and the test of it.
type promise struct {
	name string
	test func(t *testing.T, b driver.Backend)
}

func (c chapter) run(t *testing.T, open func(t *testing.T) driver.Backend) {
	for _, p := range c.promises {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			t.Cleanup(func() { want(t, "Close()", b.Close(), nil) })
			p.test(t, b)
		})
	}
}
