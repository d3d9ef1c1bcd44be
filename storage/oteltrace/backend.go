package oteltrace

import (
	"context"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// backend is a Backend whose steps are spans.
type backend struct {
	driver.Backend
	steps steps
}

// Unwrap lets the store see what the adapter can do besides.
func (b backend) Unwrap() driver.Backend { return b.Backend }

func (b backend) Issue(ctx context.Context, tokens ...driver.Token) error {
	ctx, s := b.steps.begin(ctx, "Issue", "")
	err := b.Backend.Issue(ctx, tokens...)
	s.end(err)
	return err
}

func (b backend) Token(ctx context.Context, key driver.Key) (driver.Token, error) {
	ctx, s := b.steps.begin(ctx, "Token", "")
	t, err := b.Backend.Token(ctx, key)
	s.end(err)
	return t, err
}

func (b backend) Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
	ctx, s := b.steps.begin(ctx, "Exchange", "")
	err := b.Backend.Exchange(ctx, key, at, next...)
	s.end(err)
	return err
}

func (b backend) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	ctx, s := b.steps.begin(ctx, "Revoke", "")
	err := b.Backend.Revoke(ctx, rs...)
	s.end(err)
	return err
}

func (b backend) Revocations(ctx context.Context, after uint64, n int) ([]driver.Revocation, error) {
	ctx, s := b.steps.begin(ctx, "Revocations", "")
	rs, err := b.Backend.Revocations(ctx, after, n)
	s.end(err)
	return rs, err
}

func (b backend) Count(ctx context.Context, batch driver.Batch, counts []driver.Count) error {
	ctx, s := b.steps.begin(ctx, "Count", "")
	err := b.Backend.Count(ctx, batch, counts)
	s.end(err)
	return err
}

func (b backend) Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
	ctx, s := b.steps.begin(ctx, "Usage", "")
	counts, err := b.Backend.Usage(ctx, q)
	s.end(err)
	return counts, err
}

func (b backend) Append(ctx context.Context, records ...driver.Record) error {
	ctx, s := b.steps.begin(ctx, "Append", "")
	err := b.Backend.Append(ctx, records...)
	s.end(err)
	return err
}

func (b backend) Records(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
	ctx, s := b.steps.begin(ctx, "Records", "")
	records, err := b.Backend.Records(ctx, after, n)
	s.end(err)
	return records, err
}

func (b backend) Appended(ctx context.Context) (uint64, error) {
	ctx, s := b.steps.begin(ctx, "Appended", "")
	last, err := b.Backend.Appended(ctx)
	s.end(err)
	return last, err
}

func (b backend) Prune(ctx context.Context, through uint64, n int) (int, error) {
	ctx, s := b.steps.begin(ctx, "Prune", "")
	removed, err := b.Backend.Prune(ctx, through, n)
	s.end(err)
	return removed, err
}

func (b backend) Get(ctx context.Context, kind, id string) (driver.Doc, error) {
	ctx, s := b.steps.begin(ctx, "Get", kind)
	d, err := b.Backend.Get(ctx, kind, id)
	s.end(err)
	return d, err
}

func (b backend) List(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
	ctx, s := b.steps.begin(ctx, "List", kind)
	docs, next, err := b.Backend.List(ctx, kind, span, n)
	s.end(err)
	return docs, next, err
}

func (b backend) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	kind := ""
	if len(docs) > 0 {
		kind = docs[0].Kind
	}
	ctx, s := b.steps.begin(ctx, "Put", kind)
	version, err := b.Backend.Put(ctx, docs...)
	s.end(err)
	return version, err
}

func (b backend) Sweep(ctx context.Context, at time.Time, n int) (int, error) {
	ctx, s := b.steps.begin(ctx, "Sweep", "")
	removed, err := b.Backend.Sweep(ctx, at, n)
	s.end(err)
	return removed, err
}

// picker is a Backend that is a driver.Picker.
type picker struct {
	driver.Backend
	picks driver.Picker
	steps steps
}

func (p picker) Unwrap() driver.Backend { return p.Backend }

func (p picker) Pick(ctx context.Context, seqs ...uint64) ([]driver.Record, error) {
	ctx, s := p.steps.begin(ctx, "Pick", "")
	records, err := p.picks.Pick(ctx, seqs...)
	s.end(err)
	return records, err
}

// meters is a Backend that is a driver.Meters.
type meters struct {
	driver.Backend
	reads driver.Meters
	steps steps
}

func (m meters) Unwrap() driver.Backend { return m.Backend }

func (m meters) UsageOf(ctx context.Context, apps []string, q driver.UsageQuery) ([]driver.Count, error) {
	ctx, s := m.steps.begin(ctx, "UsageOf", "")
	counts, err := m.reads.UsageOf(ctx, apps, q)
	s.end(err)
	return counts, err
}

// gatherer is a Backend that is a driver.Gatherer.
type gatherer struct {
	driver.Backend
	gathers driver.Gatherer
	steps   steps
}

func (g gatherer) Unwrap() driver.Backend { return g.Backend }

func (g gatherer) Gather(ctx context.Context, asks ...driver.Ask) ([]driver.Answer, error) {
	ctx, s := g.steps.begin(ctx, "Gather", "")
	answers, err := g.gathers.Gather(ctx, asks...)
	s.end(err)
	return answers, err
}
