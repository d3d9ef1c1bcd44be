package redis

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/counters/countertest"
)

// Nodes of their own, with connections of their own, and one server.
func TestMillionRequestsOverEightNodesAreExact(t *testing.T) {
	if testing.Short() {
		t.Skip("counts to a million")
	}
	prefix := "test" + strings.ToLower(rand.Text()[:12])
	nodes := make([]counters.Set, 8)
	for i := range nodes {
		c := open(t, Options{Prefix: prefix, Nodes: func() int { return len(nodes) }})
		nodes[i] = c
		t.Cleanup(func() { c.wantConnected(t) })
	}
	countertest.Exact(t, nodes, 1_000_000, time.Millisecond)
}
