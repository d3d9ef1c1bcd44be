package search

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/memory"
)

var quiet = slog.New(slog.DiscardHandler)

// began is when the first record of a test was noted.
var began = time.Date(2031, 7, 1, 12, 0, 0, 0, time.UTC)

// office is a store with a trail that tests write.
type office struct {
	*storage.Store
	backend driver.Backend
	rnd     *rand.Rand
	all     []event.Entry // what is on the trail
}

func newOffice(t testing.TB, backend driver.Backend) *office {
	t.Helper()
	store, err := storage.Open(t.Context(), backend, storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { backend.Close() })
	return &office{Store: store, backend: backend, rnd: rand.New(rand.NewPCG(1, 2))}
}

var kinds = []string{event.Call, event.Call, event.Call, event.ToolCall, event.Token, event.SignIn, event.Admin}

// draw makes an event: few applications, some users and addresses, request ids that nobody has twice.
func (o *office) draw(i int) event.Event {
	e := event.Event{
		At:   began.Add(time.Duration(i)*time.Second + time.Duration(o.rnd.IntN(90))*time.Second),
		Kind: kinds[o.rnd.IntN(len(kinds))],
		App:  fmt.Sprint("app", o.rnd.IntN(30)*o.rnd.IntN(30)), User: fmt.Sprint("user", o.rnd.IntN(3000)),
		IP:        fmt.Sprintf("192.0.2.%d", o.rnd.IntN(256)),
		RequestID: fmt.Sprintf("%08x-%d", o.rnd.Uint32(), i), Status: []int{200, 200, 200, 204, 302, 404, 403, 500,
			0}[o.rnd.IntN(9)],
		Path: "/api/something/that/is/long/enough", Method: "GET", Product: "shop", Latency: 12345678,
	}
	for range o.rnd.IntN(4) * o.rnd.IntN(4) { // mostly nobody; the one that sends it, others, and people
		actor := []string{e.App, fmt.Sprint("app", o.rnd.IntN(900)), fmt.Sprint("user", o.rnd.IntN(3000))}[o.rnd.IntN(3)]
		e.Actors = append(e.Actors, actor)
	}
	if o.rnd.IntN(5) == 0 {
		e.User, e.RequestID = "", ""
	}
	return e
}

// recordOf returns the line of an event, as the trail writes it but in no chain.
func recordOf(t testing.TB, e event.Event) []byte {
	t.Helper()
	line, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Appendf(line[:len(line)-1], `,"hash":"%064x"}`, 0)
}

// note appends events to the trail, as the trail does but without its chain.
func (o *office) note(t testing.TB, events ...event.Event) {
	t.Helper()
	var records []driver.Record
	for _, e := range events {
		e = audit.AsKept(e)
		o.all = append(o.all, event.Entry{Seq: uint64(len(o.all) + 1), Event: e})
		records = append(records, driver.Record{At: e.At, Data: recordOf(t, e)})
	}
	for some := range slices.Chunk(records, driver.Page) {
		if err := o.Append(t.Context(), some...); err != nil {
			t.Fatal(err)
		}
	}
}

// grow notes n drawn events.
func (o *office) grow(t testing.TB, n int) {
	t.Helper()
	events := make([]event.Event, n)
	for i := range events {
		events[i] = o.draw(len(o.all) + i)
	}
	o.note(t, events...)
}

// small is an indexer of small segments and groups, so that a test has many.
func small(store Store) *Indexer { return &Indexer{Store: store, Log: quiet, segment: 50, group: 8} }

// settle indexes until there is nothing to do.
func (o *office) settle(t testing.TB, store Store) {
	t.Helper()
	x := small(store)
	for {
		busy, err := x.Turn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !busy {
			return
		}
	}
}

// want returns what a query selects, by a plain filter.
func (o *office) want(q event.Query, from uint64) (all []event.Entry) {
	f := finder{q: q}
	f.q.Agent = "" // looked at here
	for _, e := range slices.Backward(o.all) {
		acted := q.Agent == "" || e.App == q.Agent || slices.Contains(e.Actors, q.Agent)
		if e.Seq >= from && (q.Before == 0 || e.Seq < q.Before) && acted && f.passes(&e.Event) {
			all = append(all, e)
		}
	}
	return all
}

// walk reads all pages of a query.
func walk(t testing.TB, store Reader, q event.Query) (all []event.Entry, pages int) {
	t.Helper()
	for {
		page, err := Find(t.Context(), store, q)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		all = append(all, page.Entries...)
		if page.Next == 0 {
			return all, pages
		}
		if q.Before != 0 && page.Next >= q.Before {
			t.Fatalf("the page before %d is followed by one before %d", q.Before, page.Next)
		}
		q.Before = page.Next
	}
}

// drawQuery makes a query of what is on the trail, mostly.
func (o *office) drawQuery() event.Query {
	e := o.all[o.rnd.IntN(len(o.all))].Event
	q := event.Query{Limit: 1 + o.rnd.IntN(event.MaxLimit)}
	some := func(into *string, value string, of int) {
		if o.rnd.IntN(of) == 0 {
			*into = value
		}
	}
	some(&q.App, e.App, 3)
	some(&q.User, e.User, 3)
	some(&q.Kind, e.Kind, 3)
	some(&q.RequestID, e.RequestID, 8)
	some(&q.IP, e.IP, 6)
	some(&q.Status, class(e.Status), 4)
	if acted := append(e.Actors, e.App); o.rnd.IntN(3) == 0 {
		q.Agent = acted[o.rnd.IntN(len(acted))]
	}
	if q.App == "" && o.rnd.IntN(4) == 0 {
		for range 1 + o.rnd.IntN(40) {
			q.Apps = append(q.Apps, o.all[o.rnd.IntN(len(o.all))].App)
		}
	}
	if o.rnd.IntN(3) == 0 {
		q.From = e.At.Add(-time.Duration(o.rnd.IntN(20000)) * time.Second)
	}
	if o.rnd.IntN(3) == 0 {
		q.To = e.At.Add(time.Duration(1+o.rnd.IntN(20000)) * time.Second)
	}
	if o.rnd.IntN(4) == 0 {
		q.Before = uint64(1 + o.rnd.IntN(len(o.all)+10))
	}
	return q
}

func same(a, b []event.Entry) bool {
	return slices.EqualFunc(a, b, func(a, b event.Entry) bool {
		at := a.At.Equal(b.At)
		a.At, b.At = time.Time{}, time.Time{}
		return at && reflect.DeepEqual(a, b)
	})
}

// check asks random queries.
func (o *office) check(t *testing.T, store Reader, queries int, from uint64) {
	t.Helper()
	for range queries {
		q := o.drawQuery()
		got, _ := walk(t, store, q)
		if want := o.want(q, from); !same(got, want) {
			t.Fatalf("%+v finds %d events, want %d", q, len(got), len(want))
		}
	}
}

func TestSearchFindsWhatAPlainFilterFinds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	o := newOffice(t, memory.New())
	for _, n := range []int{30, 60, 2_000, 1, 49, 3_500, 300} {
		o.grow(t, n)
		o.check(t, o, 10, 0)
		o.settle(t, o)
		o.check(t, o, 60, 0)
	}
	h, err := loadHead(context.Background(), o)
	if err != nil || len(h.groups) < 2 || len(h.segments) == 0 {
		t.Fatalf("the index has %d groups and %d segments, %v: the test needs both", len(h.groups), len(h.segments), err)
	}
}

// Where the time that is searched for ends within a segment, what lies behind it is not read in ever larger steps.
func TestPageThatEndsWithinASegmentIsReadAtOnce(t *testing.T) {
	o := newOffice(t, memory.New())
	o.grow(t, 3_100)
	x := &Indexer{Store: o, Log: quiet}
	for busy := true; busy; {
		var err error
		if busy, err = x.Turn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	dear := 0
	for i := 60; i < 2_990; i += 97 {
		store := &counting{office: o}
		q := event.Query{To: o.all[i].At}
		page, err := Find(t.Context(), store, q)
		if want := o.want(q, 0); err != nil || !same(page.Entries, want[:min(len(want), 50)]) {
			t.Fatalf("to %s it finds %d, %v", q.To, len(page.Entries), err)
		}
		if store.calls > 3 { // the index, the tail and the records
			dear++
		}
	}
	if dear > 6 {
		t.Errorf("%d of 31 pages take more than three calls", dear)
	}
}
