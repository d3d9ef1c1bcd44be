package config

import (
	"testing"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
)

// Decision 90.
func TestWindowOfAgentsIsAMinuteUnlessItIsSaidOtherwise(t *testing.T) {
	for set, want := range map[string]time.Duration{"": time.Minute, "30s": 30 * time.Second, "0": -1, "0s": -1} {
		var env []string
		if set != "" {
			env = []string{"KEYSTILE_AGENTS_REFRESH_WINDOW=" + set}
		}
		if c, err := Load(cli.Args{}, env); err != nil || c.AgentsRefreshWindow != want {
			t.Errorf("%q: %v, %v, want %v", set, c.AgentsRefreshWindow, err, want)
		}
	}
	for _, wrong := range []string{"-1s", "60", "a while"} {
		if _, err := Load(cli.Args{}, []string{"KEYSTILE_AGENTS_REFRESH_WINDOW=" + wrong}); err == nil {
			t.Errorf("%q is a window", wrong)
		}
	}
}
