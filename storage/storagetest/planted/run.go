package planted

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/storagetest"
)

// goal says how many bugs in a hundred the contract must see, on any Backend.
const goal = 97

// Run plants each bug of the list in Backends that open returns, empty ones, and holds them to
// the promises that should break. It prints the score, and fails below the goal, or if a
// promise breaks without a bug: then the Backend is wrong, not the list. Some hundreds of
// Backends are opened, several at a time.
func Run(t *testing.T, open func(t *testing.T) driver.Backend) {
	bugs := allBugs()
	t.Run("no bug", func(t *testing.T) {
		for _, path := range paths(bugs) {
			if strings.HasPrefix(path, reopening) {
				continue // on a Backend of our own: our tests try it
			}
			t.Run(path, func(t *testing.T) {
				t.Parallel()
				if said := storagetest.Broken(t, path, time.Minute, bug{caught: path}.opens(open)); said != "" {
					t.Errorf("the Backend fails without a bug: %s", said)
				}
			})
		}
	})
	var tried, caught atomic.Int32
	t.Run("planted", func(t *testing.T) {
		for _, b := range bugs {
			t.Run(b.name, func(t *testing.T) {
				t.Parallel()
				tried.Add(1)
				if b.seen(t, open) {
					caught.Add(1)
				} else {
					t.Logf("not caught by %q", b.caught)
				}
			})
		}
	})
	t.Logf("%d planted bugs, %d caught", tried.Load(), caught.Load())
	if !enough(int(caught.Load()), int(tried.Load())) {
		t.Errorf("%d of %d planted bugs are caught, want %d of a hundred: go test -v tells which are not", caught.Load(),
			tried.Load(), goal)
	}
}

func enough(caught, tried int) bool { return 100*caught >= goal*tried }

// paths are the promises that should see the bugs, each once.
func paths(bugs []bug) []string {
	var all []string
	for _, b := range bugs {
		all = append(all, b.caught)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// bug is one broken promise of an adapter that keeps all others.
type bug struct {
	name    string
	caught  string                              // chapter and first words of the promise that sees it
	plant   func(b *parts)                      // what is wrong with an open Backend
	reopen  func(kept []call) []call            // what is wrong with what was written down
	pick    func(pickFunc) pickFunc             // what is wrong with Pick
	gather  func(*parts, gatherFunc) gatherFunc // what is wrong with Gather
	forever bool                                // a call is never answered
}

// seen reports whether the contract sees the bug. A race is lost sooner or later; all others
// are seen at once.
func (b bug) seen(t *testing.T, open func(t *testing.T) driver.Backend) bool {
	patience := time.Minute
	if b.forever {
		patience = 2 * time.Second
	}
	for range 12 {
		if said := storagetest.Broken(t, b.caught, patience, b.opens(open)); said != "" {
			t.Log(said)
			return true
		}
	}
	return false
}

// opens returns what opens Backends with the bug in them.
func (b bug) opens(open func(t *testing.T) driver.Backend) func(t *testing.T, folder string) driver.Backend {
	if strings.HasPrefix(b.caught, reopening) {
		return disks(b)
	}
	return func(t *testing.T, _ string) driver.Backend { return b.in(t, open(t)) }
}

const reopening = "reopening/"

func allBugs() []bug {
	return slices.Concat(
		issueBugs(), issueTwiceBugs(), tokenBugs(), lossBugs(), exchangeBugs(), followBugs(), verdictBugs(),
		revokeBugs(), feedBugs(), auditBugs(), pruneBugs(), pickBugs(), gatherBugs(),
		putBugs(), docBugs(), versionBugs(), copyBugs(), listBugs(), pageBugs(), indexBugs(),
		countBugs(), rowBugs(), usageBugs(), sweepBugs(), sweptBugs(), endBugs(), closeBugs(), durableBugs(),
		rollbackBugs(), staleBugs(), collationBugs(), clockBugs(),
		numberBugs(), sumBugs(), wildBugs(), lossyBugs(), nothingBugs(),
		clauseBugs(), lockBugs(), crowdBugs(), cutBugs(),
	)
}
