package planted

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// parts is a Backend of loose parts: a bug takes one out and puts a worse one in.
type parts struct {
	issue       func(ctx context.Context, tokens ...driver.Token) error
	token       func(ctx context.Context, key driver.Key) (driver.Token, error)
	exchange    func(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error
	revoke      func(ctx context.Context, rs ...driver.Revocation) error
	revocations func(ctx context.Context, after uint64, n int) ([]driver.Revocation, error)
	count       func(ctx context.Context, b driver.Batch, counts []driver.Count) error
	usage       func(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error)
	append      func(ctx context.Context, records ...driver.Record) error
	records     func(ctx context.Context, after uint64, n int) ([]driver.Record, error)
	appended    func(ctx context.Context) (uint64, error)
	prune       func(ctx context.Context, through uint64, n int) (int, error)
	get         func(ctx context.Context, kind, id string) (driver.Doc, error)
	list        func(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error)
	put         func(ctx context.Context, docs ...driver.Doc) (int64, error)
	sweep       func(ctx context.Context, at time.Time, n int) (int, error)
	close       func() error
	pick        pickFunc
	gather      gatherFunc
	over        <-chan struct{} // closed when the test is
}

// apart takes a Backend apart.
func apart(t *testing.T, whole driver.Backend) *parts {
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	p := &parts{
		whole.Issue, whole.Token, whole.Exchange, whole.Revoke, whole.Revocations, whole.Count, whole.Usage,
		whole.Append, whole.Records, whole.Appended, whole.Prune, whole.Get, whole.List, whole.Put, whole.Sweep, whole.Close,
		nil, nil, over,
	}
	if gatherer, ok := driver.As[driver.Gatherer](whole); ok {
		p.gather = gatherer.Gather
	}
	if picker, ok := driver.As[driver.Picker](whole); ok {
		p.pick = picker.Pick
	}
	return p
}

// whole puts the parts together.
func (p *parts) whole() (b driver.Backend) {
	b = p
	if p.pick != nil {
		b = picking{b, p.pick}
	}
	if p.gather != nil {
		b = gathering{b, p.gather}
	}
	return b
}

// in takes a Backend apart and plants the bug.
func (b bug) in(t *testing.T, whole driver.Backend) driver.Backend {
	p := apart(t, whole)
	if b.plant != nil {
		b.plant(p)
	}
	if b.pick != nil {
		if p.pick == nil {
			p.pick = byRecords(whole)
		}
		p.pick = b.pick(p.pick)
	}
	if b.gather != nil {
		if p.gather == nil {
			p.gather = byGetAndList(whole)
		}
		p.gather = b.gather(p, p.gather)
	}
	return p.whole()
}

// picking is a Backend that is a driver.Picker.
type picking struct {
	driver.Backend
	pick pickFunc
}

func (p picking) Pick(ctx context.Context, seqs ...uint64) ([]driver.Record, error) {
	return p.pick(ctx, seqs...)
}

// gathering is a Backend that is a driver.Gatherer.
type gathering struct {
	driver.Backend
	gather gatherFunc
}

// Unwrap shows what the Backend can do besides.
func (g gathering) Unwrap() driver.Backend { return g.Backend }

func (g gathering) Gather(ctx context.Context, asks ...driver.Ask) ([]driver.Answer, error) {
	return g.gather(ctx, asks...)
}

func (p *parts) Issue(ctx context.Context, tokens ...driver.Token) error {
	return p.issue(ctx, tokens...)
}

func (p *parts) Token(ctx context.Context, key driver.Key) (driver.Token, error) {
	return p.token(ctx, key)
}

func (p *parts) Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
	return p.exchange(ctx, key, at, next...)
}

func (p *parts) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	return p.revoke(ctx, rs...)
}

func (p *parts) Revocations(ctx context.Context, after uint64, n int) ([]driver.Revocation, error) {
	return p.revocations(ctx, after, n)
}

func (p *parts) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error {
	return p.count(ctx, b, counts)
}

func (p *parts) Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
	return p.usage(ctx, q)
}

func (p *parts) Append(ctx context.Context, records ...driver.Record) error {
	return p.append(ctx, records...)
}

func (p *parts) Records(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
	return p.records(ctx, after, n)
}

func (p *parts) Appended(ctx context.Context) (uint64, error) { return p.appended(ctx) }

func (p *parts) Prune(ctx context.Context, through uint64, n int) (int, error) {
	return p.prune(ctx, through, n)
}

func (p *parts) Get(ctx context.Context, kind, id string) (driver.Doc, error) {
	return p.get(ctx, kind, id)
}

func (p *parts) List(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
	return p.list(ctx, kind, span, n)
}

func (p *parts) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	return p.put(ctx, docs...)
}

func (p *parts) Sweep(ctx context.Context, at time.Time, n int) (int, error) {
	return p.sweep(ctx, at, n)
}

func (p *parts) Close() error { return p.close() }

// yield is the time that a database takes for a step, in which others do theirs.
func yield() { await(2*time.Millisecond, func() bool { return false }) }

// await gives up after some time: nobody may come.
func await(patience time.Duration, come func() bool) {
	for end := time.Now().Add(patience); time.Now().Before(end) && !come(); {
		runtime.Gosched()
	}
}

// meeting lets two callers wait for one another, each between two steps of its own.
type meeting chan struct{}

func (m meeting) wait() {
	late := time.NewTimer(20 * time.Millisecond)
	defer late.Stop()
	select {
	case m <- struct{}{}:
	case <-m:
	case <-late.C:
	}
}

// looks counts readers, for a writer who wants to be seen amid its work.
type looks struct{ n atomic.Int64 }

func (l *looks) one() { l.n.Add(1) }

func (l *looks) awaitOne() {
	seen := l.n.Load()
	await(100*time.Millisecond, func() bool { return l.n.Load() > seen+1 })
}
