package command

import (
	"context"
	"errors"
	"log/slog"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/metrics"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters/redis"
	"github.com/keystile/keystile/storage/nodes"
)

// membership holds what makes this process one of several on a store.
type membership struct {
	node     *nodes.Node
	counters *redis.Counters // nil: this process counts alone
}

// join makes this process known to those that share its store, and connects it to what they count
// with. A server that counts and is away is no error.
func join(ctx context.Context, c *config.Config, store *storage.Store, log *slog.Logger) (*membership, error) {
	node, err := nodes.Join(ctx, nodes.Config{Store: store, Name: c.NodeName, Build: versionOf(), Log: log})
	if err != nil {
		return nil, err
	}
	t := &membership{node: node}
	if c.RedisURL.IsZero() {
		if n := node.Live(); n > 1 {
			log.Warn("other nodes serve from this store, and each counts requests and failed sign-ins alone, so that together "+
				"they admit as many times as much: set redis_url at all of them", "nodes", n)
		}
		return t, nil
	}
	if t.counters, err = redis.Open(ctx, c.RedisURL.Reveal(), redis.Options{Nodes: node.Live, Log: log}); err != nil {
		return nil, errors.Join(cli.Usage("redis_url: %v", err), t.close(ctx))
	}
	return t, nil
}

// give hands to a service what it shares with others.
func (t *membership) give(c *keystile.Config) {
	c.Nodes = t.node
	if t.counters != nil {
		c.Counters = t.counters
	}
}

// watch adds what is measured of the nodes, and of the server that counts for them, to the metrics.
func (t *membership) watch(m *metrics.Metrics) {
	m.Gauge("keystile_nodes_live", "Nodes that serve from the store, this one included.",
		func() float64 { return float64(t.node.Live()) })
	if t.counters == nil {
		return
	}
	m.Gauge("keystile_counters_alone", "1 while the server that counts for all nodes is away, and this node admits its "+
		"share of each limit.", func() float64 {
		if t.counters.Stats().Connected {
			return 0
		}
		return 1
	})
	for _, n := range []struct {
		name, help string
		value      func(redis.Stats) int64
	}{
		{"answered", "Acts that the server which counts for all nodes answered.",
			func(s redis.Stats) int64 { return s.Answered }},
		{"late", "Acts that it answered too late, or not at all.", func(s redis.Stats) int64 { return s.Late }},
		{"refused", "Acts that it would not do, such as for want of a right or of memory.",
			func(s redis.Stats) int64 { return s.Refused }},
		{"failed", "Acts that found it away, or not taking writes.", func(s redis.Stats) int64 { return s.Failed }},
		{"judged_alone", "Acts that this node judged by its share of a limit.", func(s redis.Stats) int64 { return s.Alone }},
	} {
		m.Counter("keystile_counters_"+n.name+"_total", n.help,
			func() float64 { return float64(n.value(t.counters.Stats())) })
	}
	m.Counter("keystile_counters_seconds_total", "How long all acts took that the server was asked for.",
		func() float64 { return t.counters.Stats().Took.Seconds() })
}

// close leaves the other nodes.
func (t *membership) close(ctx context.Context) error {
	if t.counters != nil {
		t.counters.Close()
	}
	return t.node.Close(ctx)
}
