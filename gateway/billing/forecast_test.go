package billing_test

import (
	"context"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/driver"
)

func TestForecastExtendsTheLastWeek(t *testing.T) {
	now := time.Date(2026, 11, 11, 0, 0, 0, 0, time.UTC) // 20 days before the month ends
	plans := billing.Plans()
	plans[1].Calls, plans[1].OverFen = 1000, 500
	for name, c := range map[string]struct {
		tier    string
		created time.Time
		days    map[int]int64 // calls, by how many days ago
		want    billing.Forecast
	}{
		"nothing": {tier: "white_label", want: billing.Forecast{}},
		"steady, within": {tier: "white_label", days: map[int]int64{1: 10, 2: 10, 3: 10, 4: 10, 5: 10, 6: 10, 7: 10},
			want: billing.Forecast{Used: 70, PerDay: 10, Expected: 270}},
		"beyond in 5 days": {tier: "white_label", days: map[int]int64{1: 700},
			want: billing.Forecast{Used: 700, PerDay: 100, Expected: 2700, Over: 1700, OverFen: 850,
				RunsOut: now.AddDate(0, 0, 3)}},
		"over already": {tier: "white_label", days: map[int]int64{1: 1400},
			want: billing.Forecast{Used: 1400, PerDay: 200, Expected: 5400, Over: 4400, OverFen: 2200, RunsOut: now}},
		"the week before": {tier: "white_label", days: map[int]int64{9: 500},
			want: billing.Forecast{Used: 500, Expected: 500}},
		"last month": {tier: "white_label", days: map[int]int64{20: 5000}, want: billing.Forecast{}},
		"made a day ago": {tier: "white_label", created: now.AddDate(0, 0, -1), days: map[int]int64{1: 20},
			want: billing.Forecast{Used: 20, PerDay: 20, Expected: 420}},
		"without a limit": {tier: "enterprise", days: map[int]int64{1: 7_000_000},
			want: billing.Forecast{Used: 7_000_000, PerDay: 1_000_000, Expected: 27_000_000}},
		"by day": {tier: "free", days: map[int]int64{1: 7_000},
			want: billing.Forecast{PerDay: 1000, Expected: 1000}},
	} {
		asked := 0
		store := &storage.Store{}
		b, err := billing.New(billing.Config{Store: store, Plans: plans,
			Usage: func(_ context.Context, q driver.UsageQuery) (rows []driver.Count, err error) {
				asked++
				for ago, calls := range c.days {
					if at := now.AddDate(0, 0, -ago); !at.Before(q.From) && at.Before(q.To) {
						rows = append(rows, driver.Count{Product: "ai", At: at, Calls: calls})
					}
				}
				return rows, nil
			}})
		if err != nil {
			t.Fatal(err)
		}
		app := storage.App{ID: "app", Tier: c.tier, CreatedAt: now.AddDate(-1, 0, 0)}
		if !c.created.IsZero() {
			app.CreatedAt = c.created
		}
		got, err := b.Forecast(t.Context(), app, now)
		c.want.Plan, c.want.ResetAt = got.Plan, now.AddDate(0, 0, 20)
		if c.tier == "free" {
			c.want.ResetAt = now.AddDate(0, 0, 1)
		}
		if err != nil || got != c.want || got.Plan.Tier != c.tier || asked != 1 ||
			(got.Plan.Calls == counters.Unlimited) != (c.tier == "enterprise") {
			t.Errorf("%s: %+v, %v by %d reads,\nwant %+v", name, got, err, asked, c.want)
		}
	}
}
