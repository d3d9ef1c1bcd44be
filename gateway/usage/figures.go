package usage

import (
	"context"
	"slices"
	"time"

	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/storage/driver"
)

// MaxPoints is the largest number of points in Figures.
const MaxPoints = 744

// FiguresQuery asks for the figures of the whole service.
type FiguresQuery struct {
	From, To time.Time // widened to whole hours or days; zero: from the beginning of the month, until now
	Daily    bool      // by UTC day; else by hour
	Product  string    // "": all
}

// Figures are the calls of all applications in a span, by hour or day.
type Figures struct {
	From, To time.Time
	Daily    bool
	Series   []Point // each hour or day of the span, ascending
	Total    Point   // of the whole span; At is From
}

// Point holds what was called in an hour or a day. The quantiles are 0 where no latency is known.
type Point struct {
	At            time.Time
	Calls, Errors int64
	P50, P95, P99 time.Duration
}

// Figures returns what was charged to all applications together, with how long it took, in one
// read of the store. Calls that other processes have not sent yet, within a second, are not in it.
func (r *Reader) Figures(ctx context.Context, q FiguresQuery) (Figures, error) {
	from, to, err := widened(q.From, q.To, q.Daily)
	if err != nil {
		return Figures{}, err
	}
	if err := r.checkProduct(q.Product); err != nil {
		return Figures{}, err
	}
	unit := time.Hour
	if q.Daily {
		unit = 24 * time.Hour
	}
	if to.Sub(from)/unit > MaxPoints {
		return Figures{}, refused("one answer has up to %d hours: ask for fewer, or by day", MaxPoints)
	}
	ask := driver.UsageQuery{AppID: ledger.By("", ledger.OfService), From: from, To: to, Daily: q.Daily}
	if q.Product != "" {
		ask.AppID = ledger.By("", ledger.OfProducts)
	}
	calls, took := ask.AppID, ledger.By("", ledger.OfLatency(q.Product))
	rows, err := r.c.SeriesOf(ctx, []string{calls, took}, ask)
	if err != nil {
		return Figures{}, err
	}
	if q.Product != "" { // which the rows of how long it took have in their AppID
		others := func(row driver.Count) bool { return row.Product != q.Product }
		rows[calls] = slices.DeleteFunc(rows[calls], others)
	}
	return figures(Figures{From: from, To: to, Daily: q.Daily}, unit, rows[calls], rows[took]), nil
}

func figures(f Figures, unit time.Duration, calls, took []driver.Count) Figures {
	n := int(f.To.Sub(f.From) / unit)
	f.Series = make([]Point, n)
	f.Total.At = f.From
	ranges, all := make([]histogram, n), histogram{}
	for i := range f.Series {
		f.Series[i].At = f.From.Add(time.Duration(i) * unit)
	}
	for _, row := range calls {
		if i := int(row.At.Sub(f.From) / unit); i >= 0 && i < n {
			f.Series[i].count(row)
			f.Total.count(row)
		}
	}
	for _, row := range took {
		at, known := ledger.RangeOf(row.Product)
		if i := int(row.At.Sub(f.From) / unit); known && i >= 0 && i < n {
			ranges[i].add(at, row.Calls)
			all.add(at, row.Calls)
		}
	}
	for i := range f.Series {
		f.Series[i].measure(&ranges[i])
	}
	f.Total.measure(&all)
	return f
}

func (p *Point) count(row driver.Count) {
	sum := driver.Count{Calls: p.Calls, Errors: p.Errors}.Plus(row)
	p.Calls, p.Errors = sum.Calls, sum.Errors
}

func (p *Point) measure(h *histogram) {
	p.P50, p.P95, p.P99 = h.quantile(0.50), h.quantile(0.95), h.quantile(0.99)
}
