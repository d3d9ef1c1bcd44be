package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// report prints what was done and what it has shown.
func (c *campaign) report(w io.Writer, took time.Duration) {
	j := c.journal
	fmt.Fprintf(w, "cycles %d, kills %d: %d in the middle of writes, %d while starting, %d after minutes; seed %d; %.1f "+
		"s, %.0f cycles a minute\n\n",
		j.cycle, c.nodes.kills, c.amid, c.early, c.long, c.seed, took.Seconds(), float64(j.cycle)/took.Minutes())
	if n := c.nodes; n.database != nil {
		fmt.Fprintf(w, "servers %d; killed: servers %d, the database %d, both %d, one process of the database %d; requests "+
			"%d, answered 503 because of a kill %d\n",
			len(n.all), n.servers, n.databases, n.both, n.processes, j.requests.Load(), c.away)
		if c.watcher != nil {
			f := c.watcher.Stats()
			fmt.Fprintf(w, "feeds read in %d rounds, %d failed: audit trail up to %d, revocations up to %d\n\n", f.Rounds,
				f.Failures, f.Records, f.Revocations)
		}
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "write\tacknowledged\tanswer lost: happened\tdid not\tnobody can see\t")
	for _, kind := range kinds {
		t := j.of(kind)
		fmt.Fprintf(tab, "%s\t%d\t%d\t%d\t%d\t\n", kind, t.acknowledged, t.happened, t.missed, t.unseen)
	}
	tab.Flush()
	n := c.caller.all
	fmt.Fprintf(w, "\nnote: charged calls: answered %d <= counted %d <= sent %d\n", n.answered, n.counted, n.sent)
	m := j.of(mailCode)
	fmt.Fprintf(w, "note: codes by mail: %d arrived, %d asked for without an answer, or too late for their code; %d are "+
		"owed\n", m.acknowledged, m.unseen, len(c.postman.owed))
	told, came, again := c.receiver.Counts()
	fmt.Fprintf(w, "note: webhooks: %d changes; %d deliveries, %d of them repetitions; %d wait\n", told, came, again,
		len(c.receiver.Missing()))
	fmt.Fprintf(w, "note: audit trail: %d records; %d acts looked for; verified %d times, wholly\n", c.trail.read,
		c.trail.rows, c.trail.verifies)
	fmt.Fprintf(w, "\nthings in the journal %d, questions asked after kills %d\nviolations %d\n",
		len(j.things)+j.forgotten, j.asked, len(j.violations))
	for _, v := range j.violations {
		fmt.Fprintf(w, "\n  %s\n", v)
	}
}
