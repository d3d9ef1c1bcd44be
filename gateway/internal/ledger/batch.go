package ledger

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// batch is calls that the store counts, or has counted, in one step. Once it is sealed its
// counts never change again, because the store may hold them.
type batch struct {
	id       driver.Batch
	apps     map[string]*sums
	lines    map[plain]*line // of all applications
	rows     int             // that the store gets, at most
	segment  *segment        // nil: no journal
	doubtful bool            // it has been sent, and whether the store has it is unknown
}

// sums holds what is counted of one application. Calls without a detail, which most are, have a map
// with a shorter key.
type sums struct {
	plain    map[plain]*tally
	detailed map[cell]*tally // nil: none
	watch    *atomic.Int64   // nil: nobody watches it

	newest cell   // the one that was put last, which in many applications is the one that is used
	sum    *tally // of it
}

// plain names calls without a tool, a user and an agent.
type plain struct {
	product string
	hour    uint32
}

// cell names the calls that are summed up.
type cell struct {
	product string
	tool    string // "": none
	user    string // "": none
	agent   string // "": the application
	hour    uint32 // since 1970, UTC
}

func (c *cell) isPlain() bool { return c.tool == "" && c.user == "" && c.agent == "" }

// tally holds what is counted of a cell, and the line that its calls count in too.
type tally struct {
	amount
	line *line
}

type amount struct{ calls, errors int64 }

func (a *amount) add(b amount) {
	a.calls, a.errors = saturate(a.calls, b.calls), saturate(a.errors, b.errors)
}

func saturate(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func newBatch(id driver.Batch) *batch {
	return &batch{id: id, apps: map[string]*sums{}, lines: map[plain]*line{}}
}

func (b *batch) has(e *entry) bool {
	s := b.apps[e.app]
	return s != nil && s.of(&e.cell) != nil
}

// of returns what is counted of a cell, nil if nothing is.
func (s *sums) of(c *cell) *tally {
	if s.newest == *c {
		return s.sum
	}
	if c.isPlain() {
		return s.plain[plain{c.product, c.hour}]
	}
	return s.detailed[*c]
}

// put begins to count a cell.
func (s *sums) put(c cell, first *tally) {
	s.newest, s.sum = c, first
	switch {
	case c.isPlain():
		s.plain[plain{c.product, c.hour}] = first
		return
	case s.detailed == nil:
		s.detailed = map[cell]*tally{}
	}
	s.detailed[c] = first
}

// all returns every cell with what is counted of it.
func (s *sums) all() iter.Seq2[cell, *tally] {
	return func(yield func(cell, *tally) bool) {
		for p, sum := range s.plain {
			if !yield(cell{product: p.product, hour: p.hour}, sum) {
				return
			}
		}
		for c, sum := range s.detailed {
			if !yield(c, sum) {
				return
			}
		}
	}
}

// add counts an entry and returns how many rows more the store gets for it, at most. watched is
// asked when an application is new in the batch; it may be nil.
func (b *batch) add(e *entry, watched func(app string) *atomic.Int64) (more int) {
	if e.app == "" { // how long calls took that other entries count
		l, more := b.line(plain{strings.Clone(e.product), e.hour})
		more += l.count(e.amount, e.took)
		b.rows += more
		return more
	}
	s := b.apps[e.app]
	if s == nil {
		app := strings.Clone(e.app) // names may be slices of a request that must not stay in memory
		s = &sums{plain: map[plain]*tally{}}
		if watched != nil {
			s.watch = watched(app)
		}
		b.apps[app] = s
	}
	if s.watch != nil {
		s.watch.Add(e.calls)
	}
	sum := s.of(&e.cell)
	if sum == nil {
		c := cell{strings.Clone(e.product), strings.Clone(e.tool), strings.Clone(e.user), strings.Clone(e.agent), e.hour}
		sum = &tally{}
		sum.line, more = b.line(plain{c.product, c.hour})
		s.put(c, sum)
		more += e.rows()
	}
	sum.add(e.amount)
	sum.line.add(e.amount)
	more += sum.line.count(e.amount, e.took)
	b.rows += more
	return more
}

// counts returns the rows in an order that all nodes share: two nodes that add to the same rows
// in opposite orders would be a deadlock in some stores. A batch always has the same ones.
func (b *batch) counts() []driver.Count {
	rows := make([]driver.Count, 0, b.rows)
	for app, s := range b.apps {
		for _, d := range dimensions {
			id := By(app, d)
			for c, sum := range s.all() {
				if name := c.in(d); name != "" {
					rows = append(rows, count(id, name, c.hour, sum.amount))
				}
			}
		}
	}
	for row := range b.service() {
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b driver.Count) int {
		return cmp.Or(cmp.Compare(a.AppID, b.AppID), a.At.Compare(b.At), cmp.Compare(a.Product, b.Product))
	})
	merged := rows[:0]
	for _, row := range rows {
		if n := len(merged); n > 0 && merged[n-1].AppID == row.AppID && merged[n-1].Product == row.Product &&
			merged[n-1].At.Equal(row.At) {
			merged[n-1] = merged[n-1].Plus(row)
			continue
		}
		merged = append(merged, row)
	}
	return merged
}

// answer appends the rows that answer a question. There may be several of one time and product.
func (b *batch) answer(rows []driver.Count, q driver.UsageQuery) []driver.Count {
	app, d := split(q.AppID)
	if app == "" {
		for row := range b.service() {
			if row.AppID != q.AppID {
				continue
			}
			if row, ok := answers(row, q); ok {
				rows = append(rows, row)
			}
		}
		return rows
	}
	s := b.apps[app]
	if s == nil {
		return rows
	}
	for c, sum := range s.all() {
		name := c.in(d)
		if name == "" {
			continue
		}
		if row, ok := answers(count(q.AppID, name, c.hour, sum.amount), q); ok {
			rows = append(rows, row)
		}
	}
	return rows
}

func count(app, product string, hour uint32, sum amount) driver.Count {
	return driver.Count{AppID: app, Product: product, At: time.Unix(int64(hour)*3600, 0).UTC(), Calls: sum.calls,
		Errors: sum.errors}
}

// parts returns what the batch holds. It is sealed.
func (b *batch) parts() iter.Seq[Call] {
	return func(yield func(Call) bool) {
		for app, s := range b.apps {
			for c, sum := range s.all() {
				at := time.Unix(int64(c.hour)*3600, 0).UTC()
				if !yield(Call{App: app, Product: c.product, Tool: c.tool, User: c.user, Agent: c.agent, At: at,
					Calls: sum.calls, Errors: sum.errors}) {
					return
				}
			}
		}
	}
}

// entries returns what a journal of the batch holds, summed up.
func (b *batch) entries() []entry {
	var all []entry
	for _, app := range slices.Sorted(maps.Keys(b.apps)) {
		for c, sum := range b.apps[app].all() {
			all = append(all, entry{app: app, cell: c, amount: sum.amount})
		}
	}
	return append(all, b.timed()...)
}

// calls returns the number of calls in the batch.
func (b *batch) calls() int64 {
	var all amount
	for _, s := range b.apps {
		for _, sum := range s.all() {
			all.add(sum.amount)
		}
	}
	return all.calls
}
