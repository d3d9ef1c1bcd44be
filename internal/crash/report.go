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
	fmt.Fprintf(w, "cycles %d, kills %d: %d in the middle of writes, %d while starting; seed %d; %.1f s\n\n",
		j.cycle, c.kills, c.amid, c.early, c.seed, took.Seconds())
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "write\tacknowledged\tanswer lost: happened\tdid not\tnobody can see\t")
	for _, kind := range kinds {
		t := j.of(kind)
		fmt.Fprintf(tab, "%s\t%d\t%d\t%d\t%d\t\n", kind, t.acknowledged, t.happened, t.missed, t.unseen)
	}
	tab.Flush()
	n := c.caller.all
	fmt.Fprintf(w, "\nnote: charged calls: answered %d <= counted %d <= sent %d\n", n.answered, n.counted, n.sent)
	fmt.Fprintf(w, "\nthings in the journal %d, questions asked after kills %d\nviolations %d\n", len(j.things), j.asked, len(j.violations))
	for _, v := range j.violations {
		fmt.Fprintf(w, "\n  %s\n", v)
	}
}
