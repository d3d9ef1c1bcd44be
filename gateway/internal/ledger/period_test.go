package ledger

import (
	"math"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
)

func TestAQuotaStartsAgainAtTheBoundariesOfUTC(t *testing.T) {
	const day, month = storage.TierFree, storage.TierWhiteLabel
	for _, c := range []struct{ tier, at, from, to string }{
		{day, "2026-08-01T00:00:00Z", "2026-08-01T00:00:00Z", "2026-08-02T00:00:00Z"},
		{day, "2026-08-01T23:59:59.999999999Z", "2026-08-01T00:00:00Z", "2026-08-02T00:00:00Z"},
		{day, "2026-08-02T07:59:00+08:00", "2026-08-01T00:00:00Z", "2026-08-02T00:00:00Z"},
		{day, "2026-12-31T12:00:00Z", "2026-12-31T00:00:00Z", "2027-01-01T00:00:00Z"},
		{day, "2028-02-28T12:00:00Z", "2028-02-28T00:00:00Z", "2028-02-29T00:00:00Z"},
		{month, "2026-08-01T00:00:00Z", "2026-08-01T00:00:00Z", "2026-09-01T00:00:00Z"},
		{month, "2026-08-31T23:59:59.999999999Z", "2026-08-01T00:00:00Z", "2026-09-01T00:00:00Z"},
		{month, "2026-09-01T07:59:00+08:00", "2026-08-01T00:00:00Z", "2026-09-01T00:00:00Z"},
		{month, "2026-12-15T12:00:00Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{month, "2026-01-31T12:00:00Z", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"},
		{storage.TierEnterprise, "2026-02-28T12:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"},
	} {
		at, _ := time.Parse(time.RFC3339Nano, c.at)
		p := PeriodOf(c.tier, at)
		if from, to := p.From.Format(time.RFC3339), p.To.Format(time.RFC3339); from != c.from || to != c.to {
			t.Errorf("PeriodOf(%s, %s) = %s to %s, want %s to %s", c.tier, c.at, from, to, c.from, c.to)
		}
	}
}

func TestWhatRemainsStopsAtZero(t *testing.T) {
	for _, c := range []struct{ limit, used, want int64 }{
		{1000, 0, 1000}, {1000, 1, 999}, {1000, 999, 1}, {1000, 1000, 0}, {1000, 1001, 0},
		{1000, math.MaxInt64, 0}, {math.MaxInt64, 0, math.MaxInt64}, {1000, math.MinInt64, 1000},
		{0, 0, 0}, {Unlimited, 0, Unlimited}, {Unlimited, math.MaxInt64, Unlimited},
	} {
		if got := Remaining(c.limit, c.used); got != c.want {
			t.Errorf("Remaining(%d, %d) = %d, want %d", c.limit, c.used, got, c.want)
		}
	}
}

// Entry 26 of the decisions.
func TestOverageIsWhatEachDayExceeds(t *testing.T) {
	day := func(d int, product string, calls int64) storage.Count {
		return storage.Count{Product: product, At: time.Date(2026, 8, d, 0, 0, 0, 0, time.UTC), Calls: calls}
	}
	for name, c := range map[string]struct {
		days  []storage.Count
		limit int64
		want  int64
	}{
		"no day":                        {nil, 1000, 0},
		"the limit":                     {[]storage.Count{day(1, "ai", 1000)}, 1000, 0},
		"one more":                      {[]storage.Count{day(1, "ai", 1001)}, 1000, 1},
		"a quiet day helps no loud one": {[]storage.Count{day(1, "ai", 1500), day(2, "ai", 0), day(3, "ai", 1200)}, 1000, 700},
		"products of a day add up":      {[]storage.Count{day(1, "ai", 600), day(2, "ai", 600), day(1, "mcp", 600)}, 1000, 200},
		"no limit":                      {[]storage.Count{day(1, "ai", 1500)}, Unlimited, 0},
		"the largest numbers":           {[]storage.Count{day(1, "ai", math.MaxInt64), day(1, "mcp", 1), day(2, "ai", math.MaxInt64)}, 0, math.MaxInt64},
	} {
		if got := Overage(c.days, c.limit); got != c.want {
			t.Errorf("%s: Overage() = %d, want %d", name, got, c.want)
		}
	}
}
