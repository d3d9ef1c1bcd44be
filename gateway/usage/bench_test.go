package usage_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/gateway/usage"
	"github.com/keystile/keystile/internal/record/ranking"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
)

// BenchmarkFigures and BenchmarkTop read what a busy month of five products, three processes and a
// million applications leaves: 31 days, with calls in each range of latency in each hour.
func BenchmarkFigures(b *testing.B) {
	r, _, now := month(b)
	for name, q := range map[string]usage.FiguresQuery{
		"a day by hour":   {From: now.AddDate(0, 0, -1), To: now},
		"a month by hour": {From: now.AddDate(0, 0, -31), To: now},
		"a month by day":  {From: now.AddDate(0, 0, -31), To: now, Daily: true},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if f, err := r.Figures(b.Context(), q); err != nil || f.Total.Calls == 0 {
					b.Fatal(f.Total, err)
				}
			}
		})
	}
}

func BenchmarkTop(b *testing.B) {
	_, make, now := month(b)
	for _, days := range []int{1, 30} {
		b.Run(fmt.Sprint(days, " days"), func(b *testing.B) {
			for b.Loop() {
				top, err := make().Top(b.Context(), usage.TopQuery{Of: usage.Apps, From: now.AddDate(0, 0, -days), To: now})
				if err != nil || len(top) != 10 {
					b.Fatal(top, err)
				}
			}
		})
	}
}

func month(b *testing.B) (*usage.Reader, func() *usage.Reader, time.Time) {
	b.Helper()
	backend, err := bolt.Open(filepath.Join(b.TempDir(), "keystile.db"), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { backend.Close() })
	store, err := storage.Open(b.Context(), backend, storage.NewMasterKey())
	if err != nil {
		b.Fatal(err)
	}
	now := driver.Day(time.Now())
	var rows []driver.Count
	for hour := range 31 * 24 {
		at := now.Add(time.Duration(hour-31*24) * time.Hour)
		for _, product := range []string{"", "ai", "mcp", "identity", "payment", "storage"} {
			for i := range ledger.Ranges {
				name := "beyond"
				if i < len(ledger.Bounds) {
					name = fmt.Sprintf("%06d", ledger.Bounds[i].Milliseconds())
				}
				rows = append(rows, driver.Count{AppID: ledger.By("", ledger.OfLatency(product)), Product: name, At: at, Calls: 1})
			}
			rows = append(rows, driver.Count{AppID: ledger.By("", ledger.OfProducts), Product: product + "x", At: at, Calls: 17})
		}
		rows = append(rows, driver.Count{AppID: ledger.By("", ledger.OfService), Product: ledger.All, At: at, Calls: 100})
		if hour%24 == 23 {
			if err := store.Count(b.Context(), driver.Batch{Node: "n", Seq: uint64(hour + 1)}, rows); err != nil {
				b.Fatal(err)
			}
			rows = nil
		}
	}
	for day := range 31 {
		for node := range 3 {
			r := ranking.Ranking{ID: fmt.Sprint(day, "-", node), Of: ranking.Apps, Day: now.AddDate(0, 0, -day-1), Floor: 1}
			for i := range ranking.MaxNames {
				r.Names, r.Calls = append(r.Names, fmt.Sprintf("ks0123456789abcdef%04d", i+day)),
					append(r.Calls, int64(100_000/(i+1)))
				r.Errors, r.Over = append(r.Errors, 1), append(r.Over, int64(i))
			}
			if _, err := store.SaveRanking(b.Context(), r); err != nil {
				b.Fatal(err)
			}
		}
	}
	money, err := billing.New(billing.Config{Store: store})
	if err != nil {
		b.Fatal(err)
	}
	fresh := func() *usage.Reader {
		r, err := usage.New(usage.Config{Store: store, Billing: money})
		if err != nil {
			b.Fatal(err)
		}
		return r
	}
	return fresh(), fresh, now
}
