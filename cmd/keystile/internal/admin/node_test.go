package admin

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/nodes"
)

func TestNodesAreListed(t *testing.T) {
	for _, served := range []bool{false, true} {
		o := newOffice(t)
		var all []nodes.Info
		var failed error
		o.target.Nodes = func(context.Context) ([]nodes.Info, error) { return all, failed }
		if served {
			o.serve()
		}
		if code, out, _ := o.run("", "node", "list"); code != 0 || out != "no server shares this store now\n" {
			t.Errorf("without nodes: %d %q", code, out)
		}
		began := time.Date(2026, 11, 2, 3, 4, 5, 0, time.UTC)
		all = []nodes.Info{
			{ID: "A", Name: "east", Build: "v1.2.3", Started: began, Age: 1900 * time.Millisecond, Live: true, Self: served},
			{ID: "B", Name: "west", Build: "v1.2.2", Started: began.Add(time.Hour), Age: time.Minute,
				Ahead: -1500 * time.Millisecond},
		}
		rows := o.rows("node", "list")
		if len(rows) != 2 || rows[0]["id"] != "A" || rows[0]["name"] != "east" || rows[0]["version"] != "v1.2.3" ||
			rows[0]["started_at"] != "2026-11-02T03:04:05Z" ||
			rows[0]["beat_age"] != 1.0 || rows[0]["live"] != true || rows[0]["self"] != served || rows[1]["live"] != false ||
			rows[1]["beat_age"] != 60.0 || rows[0]["clock_ahead"] != 0.0 || rows[1]["clock_ahead"] != -1.5 {
			t.Errorf("as JSON: %v", rows)
		}
		_, out, _ := o.run("", "node", "list")
		lines := strings.Split(out, "\n")
		if fields := strings.Fields(lines[0]); !slices.Equal(fields,
			[]string{"NAME", "VERSION", "STARTED_AT", "BEAT_AGE", "CLOCK_AHEAD", "LIVE", "SELF"}) ||
			!strings.HasPrefix(lines[1], "east  v1.2.3   2026-11-02T03:04:05Z  1 ") {
			t.Errorf("as a table:\n%s", out)
		}
		failed = storage.ErrUnavailable
		if code, _, errs := o.run("", "node", "list"); code != 1 || errs == "" {
			t.Errorf("without the store: %d %s", code, errs)
		}
		if len(o.trail) > 0 {
			t.Errorf("the trail says %v", o.trail)
		}
	}
}
