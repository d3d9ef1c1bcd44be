package storagetest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Nodes returns a Backend that hands its calls to the given ones in turn, as a service of
// several processes does. They were opened on one store. Where an adapter lets several processes
// share a store, Run on its Nodes holds that what one of them has answered the others know, and
// that of callers on several of them one wins:
//
//	storagetest.Run(t, func(t *testing.T) driver.Backend {
//		dsn := empty(t)
//		return storagetest.Nodes(open(t, dsn), open(t, dsn), open(t, dsn))
//	})
func Nodes(nodes ...driver.Backend) driver.Backend { return &ring{nodes: nodes} }

type ring struct {
	nodes []driver.Backend
	calls atomic.Uint64
}

func (r *ring) node() driver.Backend { return r.nodes[r.calls.Add(1)%uint64(len(r.nodes))] }

func (r *ring) Issue(ctx context.Context, tokens ...driver.Token) error {
	return r.node().Issue(ctx, tokens...)
}

func (r *ring) Token(ctx context.Context, key driver.Key) (driver.Token, error) {
	return r.node().Token(ctx, key)
}

func (r *ring) Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
	return r.node().Exchange(ctx, key, at, next...)
}

func (r *ring) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	return r.node().Revoke(ctx, rs...)
}

func (r *ring) Revocations(ctx context.Context, after uint64, n int) ([]driver.Revocation, error) {
	return r.node().Revocations(ctx, after, n)
}

func (r *ring) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error {
	return r.node().Count(ctx, b, counts)
}

func (r *ring) Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
	return r.node().Usage(ctx, q)
}

func (r *ring) Append(ctx context.Context, records ...driver.Record) error {
	return r.node().Append(ctx, records...)
}

func (r *ring) Records(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
	return r.node().Records(ctx, after, n)
}

func (r *ring) Appended(ctx context.Context) (uint64, error) { return r.node().Appended(ctx) }

func (r *ring) Prune(ctx context.Context, through uint64, n int) (int, error) {
	return r.node().Prune(ctx, through, n)
}

func (r *ring) Get(ctx context.Context, kind, id string) (driver.Doc, error) {
	return r.node().Get(ctx, kind, id)
}

func (r *ring) List(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
	return r.node().List(ctx, kind, span, n)
}

func (r *ring) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	return r.node().Put(ctx, docs...)
}

func (r *ring) Sweep(ctx context.Context, at time.Time, n int) (int, error) {
	return r.node().Sweep(ctx, at, n)
}

// Close closes all nodes.
func (r *ring) Close() error {
	var errs []error
	for _, b := range r.nodes {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}
