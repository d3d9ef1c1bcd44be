package storagetest

import (
	"slices"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// metering are promises of a driver.Meters. A Backend that is none keeps them by not being asked.
func metering() []promise {
	return []promise{
		{name: "several applications are answered as each of them is, in the order of their ids and once",
			test: usageOfSeveral},
	}
}

func usageOfSeveral(t testing.TB, b driver.Backend) {
	m, ok := driver.As[driver.Meters](b)
	if !ok {
		return
	}
	first := driver.Hour(at(1))
	var counts []driver.Count
	for i, app := range []string{"b", "a", "ab", "a\x1fx", ""} {
		for hour := range 3 {
			for _, product := range []string{"y", "x"} {
				counts = append(counts, driver.Count{AppID: app, Product: product, At: first.Add(time.Duration(hour) * time.Hour),
					Calls: int64(i + 1), Errors: int64(hour)})
			}
		}
	}
	want(t, "Count(counts)", b.Count(t.Context(), driver.Batch{Node: "n", Seq: 1}, counts), nil)
	for _, q := range []driver.UsageQuery{
		{From: first, To: first.Add(2 * time.Hour)},
		{From: driver.Day(first), To: driver.Day(first).AddDate(0, 0, 2), Daily: true},
		{From: first, To: first.Add(9 * time.Hour), Product: "x"}, {From: first, To: first},
	} {
		var all []driver.Count
		for _, q.AppID = range []string{"", "a", "b", "nobody"} {
			rows, err := b.Usage(t.Context(), q)
			want(t, "Usage(q)", err, nil)
			all = append(all, rows...)
		}
		q.AppID = "ab" // says nothing
		got, err := m.UsageOf(t.Context(), []string{"nobody", "b", "a", "", "b"}, q)
		want(t, "UsageOf(apps, q)", err, nil)
		if !slices.EqualFunc(got, all, func(a, b driver.Count) bool {
			return a.AppID == b.AppID && a.Product == b.Product && same(a.At, b.At) && a.Calls == b.Calls && a.Errors == b.Errors
		}) {
			t.Errorf("UsageOf(apps, %+v) = %+v, want %+v", q, got, all)
		}
	}
	got, err := m.UsageOf(t.Context(), nil, driver.UsageQuery{From: first, To: first.Add(time.Hour)})
	if want(t, "UsageOf(none)", err, nil); len(got) > 0 {
		t.Errorf("UsageOf(none) = %+v", got)
	}
}
