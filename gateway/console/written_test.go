package console_test

import (
	"context"
	"slices"
	"sync"

	"github.com/keystile/keystile/storage/driver"
)

// written is a Backend that remembers what was written, the ids of forms aside.
type written struct {
	driver.Backend
	mu    sync.Mutex
	calls int // all of them
	what  []string
}

func (b *written) note(what ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.what = append(b.what, what...)
}

// read counts a read.
func (b *written) read() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
}

// UsageOf reads the usage of several applications at once, as a database does.
func (b *written) UsageOf(ctx context.Context, apps []string, q driver.UsageQuery) ([]driver.Count, error) {
	b.read()
	return usageOf(ctx, b.Backend, apps, q)
}

func usageOf(ctx context.Context, b driver.Backend, apps []string, q driver.UsageQuery) (all []driver.Count,
	err error) {
	for _, q.AppID = range slices.Sorted(slices.Values(apps)) {
		rows, err := b.Usage(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// since returns what was written and how often the store was asked since the last call.
func (b *written) since() (what []string, calls int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	what, calls = b.what, b.calls
	b.what, b.calls = nil, 0
	return what, calls
}

func (b *written) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	b.read()
	v, err := b.Backend.Put(ctx, docs...)
	for _, d := range docs {
		if err == nil && d.Kind != "ticket" && d.Kind != "hmac" { // a key is drawn when it is first used
			b.note(d.Kind + " " + d.ID)
		}
	}
	return v, err
}

func (b *written) Issue(ctx context.Context, all ...driver.Token) error {
	b.note("token")
	return b.Backend.Issue(ctx, all...)
}

func (b *written) Revoke(ctx context.Context, all ...driver.Revocation) error {
	b.read()
	b.note("revocation")
	return b.Backend.Revoke(ctx, all...)
}

func (b *written) Append(ctx context.Context, all ...driver.Record) error {
	b.note("record")
	return b.Backend.Append(ctx, all...)
}

func (b *written) Get(ctx context.Context, kind, id string) (driver.Doc, error) {
	b.read()
	return b.Backend.Get(ctx, kind, id)
}

func (b *written) List(ctx context.Context, kind string, s driver.Span, n int) ([]driver.Doc, string, error) {
	b.read()
	return b.Backend.List(ctx, kind, s, n)
}

func (b *written) Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
	b.read()
	return b.Backend.Usage(ctx, q)
}
