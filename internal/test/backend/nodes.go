package backend

import (
	"context"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/postgres"
)

// StaleAfter is for the configuration of nodes.
const StaleAfter = 10_000 * time.Hour

const howMany = "KEYSTILE_TEST_NODES" // that share the store; 1 is the default

// Nodes returns the Backends of as many nodes as the environment says, on one empty store, and closes them
// in the end. One node has the Backend that New returns. Those of several are each a driver.Shared, so that
// every node follows what the others revoke and change.
//
// settle is to be called after each request, in a synctest bubble: after one that has revoked something, or
// changed what nodes cache, it tells them so, as a database that notifies does, and lets as many tenths of a
// second pass as they take to read it: mostly none. After others it lets no time pass. Without being told,
// nodes read once a second: that is tried elsewhere, since dialogues have times in seconds.
//
// Days that a test lets pass would be millions of reads of the feed. Only these nodes write to the store, so
// where nothing was written since the last read the next one waits until something is. A node that
// hears nothing for long refuses tokens: StaleAfter keeps it from that. (What becomes of nodes that cannot
// read is tried elsewhere, in internal/test/nodes.)
func Nodes(t testing.TB) (nodes []driver.Backend, settle func()) {
	t.Helper()
	n := 1
	if text := os.Getenv(howMany); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 1 || n > 8 {
			t.Fatalf("%s=%s: give a number from 1 to 8", howMany, text)
		}
	}
	if n == 1 {
		return []driver.Backend{New(t)}, func() {}
	}
	all := &written{wake: make(chan struct{})}
	for _, b := range connections(t, n) {
		n := &node{Backend: b, all: all, end: t.Context(), reads: map[read]answer{}, seen: map[string]int{}}
		all.nodes, nodes = append(all.nodes, n), append(nodes, n)
	}
	return nodes, all.settle
}

// connections opens one store n times.
func connections(t testing.TB, n int) (all []driver.Backend) {
	t.Helper()
	switch name := os.Getenv(choice); name {
	case "", "memory":
		b := memory.New()
		t.Cleanup(func() { b.Close() })
		return slices.Repeat([]driver.Backend{b}, n)
	case "postgres":
		dsn := database.WithSchema(t)
		for range n {
			s, err := postgres.Open(context.Background(), dsn, postgres.Options{PollOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			all = append(all, s)
		}
		return all
	default:
		t.Fatalf("%s=%s: give memory or postgres", choice, name)
		return nil
	}
}

// told says how soon nodes read what they are told of.
const told = 100 * time.Millisecond

// written holds what is known of the writes of all nodes.
type written struct {
	mu     sync.Mutex
	writes int
	wake   chan struct{} // closed by the next write
	hints  []func()      // what tells the nodes
	due    bool          // something that others follow was written since they settled
	nodes  []*node
}

func (w *written) note(by *node, followed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	if followed {
		w.due = true
		for _, n := range w.nodes {
			if n != by {
				n.due = w.writes
			}
		}
	}
	close(w.wake)
	w.wake = make(chan struct{})
}

func (w *written) settle() {
	w.mu.Lock()
	due, hints := w.due, slices.Clone(w.hints)
	w.due = false
	w.mu.Unlock()
	synctest.Wait()
	for due {
		for _, hint := range hints {
			hint()
		}
		synctest.Wait()
		if due = slices.ContainsFunc(w.nodes, (*node).behind); due {
			time.Sleep(told)
		}
	}
}

// node is the Backend of one node of several.
type node struct {
	driver.Backend
	all *written
	end context.Context // the test's

	mu    sync.Mutex
	reads map[read]answer
	due   int            // how much was written when another node wrote what this one follows
	seen  map[string]int // how much was written when it was last told, by method
}

// behind reports whether a node that follows anything has not read all that others have written.
func (n *node) behind() bool {
	n.all.mu.Lock()
	defer n.all.mu.Unlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, seen := range n.seen {
		if seen < n.due {
			return true
		}
	}
	return false
}

// read names what a node asks each second.
type read struct {
	method string
	after  uint64
	n      int
	span   driver.Span
}

// answer holds what it was told when so much was written.
type answer struct {
	writes      int
	revocations []driver.Revocation
	docs        []driver.Doc
	next        string
}

// Listen implements driver.Shared.
func (n *node) Listen(ctx context.Context, hint func()) error {
	n.all.mu.Lock()
	n.all.hints = append(n.all.hints, hint)
	n.all.mu.Unlock()
	<-ctx.Done()
	return nil
}

// again answers as before if nothing was written since, and asks else. If it may wait, it waits for a write.
func (n *node) again(what read, wait bool, ask func() (answer, error)) (answer, error) {
	n.all.mu.Lock()
	writes, wake := n.all.writes, n.all.wake
	n.all.mu.Unlock()
	n.mu.Lock()
	known, asked := n.reads[what]
	n.mu.Unlock()
	switch {
	case asked && known.writes == writes && !wait:
		n.mu.Lock()
		n.seen[what.method] = writes
		n.mu.Unlock()
		return known, nil
	case asked && known.writes == writes:
		select {
		case <-wake:
			return n.again(what, wait, ask)
		case <-n.end.Done():
			return known, nil
		}
	}
	a, err := ask()
	if err != nil {
		return a, err
	}
	a.writes = writes
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.reads) > 100 {
		clear(n.reads)
	}
	n.reads[what] = a
	n.seen[what.method] = writes
	return a, nil
}

func (n *node) Revocations(ctx context.Context, after uint64, most int) ([]driver.Revocation, error) {
	a, err := n.again(read{method: "Revocations", after: after, n: most}, false, func() (a answer, err error) {
		a.revocations, err = n.Backend.Revocations(ctx, after, most)
		return a, err
	})
	return slices.Clone(a.revocations), err
}

func (n *node) List(ctx context.Context, kind string, span driver.Span, most int) ([]driver.Doc, string, error) {
	if kind != driver.KindEpoch {
		return n.Backend.List(ctx, kind, span, most)
	}
	a, err := n.again(read{method: "List", n: most, span: span}, true, func() (a answer, err error) {
		a.docs, a.next, err = n.Backend.List(ctx, kind, span, most)
		return a, err
	})
	return slices.Clone(a.docs), a.next, err
}

func (n *node) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	version, err := n.Backend.Put(ctx, docs...)
	n.all.note(n, slices.ContainsFunc(docs, func(d driver.Doc) bool { return d.Kind == driver.KindEpoch }))
	return version, err
}

func (n *node) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	err := n.Backend.Revoke(ctx, rs...)
	n.all.note(n, true)
	return err
}

func (n *node) Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
	err := n.Backend.Exchange(ctx, key, at, next...)
	n.all.note(n, false)
	return err
}

func (n *node) Sweep(ctx context.Context, at time.Time, most int) (int, error) {
	removed, err := n.Backend.Sweep(ctx, at, most)
	n.all.note(n, false)
	return removed, err
}

var _ driver.Shared = (*node)(nil)
