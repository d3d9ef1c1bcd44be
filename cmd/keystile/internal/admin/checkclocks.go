package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/storage/nodes"
)

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
