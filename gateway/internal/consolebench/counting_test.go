package consolebench

import (
	"context"
	"sync/atomic"

	"github.com/keystile/keystile/storage/driver"
)

// counting counts what is asked of a Backend.
type counting struct {
	driver.Backend
	calls atomic.Int64
}

func (c *counting) Unwrap() driver.Backend { return c.Backend }

func (c *counting) Get(ctx context.Context, kind, id string) (driver.Doc, error) {
	c.calls.Add(1)
	return c.Backend.Get(ctx, kind, id)
}

func (c *counting) List(ctx context.Context, kind string, s driver.Span, n int) ([]driver.Doc, string, error) {
	c.calls.Add(1)
	return c.Backend.List(ctx, kind, s, n)
}

func (c *counting) Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
	c.calls.Add(1)
	return c.Backend.Usage(ctx, q)
}

func (c *counting) Records(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
	c.calls.Add(1)
	return c.Backend.Records(ctx, after, n)
}

func (c *counting) Appended(ctx context.Context) (uint64, error) {
	c.calls.Add(1)
	return c.Backend.Appended(ctx)
}

func (c *counting) Token(ctx context.Context, k driver.Key) (driver.Token, error) {
	c.calls.Add(1)
	return c.Backend.Token(ctx, k)
}

func (c *counting) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	c.calls.Add(1)
	return c.Backend.Put(ctx, docs...)
}

func (c *counting) UsageOf(ctx context.Context, apps []string, q driver.UsageQuery) ([]driver.Count, error) {
	c.calls.Add(1)
	meters, _ := driver.As[driver.Meters](c.Backend)
	return meters.UsageOf(ctx, apps, q)
}

func (c *counting) Gather(ctx context.Context, asks ...driver.Ask) ([]driver.Answer, error) {
	c.calls.Add(1)
	gatherer, _ := driver.As[driver.Gatherer](c.Backend)
	return gatherer.Gather(ctx, asks...)
}

// Pick makes it a driver.Picker: what it wraps is one, as both adapters are.
func (c *counting) Pick(ctx context.Context, seqs ...uint64) ([]driver.Record, error) {
	c.calls.Add(1)
	picker, _ := driver.As[driver.Picker](c.Backend)
	return picker.Pick(ctx, seqs...)
}
