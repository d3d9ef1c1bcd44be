package legacy_test

import (
	"context"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/keystile/keystile/legacy"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// trail keeps events for tests.
type trail struct {
	mu     sync.Mutex
	events []event.Event
}

func (t *trail) Note(e event.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, e)
}

// last is the newest event.
func (t *trail) last() event.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.events[len(t.events)-1]
}

// faulty is a backend whose reads and exchanges can be made to fail.
type faulty struct {
	driver.Backend
	fail error
}

// Unwrap makes it a driver.Shared if the Backend is one.
func (f *faulty) Unwrap() driver.Backend { return f.Backend }

func (f *faulty) Get(ctx context.Context, kind, id string) (driver.Doc, error) {
	if f.fail != nil {
		return driver.Doc{}, f.fail
	}
	return f.Backend.Get(ctx, kind, id)
}

func (f *faulty) Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
	if f.fail != nil {
		return f.fail
	}
	return f.Backend.Exchange(ctx, key, at, next...)
}

// from makes a fixture see every request come from an address of its choice.
func from(address *string) func(*legacy.Config) {
	return func(c *legacy.Config) {
		c.ClientIP = func(*http.Request) netip.Addr { return netip.MustParseAddr(*address) }
	}
}

// quietly is a fixture without an audit trail.
func quietly(c *legacy.Config) { c.Audit = nil }
