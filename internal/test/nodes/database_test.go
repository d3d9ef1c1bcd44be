package nodes

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// database is a store in memory that several processes share. It can lose its last writes, as a
// failover to a replica that was behind does.
type database struct {
	mu        sync.Mutex
	store     *memory.Store
	writes    []func(*memory.Store) // that succeeded
	listeners map[*func()]bool
}

func newDatabase() *database {
	return &database{store: memory.New(), listeners: map[*func()]bool{}}
}

// write does a write, and remembers how to do it again.
func (d *database) write(do func(*memory.Store) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := do(d.store)
	if err == nil {
		d.writes = append(d.writes, func(s *memory.Store) { do(s) })
	}
	return err
}

// moment returns the number of writes until now.
func (d *database) moment() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.writes)
}

// rewind forgets all writes after a moment.
func (d *database) rewind(to int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.store.Close()
	d.store, d.writes = memory.New(), d.writes[:to]
	for _, again := range d.writes {
		again(d.store)
	}
}

func (d *database) now() *memory.Store {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.store
}

// tell hints at a change.
func (d *database) tell() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for hint := range d.listeners {
		(*hint)()
	}
}

// link is the adapter of one process.
type link struct {
	*database
	hints bool // it listens

	state     sync.Mutex
	fail      map[string]error         // of a method, "" for all
	hang      map[string]chan struct{} // a method waits for it
	calls     map[string]int
	listening int
}

func (d *database) link() *link {
	return &link{database: d, fail: map[string]error{}, hang: map[string]chan struct{}{}, calls: map[string]int{}}
}

var errAway = errors.New("no connection to the database")

// away makes a method fail, "" for all; a nil error ends that.
func (l *link) away(method string, err error) {
	l.state.Lock()
	defer l.state.Unlock()
	l.fail[method] = err
}

// hanging makes a method wait until release is called.
func (l *link) hanging(method string) (release func()) {
	l.state.Lock()
	defer l.state.Unlock()
	c := make(chan struct{})
	l.hang[method] = c
	return func() {
		l.state.Lock()
		defer l.state.Unlock()
		delete(l.hang, method)
		close(c)
	}
}

// count returns how often the methods that answer requests were called since it was called last.
func (l *link) count() (n int) {
	l.state.Lock()
	defer l.state.Unlock()
	for method, times := range l.calls {
		if slices.Contains([]string{"Issue", "Token", "Exchange", "Usage", "Get", "List", "Put"}, method) {
			n += times
		}
	}
	clear(l.calls)
	return n
}

func (l *link) call(ctx context.Context, method string) error {
	l.state.Lock()
	l.calls[method]++
	err, hang := errors.Join(l.fail[""], l.fail[method]), l.hang[method]
	l.state.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// Listen implements driver.Shared.
func (l *link) Listen(ctx context.Context, hint func()) error {
	if !l.hints {
		return nil
	}
	if err := l.call(ctx, "Listen"); err != nil {
		return err
	}
	l.mu.Lock()
	l.listeners[&hint] = true
	l.mu.Unlock()
	l.listens(1)
	hint()
	<-ctx.Done()
	l.listens(-1)
	l.mu.Lock()
	delete(l.listeners, &hint)
	l.mu.Unlock()
	return nil
}

func (l *link) listens(n int) {
	l.state.Lock()
	defer l.state.Unlock()
	l.listening += n
}

func (l *link) Issue(ctx context.Context, tokens ...driver.Token) error {
	if err := l.call(ctx, "Issue"); err != nil {
		return err
	}
	return l.write(func(s *memory.Store) error { return s.Issue(context.Background(), tokens...) })
}

func (l *link) Token(ctx context.Context, key driver.Key) (driver.Token, error) {
	if err := l.call(ctx, "Token"); err != nil {
		return driver.Token{}, err
	}
	return l.now().Token(ctx, key)
}

func (l *link) Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
	if err := l.call(ctx, "Exchange"); err != nil {
		return err
	}
	return l.write(func(s *memory.Store) error { return s.Exchange(context.Background(), key, at, next...) })
}

func (l *link) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	if err := l.call(ctx, "Revoke"); err != nil {
		return err
	}
	rs = slices.Clone(rs)
	defer l.tell()
	return l.write(func(s *memory.Store) error { return s.Revoke(context.Background(), rs...) })
}

func (l *link) Revocations(ctx context.Context, after uint64, n int) ([]driver.Revocation, error) {
	if err := l.call(ctx, "Revocations"); err != nil {
		return nil, err
	}
	return l.now().Revocations(ctx, after, n)
}

func (l *link) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error {
	if err := l.call(ctx, "Count"); err != nil {
		return err
	}
	return l.write(func(s *memory.Store) error { return s.Count(context.Background(), b, counts) })
}

func (l *link) Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
	if err := l.call(ctx, "Usage"); err != nil {
		return nil, err
	}
	return l.now().Usage(ctx, q)
}

func (l *link) Append(ctx context.Context, records ...driver.Record) error {
	if err := l.call(ctx, "Append"); err != nil {
		return err
	}
	return l.write(func(s *memory.Store) error { return s.Append(context.Background(), records...) })
}

func (l *link) Records(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
	if err := l.call(ctx, "Records"); err != nil {
		return nil, err
	}
	return l.now().Records(ctx, after, n)
}

func (l *link) Appended(ctx context.Context) (uint64, error) {
	if err := l.call(ctx, "Appended"); err != nil {
		return 0, err
	}
	return l.now().Appended(ctx)
}

func (l *link) Prune(ctx context.Context, through uint64, n int) (removed int, err error) {
	if err := l.call(ctx, "Prune"); err != nil {
		return 0, err
	}
	err = l.write(func(s *memory.Store) (err error) {
		removed, err = s.Prune(context.Background(), through, n)
		return err
	})
	return removed, err
}

func (l *link) Get(ctx context.Context, kind, id string) (driver.Doc, error) {
	if err := l.call(ctx, "Get"); err != nil {
		return driver.Doc{}, err
	}
	d, err := l.now().Get(ctx, kind, id)
	return d, errors.Join(err, l.call(ctx, "the answer of Get"))
}

func (l *link) List(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
	method := "List"
	if kind == driver.KindEpoch {
		method = "the epochs"
	}
	if err := errors.Join(l.call(ctx, method), l.call(ctx, "List "+kind)); err != nil {
		return nil, "", err
	}
	return l.now().List(ctx, kind, span, n)
}

func (l *link) Put(ctx context.Context, docs ...driver.Doc) (version int64, err error) {
	if err := l.call(ctx, "Put"); err != nil {
		return 0, err
	}
	if docs[0].Kind == "checkpoint" {
		if err := l.call(ctx, "the checkpoint"); err != nil {
			return 0, err
		}
	}
	docs = slices.Clone(docs)
	if slices.ContainsFunc(docs, func(d driver.Doc) bool { return d.Kind == driver.KindEpoch }) {
		defer l.tell()
	}
	err = l.write(func(s *memory.Store) error {
		v, err := s.Put(context.Background(), docs...)
		version = v
		return err
	})
	return version, err
}

func (l *link) Sweep(ctx context.Context, at time.Time, n int) (removed int, err error) {
	if err := l.call(ctx, "Sweep"); err != nil {
		return 0, err
	}
	err = l.write(func(s *memory.Store) (err error) {
		removed, err = s.Sweep(context.Background(), at, n)
		return err
	})
	return removed, err
}

// Close leaves the database to the others.
func (l *link) Close() error { return nil }
