package planted

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// call is a write that was answered, to be made again when the Backend is opened again.
type call struct {
	method string
	again  func(ctx context.Context, b *parts) error
}

// disk holds the contents of a folder: the answered writes, in order.
type disk struct {
	mu   sync.Mutex
	kept []call
}

// disks returns an open for the promises about reopening. Each life of a Backend is a new, empty one, in
// which the answered writes of the folder are made again; the bug may change them between two
// lives. That Backend is memory's, whatever is tried otherwise: what is made again must be given
// the same numbers, and others may leave gaps between theirs.
func disks(b bug) func(t *testing.T, folder string) driver.Backend {
	var folders sync.Map
	return func(t *testing.T, folder string) driver.Backend {
		found, _ := folders.LoadOrStore(folder, &disk{})
		d := found.(*disk)
		d.mu.Lock()
		defer d.mu.Unlock()
		if b.reopen != nil {
			d.kept = b.reopen(d.kept)
		}
		p := apart(t, memory.New())
		for _, c := range d.kept {
			if err := c.again(context.Background(), p); err != nil {
				t.Fatalf("%s, made again: %v", c.method, err)
			}
		}
		d.follow(p)
		return b.in(t, p.whole())
	}
}

// keep makes a call, and writes it down if it is answered with nil.
func (d *disk) keep(ctx context.Context, b *parts, method string, write func(context.Context, *parts) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := write(ctx, b)
	if err == nil {
		d.kept = append(d.kept, call{method, write})
	}
	return err
}

// follow writes down all calls of p from now on.
func (d *disk) follow(p *parts) {
	b := *p
	p.issue = func(ctx context.Context, tokens ...driver.Token) error {
		return d.keep(ctx, &b, "Issue", func(ctx context.Context, b *parts) error { return b.issue(ctx, tokens...) })
	}
	p.exchange = func(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
		return d.keep(ctx, &b, "Exchange", func(ctx context.Context,
			b *parts) error {
			return b.exchange(ctx, key, at, next...)
		})
	}
	p.revoke = func(ctx context.Context, rs ...driver.Revocation) error {
		return d.keep(ctx, &b, "Revoke", func(ctx context.Context, b *parts) error { return b.revoke(ctx, rs...) })
	}
	p.count = func(ctx context.Context, batch driver.Batch, counts []driver.Count) error {
		return d.keep(ctx, &b, "Count", func(ctx context.Context, b *parts) error { return b.count(ctx, batch, counts) })
	}
	p.append = func(ctx context.Context, records ...driver.Record) error {
		return d.keep(ctx, &b, "Append", func(ctx context.Context, b *parts) error { return b.append(ctx, records...) })
	}
	p.put = func(ctx context.Context, docs ...driver.Doc) (version int64, err error) {
		return version, d.keep(ctx, &b, "Put", func(ctx context.Context, b *parts) error {
			version, err = b.put(ctx, docs...)
			return err
		})
	}
	p.prune = func(ctx context.Context, through uint64, n int) (removed int, err error) {
		return removed, d.keep(ctx, &b, "Prune", func(ctx context.Context, b *parts) error {
			removed, err = b.prune(ctx, through, n)
			return err
		})
	}
	p.sweep = func(ctx context.Context, at time.Time, n int) (removed int, err error) {
		return removed, d.keep(ctx, &b, "Sweep", func(ctx context.Context, b *parts) error {
			removed, err = b.sweep(ctx, at, n)
			return err
		})
	}
}
