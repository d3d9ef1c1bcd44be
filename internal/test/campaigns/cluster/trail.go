package main

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/internal/test/campaigns/feedwatch"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/postgres"
)

// trail follows the audit trail and the revocations over all failovers, and knows what is owed to the
// first: acts that are on it before they are answered.
type trail struct {
	address string
	watcher *feedwatch.Watcher

	mu      sync.Mutex
	owed    map[row]int
	records int
	found   int
}

// row is an event by its kind and its request id, or the detail of an admin command, which has none.
type row struct{ kind, proof string }

func newTrail(ctx context.Context, s *site) (*trail, error) {
	t := &trail{owed: map[row]int{}, address: "postgres://keystile@" + s.pair.members[0].Address() + "," +
		s.pair.members[1].Address() + "/postgres?sslmode=disable"}
	var err error
	t.watcher, err = feedwatch.New(ctx, t.address)
	return t, err
}

// owe notes what must be on the trail by now.
func (t *trail) owe(kind, proof string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.owed[row{kind, proof}]++
}

// check reads all of the trail, verifies its chains, and looks for what is owed.
func (t *trail) check(ctx context.Context, m *model) error {
	wrong, err := t.watcher.Check(ctx)
	for _, w := range wrong {
		m.violated("%s", w)
	}
	if err != nil {
		return err
	}
	b, err := postgres.Open(ctx, t.address, postgres.Options{NeverMigrate: true, PollOnly: true, Conns: 2})
	if err != nil {
		return err
	}
	defer b.Close()
	report, err := audit.Verify(ctx, unpruned{b})
	if err != nil {
		return err
	}
	if err := report.Err(); err != nil {
		m.violated("%v", err)
	}
	return t.look(ctx, b, m)
}

// look reads the trail from its beginning, and looks for what is owed.
func (t *trail) look(ctx context.Context, b driver.Backend, m *model) error {
	seen := map[row]int{}
	for after, full := uint64(0), true; full; {
		page, err := b.Records(ctx, after, driver.Page)
		if err != nil {
			return err
		}
		for _, r := range page {
			var e event.Event
			if err := json.Unmarshal(r.Data, &e); err != nil {
				m.violated("the trail has what is no event: %q", r.Data)
			}
			seen[row{e.Kind, e.RequestID}]++
			act, _, _ := strings.Cut(e.Detail, " by ") // what was done, and to what
			seen[row{e.Kind, act}]++
			if t.watcher.Changed(r) {
				m.violated("record %d of the trail is another one than was there before a failover: now it is %s", r.Seq, r.Data)
			}
			after = r.Seq
			t.records++
		}
		full = len(page) == driver.Page
	}
	for r, n := range t.owed {
		if seen[r] < n {
			m.violated("%d times an act was answered that the trail has %d times: kind %q, %s", n, seen[r], r.kind, r.proof)
		}
		t.found += n
	}
	return nil
}

// unpruned is a trail nothing of which is old enough to be removed.
type unpruned struct{ driver.Backend }

// Checkpoint returns none.
func (unpruned) Checkpoint(context.Context) (storage.Checkpoint, error) {
	return storage.Checkpoint{}, nil
}
