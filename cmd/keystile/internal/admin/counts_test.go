package admin

import (
	"context"
	"strings"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/storage"
)

// abacus counts as it is told, and differently each time while others write.
type abacus struct {
	counted, there storage.Counts
	writes         int // how many of the first counts another writer comes between
	asked          int
}

func (a *abacus) Counts(context.Context) (storage.Counts, error) {
	c := a.counted
	if a.asked++; a.asked <= 2*a.writes {
		c.Users += int64(a.asked)
	}
	return c, nil
}

func (a *abacus) Recount(context.Context) (storage.Counts, error) { return a.there, nil }

func TestCountersThatDisagreeAreFoundAlsoWhileOthersWrite(t *testing.T) {
	there := storage.Counts{Users: 7, Apps: 4, OpenOrders: 1}
	right, wrong, old := there, there, there
	right.Whole, wrong.Whole = true, true
	wrong.Apps, wrong.OpenOrders, old.Users = 5, 0, 3
	for name, c := range map[string]struct {
		abacus
		state State
		says  string
	}{
		"they agree":        {abacus{counted: right, there: there}, Safe, "as many users"},
		"after some writes": {abacus{counted: right, there: there, writes: 3}, Safe, "as many users"},
		"they do not": {abacus{counted: wrong, there: there}, Unsafe,
			"5 applications are counted and 4 are there, 0 open orders are counted and 1 are there"},
		"nor after writes":    {abacus{counted: wrong, there: there, writes: 2}, Unsafe, "5 applications"},
		"always changing":     {abacus{counted: right, there: there, writes: 9}, Unknown, "so much is written"},
		"not counted yet":     {abacus{counted: old, there: there}, Noted, "3 users are counted and 7 are there"},
		"all is counted, yet": {abacus{counted: there, there: there}, Safe, ""},
	} {
		f := CheckCounters(t.Context(), &c.abacus)
		if f.State != c.state || !strings.Contains(f.Says, c.says) || (f.Do == "") != (f.State == Safe) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestServerComparesItsCounters(t *testing.T) {
	o := newOffice(t)
	o.app() // there is a folder then
	conf := &config.Config{Data: o.data}
	if f, served := servedCounters(t.Context(), conf); served {
		t.Errorf("without a server there is %+v", f)
	}
	o.serve()
	if f, served := servedCounters(t.Context(), conf); !served || f.Name != "counters" || f.State != Safe {
		t.Errorf("the server says %t %+v", served, f)
	}
}
