package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/pgserver"
)

// installed skips a test on a machine that lacks what a cluster is made of.
func installed(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("slow: it runs without -short")
	}
	if pgserver.Installed() == "" {
		t.Skip("no PostgreSQL is installed")
	}
	for _, program := range []string{"pgbouncer", "redis-server"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
}

// campaigned runs a campaign and returns it.
func campaigned(t *testing.T, o options) *campaign {
	t.Helper()
	installed(t)
	dir, err := newFolder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if o.binary, err = build(t.Context(), dir, o.plant); err != nil {
		t.Fatal(err)
	}
	o.nodes, o.calm, o.seed, o.redis = 2, time.Second, 1, true
	c, err := newCampaign(t.Context(), o, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	})
	if err := c.run(t.Context()); err != nil {
		t.Error(err)
	}
	return c
}

func TestClusterKeepsItsWordOverAFailoverAndWithoutRedis(t *testing.T) {
	c := campaigned(t, options{cycles: 3, faults: "failover,redis-kill,rolling", pause: time.Second})
	for _, v := range c.model.violations {
		t.Error(v)
	}
	var out bytes.Buffer
	c.report(&out)
	if !strings.Contains(out.String(), "violations 0") {
		t.Errorf("the report is %s", &out)
	}
	for _, what := range []string{"code redeemed", "refresh token rotated at all nodes at once", "replay refused",
		"access token revoked", "scan", "charged call"} {
		if tally := c.model.acts[what]; tally == nil || tally.done == 0 {
			t.Errorf("nobody has seen: %s", what)
		}
	}
}

// A campaign that finds nothing where there is something would be worth nothing.
func TestPlantedFaultIsFound(t *testing.T) {
	c := campaigned(t, options{cycles: 1, faults: "redis-kill", pause: time.Second, plant: "strict"})
	if found := strings.Join(c.model.violations, "\n"); !strings.Contains(found, "a call is refused when ") {
		t.Errorf("the campaign says %q", found)
	}
}
