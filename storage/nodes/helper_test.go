package nodes_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/nodes"
)

// link is the way of one process to a store that several share.
type link struct {
	driver.Backend
	mu     sync.Mutex
	fail   error
	hang   chan struct{} // closed: calls go on
	lose   bool          // the answer of the next Put
	lag    time.Duration // from a Put to its answer
	puts   int
	lists  int
	others int // calls but List and Put
}

var errAway = errors.New("no connection to the database")

// Listen implements driver.Shared.
func (l *link) Listen(context.Context, func()) error { return nil }

// set changes a link that is in use.
func (l *link) set(change func(*link)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(l)
}

func (l *link) call(ctx context.Context, count func(*link)) error {
	l.mu.Lock()
	count(l)
	err, hang := l.fail, l.hang
	l.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

func (l *link) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	if err := l.call(ctx, func(l *link) { l.puts++ }); err != nil {
		return 0, err
	}
	version, err := l.Backend.Put(ctx, docs...)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lag > 0 {
		time.Sleep(l.lag)
	}
	if l.lose && err == nil {
		l.lose = false
		return 0, errAway
	}
	return version, err
}

func (l *link) List(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
	if err := l.call(ctx, func(l *link) { l.lists++ }); err != nil {
		return nil, "", err
	}
	return l.Backend.List(ctx, kind, span, n)
}

func (l *link) Get(ctx context.Context, kind, id string) (driver.Doc, error) {
	if err := l.call(ctx, func(l *link) { l.others++ }); err != nil {
		return driver.Doc{}, err
	}
	return l.Backend.Get(ctx, kind, id)
}

// cluster is a store with nodes on it.
type cluster struct {
	testing.TB
	backend *memory.Store
	key     storage.MasterKey
}

func newCluster(t testing.TB) *cluster {
	c := &cluster{t, memory.New(), storage.NewMasterKey()}
	t.Cleanup(func() { c.backend.Close() })
	return c
}

// process is one process on the store.
type process struct {
	*nodes.Node
	link  *link
	store *storage.Store
	log   *strings.Builder // to be read when nothing runs
}

// process opens the store for one process, which does not join.
func (c *cluster) process() *process {
	c.Helper()
	p := &process{link: &link{Backend: c.backend}, log: new(strings.Builder)}
	var err error
	if p.store, err = storage.Open(c.Context(), p.link, c.key); err != nil {
		c.Fatal(err)
	}
	return p
}

// join makes a node.
func (c *cluster) join(name string) *process {
	c.Helper()
	p := c.process()
	var err error
	p.Node, err = nodes.Join(c.Context(), nodes.Config{Store: p.store, Name: name, Build: "v1",
		Log: slog.New(slog.NewTextHandler(p.log, nil))})
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { p.Close(context.Background()) })
	return p
}

// dies makes a node end without a word: none of its calls reaches the store any more.
func (p *process) dies() { p.link.set(func(l *link) { l.fail = errAway }) }

// wakes lets the calls of a node through again.
func (p *process) wakes() { p.link.set(func(l *link) { l.fail = nil }) }

func (c *cluster) want(n int, what string, of ...*process) {
	c.Helper()
	for i, p := range of {
		if got := p.Live(); got != n {
			c.Errorf("%s: node %d of %d counts %d, want %d", what, i+1, len(of), got, n)
		}
	}
}

const beat = 2 * time.Second
