package ledger

import (
	"iter"

	"github.com/keystile/keystile/storage/driver"
)

// Dimensions of the whole service, under the application "", which no call is charged to: see By.
const (
	OfService  Dimension = "by:service" // one row, named All, of all calls of all applications
	OfProducts Dimension = "by:product" // all applications' calls by product
	ofLatency  Dimension = "by:latency" // the calls of all applications by how long they took
)

// All is the Product of the rows of OfService.
const All = "all"

// OfLatency is the Dimension in which all applications' calls of a product, or of all of them (""),
// are counted by how long they took: a row for each range of Bounds, named as RangeOf reads it.
func OfLatency(product string) Dimension {
	if product == "" {
		return ofLatency
	}
	return ofLatency + border + Dimension(product)
}

// line holds what is counted of a product in an hour, over all applications.
type line struct {
	amount
	took [Ranges]amount // by range, calls whose latency is not known left out
}

// serviceRow is one row of the whole service.
type serviceRow struct {
	d    Dimension
	name string
	amount
}

// rows returns the rows that a line adds to.
func (l *line) rows(product string) iter.Seq[serviceRow] {
	return func(yield func(serviceRow) bool) {
		if l.calls > 0 && (!yield(serviceRow{OfService, All, l.amount}) ||
			!yield(serviceRow{OfProducts, product, l.amount})) {
			return
		}
		for i, took := range l.took {
			name := spanNames[i+1]
			if took.calls > 0 && (!yield(serviceRow{OfLatency(""), name, took}) ||
				!yield(serviceRow{OfLatency(product), name, took})) {
				return
			}
		}
	}
}

// count adds calls that took so long to a line, and returns how many rows more the store gets.
func (l *line) count(a amount, took span) (more int) {
	if took == 0 {
		return 0
	}
	sum := &l.took[took-1]
	if sum.calls == 0 {
		more = 2
	}
	sum.add(a)
	return more
}

// line returns the line of a product in an hour, and how many rows it adds if it is new.
func (b *batch) line(p plain) (l *line, more int) {
	if l = b.lines[p]; l == nil {
		l, more = &line{}, 2
		b.lines[p] = l
	}
	return l, more
}

// service returns the rows of the whole service.
func (b *batch) service() iter.Seq[driver.Count] {
	return func(yield func(driver.Count) bool) {
		for p, l := range b.lines {
			for r := range l.rows(p.product) {
				if !yield(count(By("", r.d), r.name, p.hour, r.amount)) {
					return
				}
			}
		}
	}
}

// timed returns the entries of a journal that hold how long the calls of a batch took.
func (b *batch) timed() (all []entry) {
	for p, l := range b.lines {
		for i, took := range l.took {
			if took.calls > 0 {
				all = append(all, entry{cell: cell{product: p.product, hour: p.hour}, amount: took, took: span(i + 1)})
			}
		}
	}
	return all
}
