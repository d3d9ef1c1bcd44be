package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
)

// page prints everything.
func page(out io.Writer, w world) {
	fmt.Fprintf(out, "# How much a cluster holds\n\n## Measured\n\n%s\n\n", measuredBy)
	table(out, "act\ttrips\tcommits\tlogged bytes\tnode us\tdatabase us", func(row func(string, ...any)) {
		for _, a := range []struct {
			name string
			c    cost
		}{{"sign-in with a password", signIn}, {"authorize and token", grant}, {"refresh", refresh},
			{"client_credentials", machine}, {"call", call}, {"userinfo", userinfo}, {"revoke", revoke}} {
			row("%s\t%.2f\t%.2f\t%.0f\t%.0f\t%.0f", a.name, a.c.Trips, a.c.Commits, a.c.WAL, a.c.Node, a.c.DB)
		}
	})
	fmt.Fprintf(out, "\nrevocations %.0f/s, appends %.0f/s, audit records %.0f/s, Redis on one key %.0f/s, on many "+
		"%.0f/s\n", revocations, appends, records, redisHot, redisSpread)
	assumptions(out, w)
	holdings(out, w)
	people(out, w)
	failures(out, w)
	fmt.Fprint(out, "\n## What the contract reserves\n\n")
	for _, r := range reserves {
		fmt.Fprintf(out, "- %s: %s. %s\n", r.Name, map[bool]string{true: "yes", false: "no"}[r.There], r.Says)
	}
}

func assumptions(out io.Writer, w world) {
	fmt.Fprintf(out, "\n## Assumed\n\nA sign-in ends with tokens of an application; %.0f %% type a password for it. "+
		"With each come %.3g refreshes, %.3g tokens of\n"+
		"machines, %.3g calls, %.3g userinfo, %.3g revocations and, of all that, %.3g audit records; the busiest "+
		"application has %.0f %% of the requests.\n",
		w.Passwords*100, w.Refreshes, w.Machines, w.Calls, w.UserInfos, w.Revocations, w.records(), w.HotShare*100)
	fmt.Fprintf(out, "A node has %.0f cores, a primary %.0f, busy up to %.0f %%; a primary logs %.0f MB/s, commits with "+
		"its standby in %.1f ms, takes %.0f\n"+
		"connections and wakes %.0f listeners a second. Each primary's people have a Redis of %.0f servers.\n",
		w.NodeCores, w.PrimaryCores, w.Busy*100, w.LogBytes/1e6, w.Commit*1000, w.Connections, w.Wakes, w.RedisServers)
}

func holdings(out io.Writer, w world) {
	fmt.Fprint(out, "\n## What nodes and primaries hold\n\nSign-ins a second, with all that comes with them, and what "+
		"ends first; then what ends next, at how much.\n\n")
	table(out, "nodes\tprimaries\tsign-ins/s\tthe first wall\tthe second", func(row func(string, ...any)) {
		for _, nodes := range []float64{2, 20, 200} {
			for _, primaries := range []float64{1, 8, 64} {
				all := w.walls(nodes, primaries)
				row("%.0f\t%.0f\t%s\t%s\t%s, %s", nodes, primaries, short(all[0].Holds), all[0].Name, all[1].Name,
					short(all[1].Holds))
			}
		}
	})
	fmt.Fprint(out, "\nOne primary and nodes without end, wall by wall:\n\n")
	table(out, "wall\tsign-ins/s", func(row func(string, ...any)) {
		for _, x := range w.walls(w.Connections/w.LeastConns, 1) {
			row("%s\t%s", x.Name, short(x.Holds))
		}
	})
}

// hot is the wall that no number of nodes and primaries moves.
const hot = "Redis, the busiest application's key"

func people(out io.Writer, w world) {
	fmt.Fprintf(out, "\n## %s people, %s sign-ins a second\n\n", short(w.People), short(w.SignIns))
	if n, p, ok := w.needs(w.SignIns); ok {
		fmt.Fprintf(out, "%.0f nodes and %.0f primaries hold it.\n", n, p)
		return
	}
	first := w.holds(1e6, 4096)
	fmt.Fprintf(out, "No number of nodes and primaries holds it: %s ends at %s. ", first.Name, short(first.Holds))
	if n, p, ok := w.needs(w.SignIns, hot); ok {
		fmt.Fprintf(out, "With leases of that limit,\n%.0f nodes and %.0f primaries would, each with %s people; the next "+
			"wall is then: %s.\n", n, p, short(w.People/p), second(w, n, p).Name)
	}
}

func second(w world, nodes, primaries float64) wall {
	for _, x := range w.walls(nodes, primaries) {
		if x.Name != hot {
			return x
		}
	}
	return wall{}
}

func failures(out io.Writer, w world) {
	fmt.Fprintf(out, "\n## One of %d regions is lost for %d minutes, at the peak\n\n"+
		"Its people are led elsewhere after %d s, its standbys are primaries after %d s; who waits for %d s gives up, and "+
		"half of them ask once more.\n\n",
		regions, away/60, moved, startAfter, patience)
	table(out, "built\tasked\tserved\tgiven up\tlongest wait\tuntil nobody waits", func(row func(string, ...any)) {
		for _, built := range []float64{1, 1 + headroom/2, 1 + headroom} {
			t := w.failure(w.SignIns/regions*built, 1.0/regions)
			row("%.0f %% of the peak\t%s\t%s\t%s (%.1f %%)\t%.0f s\t%s", built*100, short(t.Asked), short(t.Served),
				short(t.GivenUp), 100*t.GivenUp/t.Asked, t.Longest, after(t.Cleared))
		}
	})
}

func after(second int) string {
	if second <= 600 {
		return "nobody ever does"
	}
	return fmt.Sprintf("%d s after the loss", second-600)
}

func table(out io.Writer, head string, rows func(row func(string, ...any))) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "    "+head)
	rows(func(format string, args ...any) { fmt.Fprintf(t, "    "+format+"\n", args...) })
	t.Flush()
}

// short writes a number with two digits that count, and a unit.
func short(n float64) string {
	switch {
	case math.IsInf(n, 1):
		return "any"
	case n >= 1e9:
		return trim(n/1e9) + " G"
	case n >= 1e6:
		return trim(n/1e6) + " M"
	case n >= 1e4:
		return trim(n/1e3) + " k"
	}
	return fmt.Sprintf("%.0f", n)
}

func trim(n float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", n), ".0") }
