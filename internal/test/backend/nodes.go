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
// settle is to be called between two requests, in a synctest bubble: after one that has revoked
// something, or changed what nodes cache, it lets the second pass after which every node must know of it. After
// others it lets no time pass.
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
		nodes = append(nodes, &node{Backend: b, all: all, end: t.Context(), reads: map[read]answer{}})
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
			s, err := postgres.OpenURL(context.Background(), dsn, postgres.Options{PollOnly: true})
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

// written is what is known of the writes of all nodes.
type written struct {
	mu     sync.Mutex
	writes int
	wake   chan struct{} // closed by the next write
	fresh  bool          // something that nodes follow was written since they settled
}

func (w *written) note(followed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	close(w.wake)
	w.wake = make(chan struct{})
	w.fresh = w.fresh || followed
}

func (w *written) settle() {
	w.mu.Lock()
	fresh := w.fresh
	w.fresh = false
	w.mu.Unlock()
	if fresh {
		time.Sleep(time.Second)
		synctest.Wait()
	}
}

// node is the Backend of one node of several.
type node struct {
	driver.Backend
	all *written
	end context.Context // the test's

	mu    sync.Mutex
	reads map[read]answer
}

// read is what a node asks each second.
type read struct {
	method string
	after  uint64
	n      int
	span   driver.Span
}

// answer is what it was told when so much was written.
type answer struct {
	writes      int
	revocations []driver.Revocation
	docs        []driver.Doc
	next        string
}

// Listen implements driver.Shared. There is nobody to listen to.
func (n *node) Listen(context.Context, func()) error { return nil }

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
	n.all.note(slices.ContainsFunc(docs, func(d driver.Doc) bool { return d.Kind == driver.KindEpoch }))
	return version, err
}

func (n *node) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	err := n.Backend.Revoke(ctx, rs...)
	n.all.note(true)
	return err
}

func (n *node) Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
	err := n.Backend.Exchange(ctx, key, at, next...)
	n.all.note(false)
	return err
}

func (n *node) Sweep(ctx context.Context, at time.Time, most int) (int, error) {
	removed, err := n.Backend.Sweep(ctx, at, most)
	n.all.note(false)
	return removed, err
}

var _ driver.Shared = (*node)(nil)
