package ledger

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// many is a store that reads the usage of several applications at once.
type many struct {
	*faulty
	asked int
}

func (m *many) UsageOf(ctx context.Context, apps []string, q driver.UsageQuery) (all []driver.Count, err error) {
	m.asked++
	for _, q.AppID = range apps {
		rows, err := m.Usage(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// A reading of several applications has the series of each: stored and not yet stored calls, once.
func TestSeriesOfSeveralApplicationsAreThoseOfEach(t *testing.T) {
	one, several := newStore(), &many{faulty: newStore()}
	for _, s := range []Store{one, several} {
		l := opened(t, Config{Store: s, FlushEvery: time.Hour})
		apps := []string{"a", "b", "c", "nobody"}
		work := func() {
			for i, app := range apps[:3] {
				for range i + 1 {
					l.Charge(app, "ai", noon, i == 1)
				}
			}
		}
		check := func(when string) {
			t.Helper()
			all, err := l.SeriesOf(t.Context(), apps, always(""))
			if err != nil || len(all) != len(apps) {
				t.Fatal(when, all, err)
			}
			for _, app := range apps {
				if want, err := l.Series(t.Context(), always(app)); err != nil || !slices.Equal(all[app], want) {
					t.Errorf("%s: %s has %v, want %v, %v", when, app, all[app], want, err)
				}
			}
			if len(all["c"]) != 1 || len(all["nobody"]) != 0 {
				t.Errorf("%s: %v", when, all)
			}
		}
		work()
		check("nothing is stored")
		if _, err := l.send(t.Context()); err != nil {
			t.Fatal(err)
		}
		check("all is stored")
		work()
		check("some is stored")
		lost := errors.New("the answer is lost")
		store := one
		if s == Store(several) {
			store = several.faulty
		}
		store.setFaults(nil, lost)
		l.send(t.Context())
		store.setFaults(nil, nil)
		check("the answer of the last batch was lost")
	}
	if several.asked == 0 {
		t.Error("the store was not asked for all at once")
	}
}
