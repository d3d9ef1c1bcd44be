package ledger

import (
	"cmp"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage/driver"
)

// batch is calls that the store counts, or has counted, in one step. Once it is sealed its
// counts never change again, because the store may hold them.
type batch struct {
	id       driver.Batch
	apps     map[string]map[cell]*driver.Count
	rows     int
	segment  *segment // nil: no journal
	doubtful bool     // it has been sent, and whether the store has it is unknown
}

// cell is a row of one application.
type cell struct {
	product string
	hour    uint32
}

func newBatch(id driver.Batch) *batch {
	return &batch{id: id, apps: map[string]map[cell]*driver.Count{}}
}

func (b *batch) has(e entry) bool { return b.apps[e.app][cell{e.product, e.hour}] != nil }

// add counts an entry and reports whether that made a new row.
func (b *batch) add(e entry) bool {
	at := cell{e.product, e.hour}
	if row := b.apps[e.app][at]; row != nil {
		*row = row.Plus(driver.Count{Calls: e.calls, Errors: e.errors})
		return false
	}
	// The names may be slices of a request that must not stay in memory.
	e.app, e.product = strings.Clone(e.app), strings.Clone(e.product)
	if b.apps[e.app] == nil {
		b.apps[e.app] = map[cell]*driver.Count{}
	}
	row := e.count()
	b.apps[e.app][cell{e.product, e.hour}] = &row
	b.rows++
	return true
}

// counts is the rows in an order that all nodes share: two nodes that add to the same rows
// in opposite orders would be a deadlock in some stores.
func (b *batch) counts() []driver.Count {
	rows := make([]driver.Count, 0, b.rows)
	for _, cells := range b.apps {
		for _, row := range cells {
			rows = append(rows, *row)
		}
	}
	slices.SortFunc(rows, func(a, b driver.Count) int {
		return cmp.Or(cmp.Compare(a.AppID, b.AppID), a.At.Compare(b.At), cmp.Compare(a.Product, b.Product))
	})
	return rows
}

// calls returns the number of calls in the batch.
func (b *batch) calls() int64 {
	var sum driver.Count
	for _, row := range b.counts() {
		sum = sum.Plus(row)
	}
	return sum.Calls
}
