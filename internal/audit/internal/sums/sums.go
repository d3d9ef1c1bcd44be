// Package sums counts anonymous events by the minute, in a bounded number of rows, so that a flood of them is a few
// records of the audit trail.
package sums

import (
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/storage/event"
)

// Bounds of the records that anonymous events may cause.
const (
	Every     = time.Minute
	MaxRows   = 256                     // records of a minute, after an hour without any
	pause     = 3750 * time.Millisecond // for each record more: 16 a minute in the long run
	mostAlone = 2                       // events of a row that are records of their own
	Wide      = 24                      // rows beside those, of no network

	maxText = 256 // bytes of a route or a detail
)

// Others is the kind of the row that counts all summed events without a row of their own.
const Others = "audit.others"

// Sums are the rows of one minute. Their number is bounded, whatever is noted, and every event
// is counted in one of them: if its own network gets no row, it is counted by a
// wider one, then by none, and at last by nothing at all.
//
// Acts of unknown callers are not one record each, because anybody can cause them at any rate and a record
// stays for a long time. An anonymous event without a user is summed by minute, kind, application, product,
// route, detail, status and network (package network). The first two of each such row are records of their own,
// with all details: in a quiet minute little is summed, and in a flood there are samples. A failed sign-in of
// an existing user stays one record: the locks of sign-in bound them. The callers decide which events are
// anonymous. A client_id proves nothing, so it names whom the request was about.
//
// There are at most 256 such records and sums in a minute, and 16 a minute in the long run: the unused part of
// a quiet hour is there for the first minutes of a flood. Half of a minute's rows are for single clients, a
// quarter for the networks around them, and so on; a client beyond its limit is counted by a wider network.
// Beside them are 24 rows of no network, the last of which, audit.others, counts all other events. So a flood
// without end from any number of networks writes some 40 records a minute, about 20 MB a day, and each of its
// events is counted in exactly one of them. A sum is stored when its minute is over, and by Close; a process
// that is killed loses up to a minute of sums.
type Sums struct {
	Begun chan struct{} // there is a first row

	mu     sync.Mutex
	rows   map[rowKey]*row
	wide   int       // rows of no network
	count  uint64    // of all rows
	began  time.Time // the first row
	start  int       // records that the minute might have when it began
	left   int       // records that it may still have
	earned time.Time // until when left has grown
	closed bool
}

// rowKey holds the fields that the events of a row share.
type rowKey struct {
	kind, app, product, route, detail string
	status                            int
	from                              netip.Prefix // zero: anywhere
}

type row struct {
	alone       int // were records of their own
	count       int64
	first, last time.Time
}

// New begins to count.
func New() Sums {
	return Sums{Begun: make(chan struct{}, 1), rows: map[rowKey]*row{}, left: MaxRows}
}

// Admits reports whether an event is to be a record of its own: one of the first of its row,
// while few rows are used.
func (s *Sums) Admits(e *event.Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.begin()
	key := keyOf(e)
	if key.from = clientOf(e); !key.from.IsValid() {
		return false
	}
	row := s.row(key, s.reserved(0))
	if row == nil || row.alone == mostAlone || s.left <= s.reserved(0) {
		return false
	}
	row.alone++
	s.left--
	return true
}

// Add counts an event; false: the trail is closed.
func (s *Sums) Add(e *event.Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	row := s.find(e)
	if row.count == 0 || e.At.Before(row.first) {
		row.first = e.At
	}
	if row.count == 0 || e.At.After(row.last) {
		row.last = e.At
	}
	row.count++
	s.count++
	return true
}

// find returns the narrowest row for an event that exists or can be created.
func (s *Sums) find(e *event.Event) *row {
	s.begin()
	key := keyOf(e)
	key.from = clientOf(e)
	for i, more := 0, key.from.IsValid(); more; i++ {
		if row := s.row(key, s.reserved(i)); row != nil {
			return row
		}
		key.from, _, more = network.Widen(key.from)
	}
	key.from = netip.Prefix{}
	for _, wider := range []rowKey{key, {kind: key.kind, status: key.status}} {
		if row := s.anywhere(wider, Wide-1); row != nil {
			return row
		}
	}
	return s.anywhere(rowKey{kind: Others}, Wide)
}

// reserved returns how many rows are left for wider networks, for a network that is i steps wider
// than a client.
func (s *Sums) reserved(i int) int { return s.start >> (i + 1) }

// begin begins a minute, if none has begun.
func (s *Sums) begin() {
	if len(s.rows) > 0 {
		return
	}
	now := time.Now()
	if s.earned.IsZero() {
		s.earned = now
	}
	more := now.Sub(s.earned) / pause
	s.earned = s.earned.Add(more * pause)
	s.left = int(min(time.Duration(s.left)+more, MaxRows))
	s.began, s.start = now, s.left
}

// row returns a row of a network; nil if it is not there and no more than spare are left.
func (s *Sums) row(key rowKey, spare int) *row {
	row := s.rows[key]
	if row == nil && s.left > spare {
		s.left--
		row = s.open(key)
	}
	return row
}

// anywhere returns a row without a network; nil if it neither exists nor can be created.
func (s *Sums) anywhere(key rowKey, capacity int) *row {
	row := s.rows[key]
	if row == nil && s.wide < capacity {
		s.wide++
		row = s.open(key)
	}
	return row
}

func (s *Sums) open(key rowKey) *row {
	for _, text := range []*string{&key.kind, &key.app, &key.product, &key.route, &key.detail} {
		*text = strings.Clone(*text) // else it could keep a whole request alive
	}
	if len(s.rows) == 0 {
		select {
		case s.Begun <- struct{}{}:
		default:
		}
	}
	row := new(row)
	s.rows[key] = row
	return row
}

// Over says when the minute is over; nil if none has begun.
func (s *Sums) Over() <-chan time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rows) == 0 {
		return nil
	}
	return time.After(time.Until(s.began.Add(Every)))
}

// Take ends the minute if it is over, or if nothing follows, and returns the sums and how many
// events they are.
func (s *Sums) Take(last bool) (all []event.Event, events uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = last
	if len(s.rows) == 0 || !last && time.Since(s.began) < Every {
		return nil, 0
	}
	for key, row := range s.rows {
		if row.count > 0 {
			all = append(all, row.event(key))
		} else if key.from.IsValid() { // all of its events were records of their own
			s.left++
		}
	}
	slices.SortFunc(all, func(a, b event.Event) int { return a.At.Compare(b.At) })
	events = s.count
	clear(s.rows)
	s.wide, s.count = 0, 0
	return all, events
}

// Waiting returns how many events the rows are that were not taken.
func (s *Sums) Waiting() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

func (r *row) event(key rowKey) event.Event {
	return event.Event{
		At: r.first, Span: r.last.Sub(r.first), Count: r.count, Kind: key.kind, App: key.app, Product: key.product,
		Path: key.route, Detail: key.detail, Status: key.status, IP: nameOf(key.from),
	}
}

// nameOf writes a network as people do: one address as an address.
func nameOf(p netip.Prefix) string {
	switch {
	case !p.IsValid():
		return ""
	case p.IsSingleIP():
		return p.Addr().String()
	}
	return p.String()
}

func clientOf(e *event.Event) netip.Prefix {
	a, _ := netip.ParseAddr(e.IP)
	return network.Of(a)
}

func keyOf(e *event.Event) rowKey {
	cut := func(text string, most int) string { return text[:min(len(text), most)] }
	return rowKey{
		kind: cut(e.Kind, 64), app: cut(e.App, 192), product: cut(e.Product, 128),
		route: cut(e.Route, maxText), detail: cut(e.Detail, maxText), status: e.Status,
	}
}
