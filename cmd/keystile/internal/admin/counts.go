package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/nodes"
)

const countersName = "counters"

var countCommands = []command{
	{name: "storage recount", summary: "Compare what is counted with what is there", do: recount,
		hidden: true, wait: 10 * time.Minute},
}

func (f Finding) text(bool) (string, error) { return line(f) }

func recount(ctx context.Context, target Target, _ cli.Args) (output, error) {
	return CheckCounters(ctx, target.Store), nil
}

// Counter counts in two ways; *storage.Store implements it.
type Counter interface {
	Counts(ctx context.Context) (storage.Counts, error)
	Recount(ctx context.Context) (storage.Counts, error)
}

// recounts bounds how often everything is counted because others write meanwhile.
const recounts = 5

// CheckCounters counts one by one what a store has counters of, and says whether they agree. Others may
// write meanwhile: the counters disagree when they do so twice by the same numbers, and stood still both times.
func CheckCounters(ctx context.Context, store Counter) Finding {
	f := Finding{Name: countersName, State: Unknown,
		Says: "so much is written that what was counted had changed each time", Do: "check again at a quieter time"}
	var before [2]storage.Counts
	for range recounts {
		counted, err := store.Counts(ctx)
		there, err2 := store.Recount(ctx)
		after, err3 := store.Counts(ctx)
		if err := errors.Join(err, err2, err3); err != nil {
			f.Says, f.Do = err.Error(), "see what else is found, and check again"
			return f
		}
		if counted != after {
			continue
		}
		whole := counted.Whole
		counted.Whole, there.Whole = false, false
		now := [2]storage.Counts{counted, there}
		switch {
		case counted == there:
			f.State, f.Says, f.Do = Safe, "there are as many users, applications and open orders as the counters say", ""
			return f
		case !whole:
			f.State, f.Says, f.Do = Noted, "what is older than the counters has not all been counted yet: "+differing(counted,
				there), "keystile serve, which counts it in the background"
			return f
		case now == before:
			f.State, f.Says = Unsafe,
				"the counters are wrong, and so are the numbers that the console shows: "+differing(counted, there)
			f.Do = "report this as a defect, with what was last restored or copied; nothing else is affected"
			return f
		}
		before = now
	}
	return f
}

func differing(counted, there storage.Counts) (text string) {
	for _, n := range []struct {
		of             string
		counted, there int64
	}{{"users", counted.Users, there.Users}, {"applications", counted.Apps, there.Apps},
		{"open orders", counted.OpenOrders, there.OpenOrders}} {
		if n.counted != n.there {
			if text != "" {
				text += ", "
			}
			text += fmt.Sprintf("%d %s are counted and %d are there", n.counted, n.of, n.there)
		}
	}
	return text
}

// servedCounters has the server that holds the store compare them; false: no server runs here.
func servedCounters(ctx context.Context, conf *config.Config) (f Finding, served bool) {
	at, err := folder.Find(conf.Data)
	if err != nil {
		return f, false // said already
	}
	socket, err := at.Socket()
	if err == nil {
		var text string
		text, err = ask(ctx, socket, requestOf("storage recount", cli.Args{Flags: map[string][]string{"json": {"true"}}}),
			countCommands[0].wait)
		if err == nil {
			err = json.Unmarshal([]byte(text), &f)
		}
	}
	if errors.Is(err, errNobody) {
		return f, false
	}
	if err != nil {
		f = Finding{Name: countersName, State: Unknown, Says: err.Error(), Do: "see the log of the server, and check again"}
	}
	return f, true
}

// clockBound bounds how far the clock of a node may be from the store's: beyond it the node is not ready.
const clockBound = 5 * time.Second

// CheckClocks says how far the clock of each node is from the store's, as their last beats have it.
func CheckClocks(ctx context.Context, store interface {
	Beats(context.Context) ([]nodes.Beat, error)
}) Finding {
	f := Finding{Name: "clocks", State: Safe}
	beats, err := store.Beats(ctx)
	if err != nil {
		f.State, f.Says, f.Do = Unknown, err.Error(), "see what else is found, and check again"
		return f
	}
	if len(beats) == 0 {
		f.State, f.Says = Noted, "no node has beaten lately, so nothing is known of their clocks"
		return f
	}
	var said, wrong []string
	slices.SortFunc(beats, func(a, b nodes.Beat) int { return strings.Compare(a.Name+a.ID, b.Name+b.ID) })
	for _, b := range beats {
		said = append(said, fmt.Sprintf("%s %+.1f s", b.Name, b.Ahead.Seconds()))
		if b.Ahead.Abs() > clockBound {
			wrong = append(wrong, b.Name)
		}
	}
	f.Says = "ahead of the store's clock: " + strings.Join(said, ", ")
	if len(wrong) > 0 {
		f.State, f.Do = Unsafe, "set the clocks by NTP of "+strings.Join(wrong, ", ")+", or of the database if all are wrong"
	}
	return f
}
