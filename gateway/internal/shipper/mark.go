package shipper

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Counts takes what a process counts; *storage.Store implements it.
type Counts interface {
	Count(ctx context.Context, b driver.Batch, counts []driver.Count) error
	MarkUsage(ctx context.Context, hour time.Time, accounts ...string) error
}

// Marker notes which accounts have rows in an hour, before they have: a store lists rows by account only,
// and accounts may be any number of users of an application. A note is made once for each account,
// hour and process, and ends after 40 days.
type Marker struct {
	Counts

	mu     sync.Mutex
	marked map[time.Time]map[string]bool // in the last hours
}

// Bounds of the memory of marks. A forgotten one is marked again.
const (
	markedHours    = 2
	markedAccounts = 200_000
)

// Count marks the accounts of a batch and then counts it.
func (m *Marker) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error {
	for at, accounts := range m.unmarked(counts) {
		if err := m.MarkUsage(ctx, at, accounts...); err != nil {
			return err
		}
		m.remember(at, accounts)
	}
	return m.Counts.Count(ctx, b, counts)
}

// unmarked returns the accounts of a batch that are not known to be marked, by hour.
func (m *Marker) unmarked(counts []driver.Count) map[time.Time][]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := map[time.Time]map[string]bool{}
	for _, c := range counts {
		if strings.Contains(c.AppID, border) { // of another dimension than that of products
			continue
		}
		at := driver.Hour(c.At)
		if m.marked[at][c.AppID] {
			continue
		}
		if all[at] == nil {
			all[at] = map[string]bool{}
		}
		all[at][c.AppID] = true
	}
	found := make(map[time.Time][]string, len(all))
	for at, accounts := range all {
		found[at] = slices.Sorted(maps.Keys(accounts))
	}
	return found
}

const border = "\x1f"

// remember holds what is marked.
func (m *Marker) remember(at time.Time, accounts []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.marked == nil {
		m.marked = map[time.Time]map[string]bool{}
	}
	if m.marked[at] == nil {
		m.marked[at] = map[string]bool{}
		for len(m.marked) > markedHours {
			oldest := slices.MinFunc(slices.Collect(maps.Keys(m.marked)), time.Time.Compare)
			delete(m.marked, oldest)
		}
	}
	if of := m.marked[at]; of != nil && len(of) < markedAccounts {
		for _, account := range accounts {
			of[account] = true
		}
	}
}
