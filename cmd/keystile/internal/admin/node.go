package admin

import (
	"context"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
)

var nodeCommands = []command{
	{
		name: "node list", summary: "List the servers that share this store", do: listNodes,
		details: "Each writes every few seconds that it lives; one that has missed three of these beats is not\n" +
			"live, and leaves the list within ten minutes. CLOCK_AHEAD is how many seconds its clock is ahead of\n" +
			"the store's. Where no server runs on this machine the command\n" +
			"watches for some seconds who beats.",
		examples: []string{"keystile node list", "keystile node list --json"},
	},
}

func listNodes(ctx context.Context, target Target, _ cli.Args) (output, error) {
	said := list{empty: "no server shares this store now", columns: []string{"name", "version", "started_at", "beat_age",
		"clock_ahead", "live", "self"}}
	all, err := target.Nodes(ctx)
	for _, n := range all {
		said.rows = append(said.rows, answer{
			{"id", n.ID}, {"name", n.Name}, {"version", n.Build}, {"started_at", when(n.Started)},
			{"beat_age", int64(n.Age / time.Second)}, {"clock_ahead", n.Ahead.Seconds()}, {"live", n.Live}, {"self", n.Self},
		})
	}
	return said, err
}
