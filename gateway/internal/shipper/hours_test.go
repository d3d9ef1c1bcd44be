package shipper_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/gateway/internal/shipper"
	"github.com/keystile/keystile/gateway/stream"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// marking is a store that marks accounts before it counts them, as a process that ships usage has.
type marking struct {
	*storage.Store
	marker *shipper.Marker
}

func (m marking) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error {
	return m.marker.Count(ctx, b, counts)
}

// meter is a process that counts.
type meter struct {
	*ledger.Ledger
	store *storage.Store
	truth map[string]int64 // calls by hour, account, dimension and name
}

func newMeter(t *testing.T) *meter {
	t.Helper()
	m := &meter{store: openStore(t, memory.New(), storage.NewMasterKey()), truth: map[string]int64{}}
	m.open(t)
	t.Cleanup(func() { m.Close(context.Background()) })
	return m
}

func (m *meter) open(t *testing.T) {
	t.Helper()
	var err error
	if m.Ledger, err = ledger.Open(t.Context(), ledger.Config{Store: marking{m.store, &shipper.Marker{Counts: m.store}},
		Log: quiet}); err != nil {
		t.Fatal(err)
	}
}

// call charges a call of an account, at a time, perhaps with a tool.
func (m *meter) call(t *testing.T, account, product, tool string, at time.Time) {
	t.Helper()
	if err := m.ChargeDetailed(account, product, ledger.Detail{Tool: tool, User: "u1"}, at, false); err != nil {
		t.Fatal(err)
	}
	hour := at.UTC().Format("2006-01-02T15")
	m.truth[fmt.Sprint(hour, " ", account, " product ", product)]++
	if tool != "" {
		m.truth[fmt.Sprint(hour, " ", account, " tool ", tool)]++
	}
}

func followUsage(t *testing.T, store shipper.UsageStore, k *bucket) (f *shipper.Follower, stop func()) {
	t.Helper()
	f = shipper.FollowUsage(store, stream.Config{Target: k, MaxBytes: 3000}, quiet)
	return f, run(f)
}

// tables does what a consumer does: of the lines of a row the one with the most calls counts, and of an hour
// the last line.
func (k *bucket) tables(t *testing.T) (rows map[string]int64, hours map[string]line) {
	t.Helper()
	rows, hours = map[string]int64{}, map[string]line{}
	ids := map[string]string{}
	for _, l := range k.lines(t) {
		hour := l.Hour.UTC().Format("2006-01-02T15")
		switch l.Stream {
		case stream.Usage:
			if was, known := ids[l.ID]; known && was != l.text {
				t.Errorf("the id %s has two lines:\n%s\n%s", l.ID, was, l.text)
			}
			ids[l.ID] = l.text
			row := fmt.Sprint(hour, " ", l.Account, " ", l.By, " ", l.Name)
			rows[row] = max(rows[row], l.Calls)
		case "usage.hour":
			hours[hour] = l
		default:
			t.Errorf("a line of usage is %s", l.text)
		}
	}
	return rows, hours
}

func (m *meter) same(t *testing.T, k *bucket) {
	t.Helper()
	rows, hours := k.tables(t)
	if !maps.Equal(rows, m.truth) {
		t.Errorf("the rows are\n%v\nwant\n%v", rows, m.truth)
	}
	for name, h := range hours {
		if h.Calls != h.Accounts {
			t.Errorf("hour %s has %d calls, and those of accounts are %d", name, h.Calls, h.Accounts)
		}
	}
}

func TestHourOfUsageIsShippedWhenItIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, k := newMeter(t), &bucket{}
		f, stop := followUsage(t, m.store, k)
		defer stop()
		pass(time.Minute)
		if err := m.Charge("app1", "ai", time.Now(), false); err != nil { // it begins with the next whole hour
			t.Fatal(err)
		}
		pass(time.Hour - time.Minute)
		begin := time.Now()
		m.call(t, "app1", "ai", "", begin)
		m.call(t, "app1", "ai", "", begin)
		m.call(t, "app1", "mcp", "shop__order", begin)
		m.call(t, "keystile-apikeys u1", "mcp", "shop__order", begin)
		pass(time.Hour + time.Minute)
		if len(k.keys()) != 0 {
			t.Errorf("a minute behind its end an hour is shipped: %q", k.keys())
		}
		pass(5 * time.Minute)
		m.same(t, k)
		hour := begin.UTC().Format("2006/01/02/15")
		if want := []string{"usage/" + hour + "-001-00001"}; !slices.Equal(k.keys(), want) {
			t.Errorf("the batches are %q, want %q", k.keys(), want)
		}
		_, hours := k.tables(t)
		if h := hours[begin.UTC().Format("2006-01-02T15")]; h.Calls != 4 || h.Rows != 5 || h.Revision != 1 {
			t.Errorf("the hour is %+v", h)
		}
		for _, l := range k.lines(t) {
			if l.Account == "keystile-apikeys u1" && l.ClientID != "keystile-apikeys" {
				t.Errorf("client_id is %q", l.ClientID)
			}
		}
		if s := f.Stats(); s.Behind != 0 || s.Age != 0 || s.Lines != 6 {
			t.Errorf("its state is %+v", s)
		}
	})
}

func TestCallsThatComeLateMakeAnotherRevision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, k := newMeter(t), &bucket{}
		_, stop := followUsage(t, m.store, k)
		defer stop()
		pass(time.Hour)
		begin := time.Now()
		for i := range 40 {
			m.call(t, fmt.Sprint("app", i), "ai", "", begin)
		}
		pass(2 * time.Hour)
		if len(k.keys()) < 2 {
			t.Errorf("40 rows are the batches %q, want several", k.keys())
		}
		pass(20 * 24 * time.Hour) // a node was away for so long
		m.call(t, "app3", "ai", "", begin)
		m.call(t, "late", "mcp", "shop__order", begin)
		pass(2 * time.Minute)
		m.same(t, k)
		_, hours := k.tables(t)
		if h := hours[begin.UTC().Format("2006-01-02T15")]; h.Revision != 2 || h.Calls != 42 {
			t.Errorf("the hour is %+v", h)
		}
		before := k.tries()
		pass(100 * time.Hour)
		if k.tries() != before {
			t.Errorf("%d batches without a call", k.tries()-before)
		}
	})
}

// Calls fail and processes end anywhere, and the target has each row as the store has it.
func TestUsageStreamMissesNoRowWhateverFails(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { failUsageAnywhere(t, newDice(seed)) })
		})
	}
}

func failUsageAnywhere(t *testing.T, dice *rand.Rand) {
	m, k := newMeter(t), &bucket{}
	calm := false
	fate := func() (done bool, err error) {
		if calm || dice.IntN(3) > 0 {
			return true, nil
		}
		return dice.IntN(2) == 0, errAway
	}
	k.fail = func(stream.Batch) (bool, error) { return fate() }
	_, stop := followUsage(t, m.store, &bucket{}) // it begins
	pass(time.Hour)
	stop()
	for range 8 {
		_, stop := followUsage(t, &faulty{m.store, fate}, k)
		for range dice.IntN(60) {
			back := time.Duration(dice.IntN(3)) * time.Hour
			if at := time.Now().Add(-back); !at.Before(begunOf(t, m.store)) {
				m.call(t, fmt.Sprint("app", dice.IntN(30)), "mcp", []string{"", "shop__order"}[dice.IntN(2)], at)
			}
		}
		pass(time.Duration(dice.IntN(4*3600)) * time.Second)
		stop()
		if dice.IntN(3) == 0 {
			if err := m.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			m.open(t)
		}
	}
	calm = true
	_, stop = followUsage(t, m.store, k)
	pass(3 * time.Hour)
	stop()
	m.same(t, k)
	if len(m.truth) == 0 {
		t.Error("nobody called")
	}
}

func begunOf(t *testing.T, store *storage.Store) time.Time {
	t.Helper()
	at, err := store.Stream(t.Context(), "usage bucket")
	if err != nil {
		t.Fatal(err)
	}
	return at.Begun
}

// A process that does not mark accounts counts calls that nobody can list: the hour says so.
func TestCallsOfUnknownAccountsAreSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, k := newMeter(t), &bucket{}
		_, stop := followUsage(t, m.store, k)
		defer stop()
		pass(time.Hour)
		old, err := ledger.Open(t.Context(), ledger.Config{Store: m.store, Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		defer old.Close(context.Background())
		begin := time.Now()
		m.call(t, "app1", "ai", "", begin)
		if err := old.Charge("app2", "ai", begin, false); err != nil {
			t.Fatal(err)
		}
		pass(2 * time.Hour)
		_, hours := k.tables(t)
		if h := hours[begin.UTC().Format("2006-01-02T15")]; h.Calls != 2 || h.Accounts != 1 {
			t.Errorf("the hour is %+v", h)
		}
	})
}
