package usage_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/gateway/usage"
	"github.com/keystile/keystile/internal/record/ranking"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// counted is a store that counts how often it is read.
type counted struct {
	*storage.Store
	reads atomic.Int64
	wait  chan struct{} // Usage waits for it; nil: it does not
}

func (c *counted) Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
	c.reads.Add(1)
	if c.wait != nil {
		<-c.wait
	}
	return c.Store.Usage(ctx, q)
}

func (c *counted) UsageOf(ctx context.Context, apps []string, q driver.UsageQuery) ([]driver.Count, error) {
	c.reads.Add(1)
	return c.Store.UsageOf(ctx, apps, q)
}

func (c *counted) Rankings(ctx context.Context, of string, from, to time.Time) ([]ranking.Ranking, bool, error) {
	c.reads.Add(1)
	return c.Store.Rankings(ctx, of, from, to)
}

type fixture struct {
	*testing.T
	store  *counted
	ledger *ledger.Ledger
	reader *usage.Reader
	app    storage.App
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	inner, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	h := &fixture{T: t, store: &counted{Store: inner}}
	if h.ledger, err = ledger.Open(t.Context(), ledger.Config{Store: h.store, FlushEvery: time.Hour}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.ledger.Close(context.Background()) })
	money, err := billing.New(billing.Config{Store: h.store, Usage: h.ledger.Series})
	if err != nil {
		t.Fatal(err)
	}
	h.reader, err = usage.New(usage.Config{Store: h.store, Billing: money, Products: []string{"ai", "mcp"},
		Series: h.ledger.Series, SeriesOf: h.ledger.SeriesOf})
	if err != nil {
		t.Fatal(err)
	}
	if h.app, err = inner.SaveApp(t.Context(), storage.App{Name: "Shop", Domains: []string{"shop.example"}}); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *fixture) charge(n int, product string, by ledger.Detail, failed bool) {
	h.Helper()
	for range n {
		if err := h.ledger.ChargeDetailed(h.app.ID, product, by, time.Now(), failed); err != nil {
			h.Fatal(err)
		}
	}
}

func TestFiguresHaveEveryHourAndOneRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the bubble begins at 2000-01-01T00:00:00Z
		h := newFixture(t)
		h.charge(90, "mcp", ledger.Detail{Took: 15 * time.Millisecond}, false)
		h.charge(10, "ai", ledger.Detail{Took: 3 * time.Second}, true)
		time.Sleep(5 * time.Hour)
		h.charge(4, "ai", ledger.Detail{}, false)
		h.store.reads.Store(0)
		f, err := h.reader.Figures(t.Context(), usage.FiguresQuery{})
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Series) != 6 || f.Total.Calls != 104 || f.Total.Errors != 10 || h.store.reads.Load() != 1 {
			t.Fatalf("%d hours with %+v by %d reads", len(f.Series), f.Total, h.store.reads.Load())
		}
		first, none, last := f.Series[0], f.Series[3], f.Series[5]
		if first.Calls != 100 || first.P50 <= 10*time.Millisecond || first.P50 > 20*time.Millisecond ||
			first.P95 <= 2*time.Second || first.P99 > 5*time.Second {
			t.Errorf("the first hour has %+v", first)
		}
		if none != (usage.Point{At: f.From.Add(3 * time.Hour)}) {
			t.Errorf("an hour without calls has %+v", none)
		}
		if last.Calls != 4 || last.P50 != 0 {
			t.Errorf("an hour of unknown latency has %+v", last)
		}
		if f, err = h.reader.Figures(t.Context(), usage.FiguresQuery{Daily: true, Product: "ai"}); err != nil ||
			len(f.Series) != 1 || f.Total.Calls != 14 || f.Total.P50 <= 2*time.Second {
			t.Errorf("ai by day has %+v, %v", f, err)
		}
		for want, q := range map[string]usage.FiguresQuery{
			"no product":       {Product: "none"},
			"fewer, or by day": {From: time.Now().AddDate(0, 0, -31).Add(-time.Hour)},
			"32 days by hour":  {From: time.Now().AddDate(0, 0, -40)},
			"from is before":   {From: time.Now(), To: time.Now().Add(-time.Hour)},
		} {
			if _, err := h.reader.Figures(t.Context(), q); !errors.Is(err, storage.ErrInvalid) ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %q", q, err, want)
			}
		}
	})
}

// Decision 62.
func TestHoursOfTheServiceGoAndDaysStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		h.charge(5, "mcp", ledger.Detail{Took: time.Second}, false)
		from := time.Now()
		if err := h.ledger.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			days         int
			hours, daily int64
		}{{399, 5, 5}, {401, 0, 5}} {
			if _, err := h.store.Sweep(t.Context(), from.AddDate(0, 0, c.days)); err != nil {
				t.Fatal(err)
			}
			for daily, want := range map[bool]int64{false: c.hours, true: c.daily} {
				f, err := h.reader.Figures(t.Context(), usage.FiguresQuery{From: from, To: from.Add(time.Hour), Daily: daily})
				if err != nil || f.Total.Calls != want || (f.Total.P50 > 0) != (want > 0) {
					t.Errorf("after %d days, daily %t: %+v, %v, want %d calls", c.days, daily, f.Total, err, want)
				}
			}
		}
	})
}

func TestUsageOfOneApplicationAlsoOfARemovedOne(t *testing.T) {
	h := newFixture(t)
	h.charge(3, "mcp", ledger.Detail{Tool: "shop__order", User: "u1"}, true)
	h.charge(2, "ai", ledger.Detail{User: "u2"}, false)
	check := func() {
		t.Helper()
		for by, want := range map[string]string{"": "map[ai:2 mcp:3]", usage.ByUser: "map[u1:3 u2:2]",
			usage.ByTool: "map[shop__order:3]", usage.ByMember: "map[shop:3]"} {
			a, err := h.reader.Usage(t.Context(), usage.Query{ClientID: h.app.ID, By: by, Daily: true})
			if got := fmt.Sprint(a.Totals); err != nil || got != want {
				t.Errorf("by %s: %s, %v, want %s", by, got, err, want)
			}
		}
	}
	check()
	if err := h.store.DeleteApp(t.Context(), h.app, storage.Quota{}); err != nil {
		t.Fatal(err)
	}
	check()
	if _, err := h.reader.Usage(t.Context(), usage.Query{ClientID: "none"}); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("of no application: %v", err)
	}
	if _, err := h.reader.Usage(t.Context(), usage.Query{ClientID: h.app.ID, By: usage.ByUser,
		Product: "ai"}); !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("of users of a product: %v", err)
	}
}

func TestUsageByNameMakesTwoAnswersAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		h.store.wait = make(chan struct{})
		q := usage.Query{ClientID: h.app.ID, By: usage.ByUser, Account: h.app}
		for range 2 {
			go h.reader.Usage(t.Context(), q)
		}
		synctest.Wait()
		if _, err := h.reader.Usage(t.Context(), q); !errors.Is(err, usage.ErrBusy) {
			t.Errorf("the third is answered %v, want ErrBusy", err)
		}
		close(h.store.wait)
	})
}

// save stores what one process has counted of a day.
func (h *fixture) save(id string, day time.Time, floor int64, names ...any) {
	h.Helper()
	r := ranking.Ranking{ID: id, Of: usage.Apps, Day: driver.Day(day), Floor: floor}
	for i := 0; i < len(names); i += 3 {
		r.Names, r.Calls = append(r.Names, names[i].(string)), append(r.Calls, int64(names[i+1].(int)))
		r.Errors, r.Over = append(r.Errors, 0), append(r.Over, int64(names[i+2].(int)))
	}
	if _, err := h.store.SaveRanking(h.Context(), r); err != nil {
		h.Fatal(err)
	}
}

func said(top []usage.TopEntry) (out []string) {
	for _, e := range top {
		more := ""
		if e.AtLeast {
			more = "+"
		}
		out = append(out, fmt.Sprint(e.Name, " ", e.Calls, more))
	}
	return out
}

func TestTopAddsUpDaysAndNodesAndSaysWhatIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		today := time.Now()
		h.save("a", today, 0, "x", 10, 0, "y", 5, 0)
		h.save("b", today, 4, "x", 20, 0, "z", 9, 4, "w", 4, 0) // a full one: y may have up to 4 there
		h.save("c", today.AddDate(0, 0, -1), 0, "y", 100, 0)
		ask := func(days int) []string {
			top, err := h.reader.Top(t.Context(), usage.TopQuery{Of: usage.Apps, From: today.AddDate(0, 0, 1-days),
				To: today.AddDate(0, 0, 1)})
			if err != nil {
				t.Fatal(err)
			}
			return said(top)
		}
		h.store.reads.Store(0)
		if got, want := ask(1), []string{"x 30", "y 5+", "z 5+", "w 4"}; !slices.Equal(got, want) {
			t.Errorf("today is %q, want %q", got, want)
		}
		if got, want := ask(30), []string{"y 105+", "x 30", "z 5+", "w 4"}; !slices.Equal(got, want) {
			t.Errorf("a month is %q, want %q", got, want)
		}
		for range 10 {
			ask(1)
		}
		if h.store.reads.Load() != 2 {
			t.Errorf("%d reads for 12 answers of two questions, want 2", h.store.reads.Load())
		}
		h.save("d", today, 0, "new", 1000, 0)
		time.Sleep(31 * time.Second)
		if got := ask(1); got[0] != "new 1000+" {
			t.Errorf("after half a minute it is %q", got)
		}
		for _, q := range []usage.TopQuery{{Of: "ip"}, {Of: usage.Apps, From: today.AddDate(0, 0, -40)},
			{Of: usage.Apps, From: today.AddDate(0, 0, 2), To: today.AddDate(0, 0, 1)}, {Of: usage.Apps, N: -1}} {
			if _, err := h.reader.Top(t.Context(), q); !errors.Is(err, storage.ErrInvalid) {
				t.Errorf("%+v: %v, want a refusal", q, err)
			}
		}
	})
}

// The counts of this process take the place of those that it stored a minute ago.
func TestTopHasTheLastCallsOfThisProcess(t *testing.T) {
	h := newFixture(t)
	h.save("own", time.Now(), 0, "x", 10, 0)
	h.save("other", time.Now(), 0, "x", 1, 0)
	live := func(string, time.Time, time.Time) []ranking.Ranking {
		return []ranking.Ranking{{ID: "own", Names: []string{"x"}, Calls: []int64{12}, Errors: []int64{1}, Over: []int64{0}}}
	}
	money, _ := billing.New(billing.Config{Store: h.store})
	r, err := usage.New(usage.Config{Store: h.store, Billing: money, Live: live})
	if err != nil {
		t.Fatal(err)
	}
	top, err := r.Top(t.Context(), usage.TopQuery{Of: usage.Apps})
	if err != nil || len(top) != 1 || top[0] != (usage.TopEntry{Name: "x", Calls: 13, Errors: 1}) {
		t.Errorf("the top is %+v, %v", top, err)
	}
}

// The span before is counted along with it, and nothing else of the answer changes.
func TestSpanBeforeIsCountedInTheSameRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		other, err := h.store.SaveApp(t.Context(), storage.App{Name: "Other", Domains: []string{"other.example"}})
		if err != nil {
			t.Fatal(err)
		}
		for day := range 12 { // more on each, beyond the quota of 1,000 a day of the free tier on the last three
			h.charge(100*(day+1), "ai", ledger.Detail{}, day%2 == 0)
			h.charge(1, "mcp", ledger.Detail{}, false)
			time.Sleep(24 * time.Hour)
		}
		from, to := time.Now().AddDate(0, 0, -4), time.Now()
		ask := func(q usage.Query) usage.Answer {
			q.ClientID, q.From, q.To, q.Account = h.app.ID, from, to, h.app
			h.store.reads.Store(0)
			a, err := h.reader.Usage(t.Context(), q)
			if n := h.store.reads.Load(); err != nil || n != 1 {
				t.Errorf("%+v: %d reads, %v", q, n, err)
			}
			return a
		}
		for _, daily := range []bool{true, false} {
			for product, want := range map[string]int64{"": 500 + 600 + 700 + 800 + 4, "ai": 500 + 600 + 700 + 800, "mcp": 4} {
				alone := ask(usage.Query{Daily: daily, Product: product})
				both := ask(usage.Query{Daily: daily, Product: product, Before: true})
				if both.Before != want || alone.Before != 0 {
					t.Errorf("before %q, daily %v: %d calls, want %d; unasked %d", product, daily, both.Before, want, alone.Before)
				}
				sum := int64(0)
				for _, row := range both.Earlier {
					sum += row.Calls
				}
				if sum != want || len(both.Earlier) != 4 || len(alone.Earlier) != 0 {
					t.Errorf("before %q, daily %v: the days are %+v, unasked %+v", product, daily, both.Earlier, alone.Earlier)
				}
				both.Before, both.Earlier = 0, nil
				if !reflect.DeepEqual(alone, both) || product == "" && alone.Overage == 0 {
					t.Errorf("%+v is another answer than %+v", both, alone)
				}
			}
		}
		h.store.reads.Store(0)
		sums, err := h.reader.Calls(t.Context(), []string{h.app.ID, other.ID}, from, to)
		if sum := sums[h.app.ID]; err != nil || sum.Calls != 900+1000+1100+1200+4 || sum.Errors != 900+1100 ||
			len(sums) != 1 || h.store.reads.Load() != 1 {
			t.Errorf("together %+v after %d reads, %v", sums, h.store.reads.Load(), err)
		}
	})
}

// The calls of tools in the span and in the one before are one read, and each span has its own.
func TestToolsOfAMonthAndOfTheOneBeforeAreOneRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the bubble begins at 2000-01-01T00:00:00Z
		h := newFixture(t)
		for _, days := range []int{0, 29, 1, 29, 1} { // on days 0, 29, 30, 59 and 60
			time.Sleep(time.Duration(days) * 24 * time.Hour)
			h.charge(1, "mcp", ledger.Detail{Tool: "shop__order", User: "u1"}, false)
			h.charge(2, "mcp", ledger.Detail{Tool: "shop__pay", User: "u2"}, false)
		}
		from := time.Date(2000, 1, 31, 0, 0, 0, 0, time.UTC)
		for by, most := range map[string]int64{usage.ByTool: 1, usage.ByMember: 1, usage.ByUser: 5} {
			q := usage.Query{ClientID: h.app.ID, By: by, From: from, To: from.AddDate(0, 0, 30), Daily: true, Account: h.app,
				Before: true}
			h.store.reads.Store(0)
			a, err := h.reader.Usage(t.Context(), q)
			sum := int64(0)
			for _, n := range a.Totals {
				sum += n
			}
			if err != nil || a.Before != 6 || len(a.Earlier) != 2 || sum != 6 || h.store.reads.Load() > most {
				t.Errorf("by %s: %d calls, %d before, after %d reads, %v", by, sum, a.Before, h.store.reads.Load(), err)
			}
			if q.Before = false; err == nil {
				a, err = h.reader.Usage(t.Context(), q)
			}
			if err != nil || a.Before != 0 {
				t.Errorf("by %s: %d before, unasked, %v", by, a.Before, err)
			}
		}
	})
}
