package admin

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/nodes"
)

type beating struct {
	beats []nodes.Beat
	err   error
}

func (b beating) Beats(context.Context) ([]nodes.Beat, error) { return b.beats, b.err }

func TestClocksOfAllNodesAreSaid(t *testing.T) {
	west, east := nodes.Beat{ID: "B", Name: "west", Ahead: -1500 * time.Millisecond}, nodes.Beat{ID: "A", Name: "east"}
	late := west
	late.Ahead = -7 * time.Second
	for _, c := range []struct {
		store beating
		state State
		says  string
		do    string
	}{
		{beating{}, Noted, "no node has beaten", ""},
		{beating{beats: []nodes.Beat{west, east}}, Safe, "east +0.0 s, west -1.5 s", ""},
		{beating{beats: []nodes.Beat{late, east}}, Unsafe, "west -7.0 s", "west"},
		{beating{err: storage.ErrUnavailable}, Unknown, "unavailable", "check again"},
	} {
		f := CheckClocks(t.Context(), c.store)
		if f.Name != "clocks" || f.State != c.state || !strings.Contains(f.Says, c.says) || !strings.Contains(f.Do, c.do) {
			t.Errorf("%+v is found as %+v", c.store, f)
		}
	}
}
