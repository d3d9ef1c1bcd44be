package storagetest_test

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/storagetest"
)

// bug is one broken promise of an adapter that keeps all others.
type bug struct {
	name    string
	caught  string                   // the first words of the promise that catches it
	plant   func(b *parts)           // what is wrong with an open Backend
	reopen  func(kept []call) []call // what is wrong with what was written down
	forever bool                     // it is caught by the time limit of go test only
}

// planted is the environment variable that names the bug of a child process.
const planted = "KEYSTILE_PLANTED_BUG"

func allBugs() []bug {
	return slices.Concat(
		issueBugs(), issueTwiceBugs(), tokenBugs(), lossBugs(), exchangeBugs(), followBugs(), verdictBugs(),
		revokeBugs(), feedBugs(), auditBugs(), pruneBugs(),
		putBugs(), docBugs(), versionBugs(), copyBugs(), listBugs(), pageBugs(), indexBugs(),
		countBugs(), rowBugs(), usageBugs(), sweepBugs(), sweptBugs(), endBugs(), closeBugs(), durableBugs(),
	)
}

// Without a bug this is the control: the Backend that all bugs are planted in passes.
func TestBackend(t *testing.T) {
	name := os.Getenv(planted)
	var b bug
	for _, known := range allBugs() {
		if known.name == name {
			b = known
		}
	}
	t.Run("Run", func(t *testing.T) {
		storagetest.Run(t, func(*testing.T) driver.Backend { return b.in(memory.New()) })
	})
	t.Run("RunDurable", func(t *testing.T) {
		storagetest.RunDurable(t, disks(b))
	})
}

// A failing suite ends its process, so every bug has one of its own.
func TestTheSuiteCatchesPlantedBugs(t *testing.T) {
	var tried, caught atomic.Int32
	t.Cleanup(func() { t.Logf("%d planted bugs, %d caught", tried.Load(), caught.Load()) })
	for _, b := range allBugs() {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			tried.Add(1)
			if out, failed := b.run(t.Context()); !failed {
				t.Errorf("the suite passes on it, or fails elsewhere than at %q:\n%s", b.caught, out)
				return
			}
			caught.Add(1)
		})
	}
}

// run runs the promise that should catch the bug, and reports whether it failed.
func (b bug) run(ctx context.Context) (out string, failed bool) {
	limit := "60s"
	if b.forever {
		limit = "2s"
	}
	var pattern []string
	for part := range strings.SplitSeq("TestBackend/"+b.caught, "/") {
		pattern = append(pattern, "^"+regexp.QuoteMeta(part))
	}
	child := exec.CommandContext(ctx, os.Args[0], "-test.run", strings.Join(pattern, "/"), "-test.timeout", limit,
		"-test.count", "20", "-test.failfast") // a race is lost sooner or later; the others fail at once
	child.Env = append(os.Environ(), planted+"="+b.name)
	text, err := child.CombinedOutput()
	out = string(text)
	failed = err != nil && strings.Contains(out, "TestBackend/"+strings.ReplaceAll(b.caught, " ", "_"))
	return out, failed && strings.Contains(out, "test timed out") == b.forever
}
