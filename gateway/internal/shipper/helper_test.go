package shipper_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway/stream"
	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/memory"
)

var errAway = errors.New("the target is away")

// sharedSource may be drawn from by followers and the test at once.
type sharedSource struct {
	mu     sync.Mutex
	source *rand.PCG
}

func newDice(seed uint64) *rand.Rand { return rand.New(&sharedSource{source: rand.NewPCG(seed, 25)}) }

func (s *sharedSource) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.source.Uint64()
}

// pass lets time go by until everybody waits again, so that what they did can be looked at.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// bucket is a target that keeps each batch under its key, as a store of objects does.
type bucket struct {
	mu      sync.Mutex
	objects map[string][]byte
	order   []string // of the first time
	puts    int
	fail    func(b stream.Batch) (kept bool, err error) // nil: all is kept
	changed []string                                    // keys that came again with other bytes
}

func (*bucket) Name() string { return "bucket" }

func (k *bucket) Put(ctx context.Context, b stream.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.puts++
	if k.fail != nil {
		if kept, err := k.fail(b); err != nil {
			if kept {
				k.keep(b)
			}
			return err
		}
	}
	k.keep(b)
	return nil
}

func (k *bucket) keep(b stream.Batch) {
	if k.objects == nil {
		k.objects = map[string][]byte{}
	}
	switch was, there := k.objects[b.Key]; {
	case !there:
		k.order = append(k.order, b.Key)
	case !bytes.Equal(was, b.Lines):
		k.changed = append(k.changed, b.Key)
	}
	k.objects[b.Key] = bytes.Clone(b.Lines)
}

// keys returns the names of the objects, in the order in which they first came.
func (k *bucket) keys() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.order)
}

// tries returns how often something was put.
func (k *bucket) tries() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.puts
}

// altered returns the names of objects that came again with other bytes.
func (k *bucket) altered() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.changed)
}

// with returns a bucket that has what came to another one behind its own.
func (k *bucket) with(other *bucket) *bucket {
	both := &bucket{objects: map[string][]byte{}, order: append(k.keys(), other.keys()...)}
	for _, of := range []*bucket{k, other} {
		of.mu.Lock()
		maps.Copy(both.objects, of.objects)
		of.mu.Unlock()
	}
	return both
}

func (k *bucket) failing(fail func(b stream.Batch) (bool, error)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fail = fail
}

// line is a line of a stream, as a consumer reads it.
type line struct {
	Stream, ID  string
	Seq         uint64
	First, Last uint64
	Kind        string
	At, Hour    time.Time
	Account     string
	ClientID    string `json:"client_id"`
	By, Name    string
	Calls       int64
	Errors      int64
	Accounts    int64
	Rows        int
	Revision    int
	text        string
}

// lines reads what was shipped, in the order in which it first came.
func (k *bucket) lines(t *testing.T) (all []line) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, key := range k.order {
		for text := range strings.Lines(string(k.objects[key])) {
			l := line{text: strings.TrimSuffix(text, "\n")}
			if l.text == text {
				t.Errorf("%s ends amid a line", key)
			}
			if err := json.Unmarshal([]byte(text), &l); err != nil {
				t.Errorf("%s: %q is no JSON: %v", key, text, err)
			}
			all = append(all, l)
		}
	}
	return all
}

// consume does what a consumer does: it drops lines whose id it knows, holds the Seqs to have no gap, and
// rebuilds the trail, whose chains audit.Verify checks.
func (k *bucket) consume(t *testing.T) (records []driver.Record) {
	t.Helper()
	seen := map[string]string{}
	copied := memory.New()
	next := uint64(1)
	for _, l := range k.lines(t) {
		if was, known := seen[l.ID]; known {
			if was != l.text {
				t.Errorf("the id %s has two lines:\n%s\n%s", l.ID, was, l.text)
			}
			continue
		}
		seen[l.ID] = l.text
		if l.Stream != stream.Audit || l.Seq != next {
			t.Fatalf("line %q, want Seq %d", l.text, next)
		}
		next++
		_, rest, _ := strings.Cut(l.text, fmt.Sprintf(`"id":%q,`, l.ID))
		r := driver.Record{Seq: l.Seq, At: l.At, Data: []byte("{" + rest)}
		records = append(records, r)
		if err := copied.Append(t.Context(), driver.Record{At: r.At, Data: r.Data}); err != nil {
			t.Fatal(err)
		}
	}
	if len(records) == 0 {
		return nil
	}
	store := openStore(t, copied, storage.NewMasterKey())
	if report, err := audit.Verify(t.Context(), store); err != nil || report.Err() != nil {
		t.Errorf("what was shipped does not verify: %v, %v", err, report.Err())
	}
	return records
}

func openStore(t testing.TB, backend driver.Backend, key storage.MasterKey) *storage.Store {
	t.Helper()
	s, err := storage.Open(context.Background(), backend, key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// office is a store with a trail that somebody writes to.
type office struct {
	*storage.Store
	backend *memory.Store
	key     storage.MasterKey
	trail   *audit.Trail
}

func newOffice(t *testing.T) *office {
	t.Helper()
	backend, key := memory.New(), storage.NewMasterKey()
	o := &office{Store: openStore(t, backend, key), backend: backend, key: key}
	o.reopen(t)
	t.Cleanup(func() { o.trail.Close(context.Background()) })
	return o
}

// reopen begins another chain, as each start of a process does.
func (o *office) reopen(t *testing.T) {
	t.Helper()
	if o.trail != nil {
		o.trail.Close(t.Context())
	}
	var err error
	if o.trail, err = audit.Open(t.Context(), audit.Config{Store: o.Store, Log: quiet}); err != nil {
		t.Fatal(err)
	}
}

// write appends n records.
func (o *office) write(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		e := event.Event{}
		e.Kind, e.App, e.Detail = "app.change", fmt.Sprintf("app%d", rand.IntN(9)), strings.Repeat("日\"<", i%7)
		o.trail.Note(e)
	}
	if err := o.trail.NoteNow(t.Context(), event.Event{Kind: event.Admin, Detail: "so far"}); err != nil {
		t.Fatal(err)
	}
}

// all returns the whole trail.
func (o *office) all(t *testing.T) (all []driver.Record) {
	t.Helper()
	for after := uint64(0); ; {
		page, err := o.Records(t.Context(), after, driver.Page)
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, page...); len(page) < driver.Page {
			return all
		}
		after = page[len(page)-1].Seq
	}
}

// same holds what was shipped to be the trail, to the letter.
func (o *office) same(t *testing.T, k *bucket) {
	t.Helper()
	want, got := o.all(t), k.consume(t)
	if len(got) != len(want) {
		t.Fatalf("%d records were shipped of %d", len(got), len(want))
	}
	for i := range want {
		if got[i].Seq != want[i].Seq || !bytes.Equal(got[i].Data, want[i].Data) {
			t.Fatalf("record %d is\n%s\nand was shipped as\n%s", want[i].Seq, want[i].Data, got[i].Data)
		}
	}
}

var quiet = slog.New(slog.DiscardHandler)
