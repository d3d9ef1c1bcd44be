package storagetest

import (
	"slices"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

// Run holds a Backend to everything it promises while it is open. Each call of open
// returns an empty Backend.
func Run(t *testing.T, open func(t *testing.T) driver.Backend) {
	for _, c := range contract() {
		t.Run(c.about, func(t *testing.T) { c.run(t, open) })
	}
}

// RunDurable holds a Backend to what it promises through Close and a new open in the
// same folder. The folder is empty at the first open of a test.
func RunDurable(t *testing.T, open func(t *testing.T, dir string) driver.Backend) {
	for _, p := range reopening().promises {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p.hold(t, func() driver.Backend { return open(t, dir) })
		})
	}
}

// contract returns the promises that Run holds a Backend to.
func contract() []chapter {
	return []chapter{
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
		{"Gather", gathering()},
		{"Count", counting()},
		{"Usage", reporting()},
		{"UsageOf", metering()},
		{"Append and Records", auditing()},
		{"Pick", picking()},
		{"Prune", pruning()},
		{"Sweep", sweeping()},
		{"Sweep keeps", keeping()},
		{"copies", copying()},
		{"edges", edges()},
		{"times", times()},
		{"numbers", numbers()},
		{"nothing", nothing()},
		{"texts", texts()},
		{"many writers", slices.Concat(crowding(), crowdedFeeds(), crowdedSweeps())},
		{"calls cut short", cutShort()},
		{"refusals leave nothing", leavings()},
		{"Close", closing()},
	}
}

// chapter is the promises about one thing.
type chapter struct {
	about    string
	promises []promise
}

func (c chapter) run(t *testing.T, open func(t *testing.T) driver.Backend) {
	for _, p := range c.promises {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.hold(t, func() driver.Backend { return open(t) })
		})
	}
}

// promise is a sentence of the contract, and the test of it: one on an open Backend, or one
// that opens and closes Backends itself.
type promise struct {
	name  string
	test  func(t testing.TB, b driver.Backend)
	lives func(t testing.TB, open func() driver.Backend)
}

func (p promise) hold(t testing.TB, open func() driver.Backend) {
	if p.lives != nil {
		p.lives(t, open)
		return
	}
	b := open()
	defer func() { want(t, "Close()", b.Close(), nil) }()
	p.test(t, b)
}
