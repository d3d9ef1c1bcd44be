package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"
)

// report prints what was done and what it has shown.
func (c *campaign) report(w io.Writer) {
	m := c.model
	faults := 0
	for _, n := range c.counts {
		faults += n
	}
	where := "loopback"
	if c.site.net != nil {
		where = "network namespaces"
	}
	fmt.Fprintf(w, "faults %d on %d nodes in %s, Redis %v; seed %d; %.1f s\n", faults, len(c.site.nodes), where,
		c.site.redis != nil, c.seed, c.took.Seconds())
	fmt.Fprintf(w, "requests %d; answered 503 %d, unanswered %d, told to wait in a crowd %d\n\n", m.requests.Load(),
		m.away.Load(), m.lost.Load(), m.crowds.Load())
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "fault\ttimes\tworks again: median\tmost\t")
	for _, name := range slices.Sorted(maps.Keys(c.counts)) {
		fmt.Fprintf(tab, "%s\t%d\t%s\t\n", name, c.counts[name], spread(c.recoveries[name]))
	}
	fmt.Fprintln(tab, "\nact\tanswered\tnobody knows\tall nodes know: median\tmost\t")
	for _, name := range slices.Sorted(maps.Keys(m.acts)) {
		fmt.Fprintf(tab, "%s\t%d\t%d\t%s\t\n", name, m.acts[name].done, m.acts[name].unknown, spread(m.seen[name]))
	}
	tab.Flush()
	fmt.Fprintf(w, "\ncharged calls: answered %d <= counted %d <= sent %d\n", m.ledger[0], m.ledger[1], m.ledger[2])
	f := c.trail.watcher.Stats()
	fmt.Fprintf(w, "audit trail: %d records, %d acts found that are owed; followed in %d rounds, revocations up to %d\n",
		c.trail.records, c.trail.found, f.Rounds, f.Revocations)
	fmt.Fprintf(w, "violations %d\n", len(m.violations))
	for _, v := range m.violations[:min(shown, len(m.violations))] {
		fmt.Fprintf(w, "\n  %s\n", v)
	}
}

// shown bounds the violations that are printed: the first ones say most.
const shown = 10

// spread is the median of some times, and the longest.
func spread(all []time.Duration) string {
	if len(all) == 0 {
		return "\t"
	}
	all = slices.Sorted(slices.Values(all))
	return fmt.Sprintf("%.2f s\t%.2f s", all[len(all)/2].Seconds(), all[len(all)-1].Seconds())
}
