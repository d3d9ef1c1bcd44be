package storagetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

func sweeping() []promise {
	return []promise{
		{name: "what ends is there to the last, and gone when it is swept", test: thereToTheLast},
		{name: "tokens, revocations and documents that ended by then go, to the nanosecond", test: exactly},
		{name: "spent tokens go like others", test: func(t testing.TB, b driver.Backend) {
			x, _ := ending(at(5))
			issue(t, b, x)
			want(t, "Exchange(token)", b.Exchange(t.Context(), x.Key, at(1)), nil)
			sweep(t, b, at(4), 0)
			sweep(t, b, at(5), 1)
			absent(t, b, x)
		}},
		{name: "the key of a swept token and the id of a swept document are free", test: freed},
		{name: "a swept revocation leaves the feed and ends nothing more", test: func(t testing.TB, b driver.Backend) {
			r := grantEnd("grant a")
			r.Until = at(5)
			revoke(t, b, r, grantEnd("b"))
			sweep(t, b, at(5), 1)
			wantFeed(t, feed(t, b, 0), "b")
			x := token("a")
			issue(t, b, x)
			want(t, "Exchange(token)", b.Exchange(t.Context(), x.Key, at(6)), nil)
		}},
		{name: "a Seq is not given again when its revocation is swept", test: func(t testing.TB, b driver.Backend) {
			revoke(t, b, grantEnd("a"))
			old := feed(t, b, 0)
			sweep(t, b, at(6000), 1)
			revoke(t, b, grantEnd("a"))
			wantFeed(t, feed(t, b, old[0].Seq), "a")
		}},
		{name: "a version is not given again when its document is swept", test: func(t testing.TB, b driver.Backend) {
			_, d := ending(at(5))
			d.Version = put(t, b, d)
			sweep(t, b, at(5), 1)
			if again := put(t, b, doc(d.ID)); again <= d.Version {
				t.Errorf("Put(document) = version %d behind %d, want rising", again, d.Version)
			}
			inTheWay(t, b, d.ID, driver.ErrConflict, d)
		}},
		{name: "a sweep removes about n, and says how many until there are none", test: aboutN},
		{name: "usage rows of hours that began more than 400 days before go, and those of days stay", test: hoursEnd},
		{name: "hours of many applications go about n at a time, and what comes late goes too", test: hoursEndInSteps},
	}
}

// ending is a token and a document that end at a moment.
func ending(moment time.Time) (driver.Token, driver.Doc) {
	x, d := token("a"), doc(fmt.Sprint("until ", moment), "all")
	x.ExpiresAt, d.ExpiresAt = moment, moment
	return x, d
}

func thereToTheLast(t testing.TB, b driver.Backend) {
	x, d := ending(at(5))
	issue(t, b, x)
	put(t, b, d)
	sameToken(t, read(t, b, x.Key), x)
	get(t, b, d.ID)
	lists(t, b, driver.Is("all"), d.ID)
	sweep(t, b, at(5), 2)
	absent(t, b, x)
	gone(t, b, d.ID)
	lists(t, b, driver.Is("all"))
	want(t, "Exchange(swept)", b.Exchange(t.Context(), x.Key, at(6)), driver.ErrNotFound)
}

func exactly(t testing.TB, b driver.Backend) {
	soon, soonDoc := ending(abroad(at(5)))
	late, lateDoc := ending(at(5).Add(1))
	far, farDoc := ending(time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC))
	never, neverDoc := ending(time.Time{})
	issue(t, b, soon, late, far, never)
	put(t, b, soonDoc, lateDoc, farDoc, neverDoc)
	for _, moment := range []time.Time{soon.ExpiresAt, late.ExpiresAt, far.ExpiresAt, never.ExpiresAt} {
		revoke(t, b, driver.Revocation{Kind: driver.RevokeJTI, ID: fmt.Sprint(moment.UTC()), Until: moment})
	}
	sweep(t, b, at(5).Add(-1), 0)
	sweep(t, b, abroad(at(5)), 3)
	absent(t, b, soon)
	gone(t, b, soonDoc.ID)
	wantFeed(t, feed(t, b, 0), fmt.Sprint(late.ExpiresAt), fmt.Sprint(far.ExpiresAt), fmt.Sprint(never.ExpiresAt))
	sweep(t, b, at(5), 0)
	sweep(t, b, at(5).Add(1), 3)
	absent(t, b, late)
	gone(t, b, lateDoc.ID)
	sweep(t, b, at(6), 0)
	for _, x := range []driver.Token{far, never} {
		sameToken(t, read(t, b, x.Key), x)
	}
	get(t, b, farDoc.ID)
	get(t, b, neverDoc.ID)
	sweep(t, b, far.ExpiresAt, 3)
	read(t, b, never.Key)
	get(t, b, neverDoc.ID)
	wantFeed(t, feed(t, b, 0), fmt.Sprint(never.ExpiresAt))
}

func freed(t testing.TB, b driver.Backend) {
	x, d := ending(at(5))
	issue(t, b, x)
	put(t, b, d)
	sweep(t, b, at(5), 2)
	x.UserID, x.ExpiresAt = "another", at(9)
	issue(t, b, x)
	sameToken(t, read(t, b, x.Key), x)
	d.Index, d.ExpiresAt = []string{"new"}, at(9)
	put(t, b, d)
	lists(t, b, driver.Is("all"))
	lists(t, b, driver.Is("new"), d.ID)
	sweep(t, b, at(8), 0)
	sweep(t, b, at(9), 2)
}

func aboutN(t testing.TB, b driver.Backend) {
	const each, n = 60, 10
	for i := range each {
		x, d := ending(at(i))
		issue(t, b, x)
		d.ID = fmt.Sprint(i)
		put(t, b, d)
		revoke(t, b, driver.Revocation{Kind: driver.RevokeJTI, ID: fmt.Sprint(i), Until: at(i)})
	}
	total := 0
	for {
		removed, err := b.Sweep(t.Context(), at(each), n)
		want(t, "Sweep(at, n)", err, nil)
		if removed > 3*n {
			t.Fatalf("Sweep(at, %d) = %d, want about %d", n, removed, n)
		}
		if removed == 0 {
			break
		}
		total += removed
	}
	if total != 3*each {
		t.Errorf("Sweep(at, %d) removed %d in the end, want %d", n, total, 3*each)
	}
	lists(t, b, driver.Is("all"))
	wantFeed(t, feed(t, b, 0))
}

func hoursEnd(t testing.TB, b driver.Backend) {
	hour := driver.Hour(at(0))
	end := hour.Add(driver.UsageHours)
	count(t, b, "node", 1, calls("mcp", abroad(at(0)), 1), calls("ai", at(0), 2), calls("ai", at(60), 4),
		calls("ai", at(-24*60), 8))
	sweep(t, b, end.AddDate(0, 0, -1), 0)
	sweep(t, b, end, 1)
	sweep(t, b, end, 0)
	usage(t, b, hours("app"), calls("ai", hour, 2), calls("mcp", hour, 1), calls("ai", hour.Add(time.Hour), 4))
	sweep(t, b, abroad(end.Add(1)), 2)
	sweep(t, b, end.Add(-time.Hour), 0)
	sweep(t, b, end.Add(time.Hour), 0)
	usage(t, b, hours("app"), calls("ai", hour.Add(time.Hour), 4))
	sweep(t, b, end.Add(time.Hour+1), 1)
	usage(t, b, hours("app"))
	day := driver.Day(at(0))
	usage(t, b, days("app"), calls("ai", day.AddDate(0, 0, -1), 8), calls("ai", day, 6), calls("mcp", day, 1))
}

func hoursEndInSteps(t testing.TB, b driver.Backend) {
	const apps, n = 40, 10
	end := driver.Hour(at(60)).Add(driver.UsageHours)
	var counts []driver.Count
	for i := range apps {
		for _, c := range []driver.Count{calls("ai", at(-60), 1), calls("ai", at(0), 1), calls("ai", at(60), 1)} {
			c.AppID = fmt.Sprint("app", i)
			counts = append(counts, c)
		}
	}
	count(t, b, "node", 1, counts...)
	x, _ := ending(at(5)) // beside others that end
	issue(t, b, x)
	total := 0
	for {
		removed, err := b.Sweep(t.Context(), end, n)
		want(t, "Sweep(at, n)", err, nil)
		if removed > 3*n {
			t.Fatalf("Sweep(at, %d) = %d, want about %d", n, removed, n)
		}
		if total += removed; removed == 0 {
			break
		}
	}
	if total != 2*apps+1 {
		t.Errorf("Sweep(at, %d) removed %d in the end, want %d", n, total, 2*apps+1)
	}
	for i := range apps {
		kept := calls("ai", driver.Hour(at(60)), 1)
		kept.AppID = fmt.Sprint("app", i)
		usage(t, b, hours(kept.AppID), kept)
	}
	late := calls("ai", at(0), 1)
	late.AppID = "app3"
	count(t, b, "node", 2, late)
	sweep(t, b, end, 1)
}
