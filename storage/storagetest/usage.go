package storagetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

func counting() []promise {
	return []promise{
		{name: "a count adds to the row of its UTC hour and to the row of its UTC day", test: hourAndDay},
		{name: "batches add up, and so do counts of one row within a batch", test: addUp},
		{name: "a batch seen before is answered nil and changes nothing", test: func(t testing.TB, b driver.Backend) {
			count(t, b, "node", 1, calls("ai", at(0), 1))
			count(t, b, "node", 1, calls("ai", at(0), 10), calls("mcp", at(0), 10))
			usage(t, b, hours("app"), calls("ai", driver.Hour(at(0)), 1))
			usage(t, b, days("app"), calls("ai", driver.Day(at(0)), 1))
		}},
		{name: "a batch below the highest of its node was seen before, whatever was left out",
			test: func(t testing.TB, b driver.Backend) {
				count(t, b, "node", 7, calls("ai", at(0), 1))
				count(t, b, "node", 6, calls("ai", at(0), 10))
				count(t, b, "node", 1, calls("ai", at(0), 100))
				count(t, b, "node", 8, calls("ai", at(0), 1000))
				usage(t, b, hours("app"), calls("ai", driver.Hour(at(0)), 1001))
			}},
		{name: "nodes number their batches independently", test: func(t testing.TB, b driver.Backend) {
			for i, node := range []string{"a", "A", "a1", "é"} {
				count(t, b, node, uint64(9-i), calls("ai", at(0), 1))
			}
			usage(t, b, hours("app"), calls("ai", driver.Hour(at(0)), 4))
		}},
		{name: "16 nodes that count at once lose nothing", test: countRace},
		{name: "one batch sent 16 times at once counts once", test: func(t testing.TB, b driver.Backend) {
			allNil(t, "Count(batch)", together(16, func(int) error {
				return b.Count(t.Context(), driver.Batch{Node: "node", Seq: 3}, []driver.Count{calls("ai", at(0), 1)})
			}))
			usage(t, b, hours("app"), calls("ai", driver.Hour(at(0)), 1))
		}},
	}
}

// calls is a count of application "app", with one error in ten.
func calls(product string, moment time.Time, n int64) driver.Count {
	return driver.Count{AppID: "app", Product: product, At: moment, Calls: n, Errors: n / 10}
}

func count(t testing.TB, b driver.Backend, node string, seq uint64, counts ...driver.Count) {
	t.Helper()
	err := b.Count(t.Context(), driver.Batch{Node: node, Seq: seq}, counts)
	want(t, fmt.Sprintf("Count(%s %d)", node, seq), err, nil)
}

// hours and days ask for everything of an application.
func hours(app string) driver.UsageQuery {
	return driver.UsageQuery{AppID: app, From: at(0).AddDate(-1, 0, 0), To: at(0).AddDate(1, 0, 0)}
}

func days(app string) driver.UsageQuery {
	q := hours(app)
	q.Daily = true
	return q
}

// usage checks that a question is answered with these rows, in this order.
func usage(t testing.TB, b driver.Backend, q driver.UsageQuery, rows ...driver.Count) {
	t.Helper()
	got, err := b.Usage(t.Context(), q)
	want(t, "Usage(question)", err, nil)
	if !slices.EqualFunc(got, rows, sameCount) {
		t.Fatalf("Usage(%+v) =\n%+v, want\n%+v", q, got, rows)
	}
}

func sameCount(got, put driver.Count) bool {
	moment := put.At
	put.At = got.At
	return got == put && same(got.At, moment)
}

func hourAndDay(t testing.TB, b driver.Backend) {
	count(t, b, "node", 1,
		calls("ai", abroad(at(0)), 10),      // 12:00, and 20:00 elsewhere
		calls("ai", abroad(at(59)), 20),     // 12:59
		calls("ai", abroad(at(60)), 40),     // 13:00
		calls("ai", abroad(at(11*60)), 80),  // 23:00, and the next day elsewhere
		calls("ai", abroad(at(12*60)), 160), // 0:00 of the next day
		calls("ai", driver.Day(at(0)), 320)) // 0:00
	day := driver.Day(at(0))
	usage(t, b, hours("app"),
		calls("ai", day, 320), calls("ai", day.Add(12*time.Hour), 30), calls("ai", day.Add(13*time.Hour), 40),
		calls("ai", day.Add(23*time.Hour), 80), calls("ai", day.AddDate(0, 0, 1), 160))
	usage(t, b, days("app"), calls("ai", day, 470), calls("ai", day.AddDate(0, 0, 1), 160))
}

func addUp(t testing.TB, b driver.Backend) {
	count(t, b, "node", 1, calls("ai", at(0), 10), calls("mcp", at(1), 20), calls("ai", at(2), 40))
	count(t, b, "node", 2, calls("ai", at(3), 80))
	hour, day := driver.Hour(at(0)), driver.Day(at(0))
	usage(t, b, hours("app"), calls("ai", hour, 130), calls("mcp", hour, 20))
	usage(t, b, days("app"), calls("ai", day, 130), calls("mcp", day, 20))
}

func countRace(t testing.TB, b driver.Backend) {
	allNil(t, "Count(batch)", together(16, func(i int) error {
		for seq := range uint64(10) {
			batch := driver.Batch{Node: fmt.Sprint("node", i), Seq: seq + 1}
			if err := b.Count(t.Context(), batch, []driver.Count{calls("ai", at(0), 10)}); err != nil {
				return err
			}
		}
		return nil
	}))
	usage(t, b, hours("app"), calls("ai", driver.Hour(at(0)), 1600))
	usage(t, b, days("app"), calls("ai", driver.Day(at(0)), 1600))
}

func reporting() []promise {
	return []promise{
		{name: "rows come by time, then by product", test: func(t testing.TB, b driver.Backend) {
			hour := driver.Hour(at(0))
			count(t, b, "node", 1, calls("mcp", at(60), 1), calls("ai", at(60), 1), calls("é", at(0), 1),
				calls("z", at(0), 1), calls("B", at(0), 1), calls("a", at(-600), 1))
			usage(t, b, hours("app"), calls("a", hour.Add(-10*time.Hour), 1), calls("B", hour, 1), calls("z", hour, 1),
				calls("é", hour, 1), calls("ai", hour.Add(time.Hour), 1), calls("mcp", hour.Add(time.Hour), 1))
		}},
		{name: "a question may ask for one product", test: func(t testing.TB, b driver.Backend) {
			count(t, b, "node", 1, calls("ai", at(0), 1), calls("a", at(0), 2), calls("ai2", at(0), 3))
			q := hours("app")
			q.Product = "ai"
			usage(t, b, q, calls("ai", driver.Hour(at(0)), 1))
		}},
		{name: "applications do not mix", test: func(t testing.TB, b driver.Backend) {
			for i, app := range []string{"app", "app1", "ap", "APP", "app "} {
				c := calls("ai", at(0), 1)
				c.AppID = app
				count(t, b, "node", uint64(i+1), c)
			}
			usage(t, b, hours("app"), calls("ai", driver.Hour(at(0)), 1))
			usage(t, b, hours("nobody"))
		}},
		{name: "from counts, to does not", test: fromTo},
	}
}

func fromTo(t testing.TB, b driver.Backend) {
	var perHour, perDay []driver.Count
	for i := range 4 {
		count(t, b, "node", uint64(i+1), calls("ai", at(i*24*60), 1))
		perHour = append(perHour, calls("ai", driver.Hour(at(i*24*60)), 1))
		perDay = append(perDay, calls("ai", driver.Day(at(i*24*60)), 1))
	}
	for _, c := range []struct {
		q    driver.UsageQuery
		rows []driver.Count
	}{{hours("app"), perHour}, {days("app"), perDay}} {
		c.q.From, c.q.To = abroad(c.rows[1].At), abroad(c.rows[3].At)
		usage(t, b, c.q, c.rows[1:3]...)
		c.q.From, c.q.To = c.rows[1].At.Add(1), c.rows[3].At.Add(1)
		usage(t, b, c.q, c.rows[2:4]...)
		c.q.From, c.q.To = c.rows[1].At, c.rows[1].At
		usage(t, b, c.q)
		c.q.From, c.q.To = time.Time{}, c.rows[1].At
		usage(t, b, c.q, c.rows[:1]...)
	}
}
