package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/soak/internal/level"
)

// report holds what a soak has shown.
type report struct {
	Nodes      int                   `json:"nodes"`
	Storage    string                `json:"storage"`
	Redis      bool                  `json:"redis"`
	Seed       uint64                `json:"seed"`
	Seconds    float64               `json:"seconds"`
	Found      float64               `json:"calibrated,omitempty"`
	Pace       float64               `json:"actsPerSecond"`
	Acts       int64                 `json:"acts"`
	Dropped    int64                 `json:"dropped"`
	Requests   int64                 `json:"requests"`
	Crowds     int64                 `json:"toldToWaitInACrowd"`
	Events     map[string]int        `json:"events"`
	Restarts   int                   `json:"restarts"`
	Kills      int                   `json:"kills"`
	Cut        int                   `json:"connectionsCut"`
	Processes  []process             `json:"processes"`
	Idle       map[string][2]float64 `json:"node0WithoutLoad"` // before and after
	Kinds      []kind                `json:"kinds"`
	Explained  map[string]int        `json:"explained"`
	Database   [2]float64            `json:"databaseMB"`
	After      aftermath             `json:"after"`
	Violations []string              `json:"violations"`
}

// process holds what was measured of one process of a node.
type process struct {
	Node     int                      `json:"node"`
	Began    float64                  `json:"beganSecond"`
	Verdicts map[string]level.Verdict `json:"verdicts"`
}

// kind holds what was measured of one kind of request.
type kind struct {
	Name         string
	Count        int
	Second, Last times
	Explained    int
	Unexplained  int
}

func (s *soak) report() report {
	r := report{
		Nodes: len(s.site.nodes), Storage: s.storage, Redis: s.site.counter != nil, Seed: s.seed, Seconds: s.took.Seconds(),
		Found: s.found, Pace: s.pace, Acts: s.acts.Load(), Dropped: s.dropped.Load(), Requests: s.meter.requests.Load(),
		Crowds: s.meter.crowds.Load(),
		Events: s.counts, Restarts: s.restarts, Kills: s.kills, Cut: s.cuts, Explained: map[string]int{},
		Idle: map[string][2]float64{}, After: s.after,
		Violations: slices.Clone(s.violations),
	}
	for what := range s.end {
		r.Idle[what] = [2]float64{s.idle[what], s.end[what]}
	}
	if s.sampler != nil {
		s.judgeProcesses(&r)
		if all := s.sampler.sizes; len(all) > 0 {
			r.Database = [2]float64{all[0].mb, all[len(all)-1].mb}
		}
	}
	s.judgeRequests(&r)
	return r
}

func (r report) write(file string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// shown bounds the violations that are printed: the first ones say most.
const shown = 12

func (r report) print(w io.Writer) {
	fmt.Fprintf(w, "%d nodes on %s, Redis %v; %.0f s at %.1f acts a second (calibrated %.1f); seed %d\n", r.Nodes,
		r.Storage, r.Redis, r.Seconds, r.Pace, r.Found, r.Seed)
	fmt.Fprintf(w, "acts %d, for which nobody was free %d; requests %d; told to wait in a crowd %d\n", r.Acts, r.Dropped,
		r.Requests, r.Crowds)
	fmt.Fprintf(w, "restarts %d, of them after a kill %d; connections to the database cut %d\n\n", r.Restarts, r.Kills,
		r.Cut)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "event\ttimes\t")
	for _, name := range slices.Sorted(maps.Keys(r.Events)) {
		fmt.Fprintf(tab, "%s\t%d\t\n", name, r.Events[name])
	}
	fmt.Fprintf(tab, "\nsecond quarter > last quarter\tpoints\t%s\t\n", strings.Join(measures, "\t"))
	for _, p := range r.Processes {
		if p.Verdicts[heap].Undecided {
			continue
		}
		fmt.Fprintf(tab, "node %d, from %.0f s\t%d\t", p.Node, p.Began, p.Verdicts[heap].Points)
		for _, what := range measures {
			v := p.Verdicts[what]
			fmt.Fprintf(tab, "%.1f > %.1f%s\t", v.Start, v.End, map[bool]string{true: " GROWS"}[v.Growing])
		}
		fmt.Fprintln(tab)
	}
	fmt.Fprintln(tab, "\nnode 0 without load\tbefore\tafter\t")
	for _, what := range measures {
		fmt.Fprintf(tab, "%s\t%.1f\t%.1f\t\n", what, r.Idle[what][0], r.Idle[what][1])
	}
	fmt.Fprintln(tab, "\nrequest\tanswered\t2nd quarter p50\tp99\tlast quarter p50\tp99\texplained\tnot explained\t")
	for _, k := range r.Kinds {
		fmt.Fprintf(tab, "%s\t%d\t%s\t%s\t%s\t%s\t%d\t%d\t\n", k.Name, k.Count, ms(k.Second.P50), ms(k.Second.P99),
			ms(k.Last.P50), ms(k.Last.P99), k.Explained, k.Unexplained)
	}
	tab.Flush()
	r.printEnd(w)
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

func (r report) printEnd(w io.Writer) {
	fmt.Fprintln(w)
	for _, what := range slices.Sorted(maps.Keys(r.Explained)) {
		fmt.Fprintf(w, "explained: %s: %d\n", what, r.Explained[what])
	}
	for _, product := range slices.Sorted(maps.Keys(r.After.Bills)) {
		b := r.After.Bills[product]
		fmt.Fprintf(w, "charged calls of %s: answered %d <= counted %d <= sent %d\n", product, b.Answered, b.Counted, b.Sent)
	}
	fmt.Fprintf(w, "mails: promised %d, came %d\n", r.After.Mails.Asked, r.After.Mails.Came)
	fmt.Fprintf(w, "audit trail: %s\nstorage check: %s\n", r.After.Audit, r.After.Storage)
	if r.Database[1] > 0 {
		fmt.Fprintf(w, "database: %.1f MB, then %.1f MB", r.Database[0], r.Database[1])
		for _, t := range r.After.Tables {
			fmt.Fprintf(w, "; %s %.1f MB, %d rows", t.Name, t.MB, t.Rows)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "violations %d\n", len(r.Violations))
	for _, v := range r.Violations[:min(shown, len(r.Violations))] {
		fmt.Fprintf(w, "\n  %s\n", strings.ReplaceAll(v, "\n", "\n  "))
	}
}
