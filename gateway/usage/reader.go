package usage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/internal/record/ranking"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// ErrBusy is returned while too many answers by name are being made: try again shortly.
var ErrBusy = errors.New("usage: too many such answers are being made: try again shortly")

// Store holds the methods of storage that this package uses; *storage.Store has it.
type Store interface {
	Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error)
	UsageOf(ctx context.Context, apps []string, q driver.UsageQuery) ([]driver.Count, error)
	Rankings(ctx context.Context, of string, from, to time.Time) (all []ranking.Ranking, more bool, err error)
}

// Config holds what New needs.
type Config struct {
	Store    Store            // required
	Billing  *billing.Billing // required
	Products []string         // that there are; nil: any

	// Series returns rows of usage; nil: the Store's. A running gateway's own include the last calls
	// too.
	Series func(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error)

	// SeriesOf is Series of several applications in one read, by application; nil: each is read by Series.
	SeriesOf func(ctx context.Context, apps []string, q driver.UsageQuery) (map[string][]driver.Count, error)

	// Live returns what this process counts and has not stored; nil: nothing.
	Live func(of string, from, to time.Time) []ranking.Ranking
}

// Reader reads usage. It is used by many goroutines at once.
type Reader struct {
	c       Config
	summing chan struct{} // held while summing up usage by name
	tops    tops
}

// New makes a Reader.
func New(c Config) (*Reader, error) {
	if c.Store == nil || c.Billing == nil {
		return nil, errors.New("usage: Store or Billing is missing")
	}
	if c.Series == nil {
		c.Series, c.SeriesOf = c.Store.Usage, ledger.InOne(c.Store.UsageOf)
	}
	if c.SeriesOf == nil {
		c.SeriesOf = ledger.OneByOne(c.Series)
	}
	if c.Live == nil {
		c.Live = func(string, time.Time, time.Time) []ranking.Ranking { return nil }
	}
	return &Reader{c: c, summing: make(chan struct{}, summers)}, nil
}

// Spans that one answer covers at most.
const (
	MaxDays  = 400 * 24 * time.Hour
	MaxHours = 32 * 24 * time.Hour
)

// refused returns an error that tells who asked what is wrong; it wraps storage.ErrInvalid.
func refused(format string, a ...any) error { return &refusal{fmt.Sprintf(format, a...)} }

// refusal is an error for people: it is shown as it is.
type refusal struct{ text string }

func (e *refusal) Error() string { return e.text }
func (e *refusal) Unwrap() error { return storage.ErrInvalid }

// widened widens a span to whole hours or days. A zero from is the beginning of the month, a zero to
// is now.
func widened(from, to time.Time, daily bool) (time.Time, time.Time, error) {
	unit, most, now := time.Hour, MaxHours, time.Now().UTC()
	if daily {
		unit, most = 24*time.Hour, MaxDays
	}
	if from.IsZero() {
		from, _ = billing.ParseMonth("", now)
	}
	if to.IsZero() {
		to = now.Add(1) // this hour is in it from its first moment on
	}
	from, to = from.UTC().Truncate(unit), to.UTC()
	if cut := to.Truncate(unit); cut.Before(to) {
		to = cut.Add(unit)
	}
	switch {
	case !from.Before(to):
		return from, to, refused("from is before to; to itself is not in the answer")
	case to.Sub(from) > most:
		return from, to, refused("one answer covers up to 400 days by day, or 32 days by hour: ask in several steps")
	}
	return from, to, nil
}

// checkProduct returns an error for a product that there is not.
func (r *Reader) checkProduct(name string) error {
	if name != "" && r.c.Products != nil && !slices.Contains(r.c.Products, name) {
		return refused("%.40q is no product here", name)
	}
	return nil
}
