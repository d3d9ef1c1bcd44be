package storagetest

import (
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// times are promises about each place that a time is kept in: the first and the last that
// there can be, and every digit of it.
func times() []promise {
	return []promise{
		{name: "every time of a token, an issued one and a successor, is in the years 1 to 9999", test: tokenYears},
		{name: "Before and Until of a revocation are in the years 1 to 9999, and join there", test: revocationYears},
		{name: "GrantedAt and Before are compared in the years 1 to 9999, to the nanosecond", test: grantedYears},
		{name: "the end of a document is in the years 1 to 9999, for Get and for List", test: docYears},
		{name: "the time of an audit record is in the years 1 to 9999", test: recordYears},
		{name: "hours and days of usage are in the years 1 to 9999, and are asked for there", test: usageYears},
		{name: "a sweep may be in the year 1 and in the year 9999", test: sweepYears},
		{name: "every digit of a nanosecond is kept and compared", test: everyDigit},
		{name: "what has no end outlives a sweep at the zero time and at the end of time", test: zeroSweep},
	}
}

var (
	firstMoment = time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC)
	lastMoment  = time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)
)

// eras are moments that one way or another of keeping a time cannot hold: the ends of the
// contract's range, of 64 bits and of 32 bits of nanoseconds and seconds, the moments before
// 1970, a leap day before the calendar of today.
func eras() []time.Time {
	return []time.Time{
		firstMoment,
		time.Date(1, 12, 31, 23, 59, 59, 999999999, time.UTC),
		time.Date(1600, 2, 29, 1, 2, 3, 4, time.UTC),
		time.Unix(0, math.MinInt64).UTC().Add(-1),
		time.Date(1969, 12, 31, 23, 59, 59, 999999999, time.UTC),
		time.Unix(0, 0).UTC(),
		time.Unix(math.MaxInt32+1, 5).UTC(),
		time.Unix(math.MaxUint32+1, 0).UTC(),
		time.Unix(0, math.MaxInt64).UTC().Add(1),
		time.Date(9999, 1, 1, 0, 0, 0, 1, time.UTC),
		lastMoment,
	}
}

// astray is a moment on a clock that shows another year: the year 10000 for the last hours
// there are, the year 0 for the first.
func astray(moment time.Time) time.Time {
	if moment.Year() > 5000 {
		return moment.In(time.FixedZone("UTC+14", 14*60*60))
	}
	return moment.In(time.FixedZone("UTC-12", -12*60*60))
}

func tokenYears(t testing.TB, b driver.Backend) {
	for i := range eras() {
		issued, next := token("a"), token("a")
		fillTimes(t, &issued, i)
		fillTimes(t, &next, i+1)
		issued.SpentAt, next.SpentAt = time.Time{}, time.Time{}
		issue(t, b, issued)
		moment := eras()[i]
		want(t, fmt.Sprintf("Exchange(token, %v)", moment), b.Exchange(t.Context(), issued.Key, astray(moment), next), nil)
		issued.SpentAt = moment
		sameToken(t, read(t, b, issued.Key), issued)
		sameToken(t, read(t, b, next.Key), next)
	}
}

// fillTimes puts another era into each time of a token.
func fillTimes(t testing.TB, x *driver.Token, from int) {
	fields := reflect.ValueOf(x).Elem()
	filled := 0
	for i := range fields.NumField() {
		if at, is := fields.Field(i).Addr().Interface().(*time.Time); is {
			*at = astray(eras()[(from+filled)%len(eras())])
			filled++
		}
	}
	if filled < 5 {
		t.Fatalf("a token has %d times, want 5 or more", filled)
	}
}

func revocationYears(t testing.TB, b driver.Backend) {
	for i, moment := range eras() {
		put := driver.Revocation{Kind: driver.RevokeUser, ID: fmt.Sprint("user ", i), Before: astray(moment),
			Until: astray(moment)}
		revoke(t, b, put)
		got := feed(t, b, uint64(0))
		sameRevocation(t, got[len(got)-1], put)

		joined := driver.Revocation{Kind: driver.RevokeApp, ID: "joined", Before: moment, Until: moment}
		older := driver.Revocation{Kind: driver.RevokeApp, ID: "joined", Before: firstMoment, Until: firstMoment}
		revoke(t, b, joined)
		revoke(t, b, older)
		got = feed(t, b, 0)
		sameRevocation(t, got[len(got)-1], joined)
	}
}

func grantedYears(t testing.TB, b driver.Backend) {
	for i, moment := range eras() {
		if moment.Equal(lastMoment) || moment.Equal(firstMoment) {
			continue // there is no moment behind it, or before
		}
		for j, c := range []struct {
			granted time.Time
			verdict error
		}{{moment.Add(-1), driver.ErrRevoked}, {moment, nil}, {moment.Add(1), nil}, {firstMoment, driver.ErrRevoked},
			{lastMoment, nil}} {
			family := fmt.Sprint(i, " ", j)
			x := token(family)
			x.GrantedAt = astray(c.granted)
			issue(t, b, x)
			kind, id := driver.RevokeApp, x.AppID
			switch j % 3 {
			case 1:
				kind, id = driver.RevokeUser, x.UserID
			case 2:
				kind, id = driver.RevokeConsent, driver.ConsentID(x.AppID, x.UserID)
			}
			revoke(t, b, driver.Revocation{Kind: kind, ID: id, Before: moment, Until: lastMoment})
			call := fmt.Sprintf("Exchange(token granted at %v) with a revocation of its %s before %v", c.granted, kind, moment)
			want(t, call, b.Exchange(t.Context(), x.Key, lastMoment), c.verdict)
		}
	}
}

func docYears(t testing.TB, b driver.Backend) {
	for i, moment := range eras() {
		d := doc(fmt.Sprint(i), fmt.Sprint("era ", i))
		d.ExpiresAt = astray(moment)
		d.Version = put(t, b, d)
		sameDoc(t, get(t, b, d.ID), d)
		page, _, err := b.List(t.Context(), "thing", driver.Is(d.Index[0]), 1)
		if want(t, "List(era)", err, nil); len(page) != 1 {
			t.Fatalf("List(era) = %d documents, want 1", len(page))
		}
		sameDoc(t, page[0], d)
	}
}

func recordYears(t testing.TB, b driver.Backend) {
	var records []driver.Record
	for _, moment := range eras() {
		records = append(records, driver.Record{At: astray(moment)})
	}
	want(t, "Append(eras)", b.Append(t.Context(), records...), nil)
	for i, r := range trail(t, b, 0, driver.Page) {
		if !same(r.At, records[i].At) {
			t.Errorf("Records(0)[%d].At = %v, want %v in UTC", i, r.At, records[i].At.UTC())
		}
	}
}

func usageYears(t testing.TB, b driver.Backend) {
	var perHour, perDay []driver.Count
	for i, moment := range eras() {
		count(t, b, "node", uint64(i+1), calls(fmt.Sprint(i), astray(moment), 10))
		perHour = append(perHour, calls(fmt.Sprint(i), driver.Hour(moment), 10))
		perDay = append(perDay, calls(fmt.Sprint(i), driver.Day(moment), 10))
	}
	for _, daily := range []bool{false, true} {
		rows := perHour
		if daily {
			rows = perDay
		}
		q := driver.UsageQuery{AppID: "app", To: astray(lastMoment), Daily: daily}
		usage(t, b, q, rows...)
		for i, row := range rows {
			q.From, q.To = astray(row.At), astray(row.At.Add(1))
			usage(t, b, q, rows[i])
			q.From = row.At.Add(1)
			usage(t, b, q)
		}
		q.From, q.To = rows[3].At, rows[len(rows)-1].At
		usage(t, b, q, rows[3:len(rows)-1]...)
	}
}

func sweepYears(t testing.TB, b driver.Backend) {
	count(t, b, "node", 1, calls("ai", firstMoment, 1), calls("ai", lastMoment, 1))
	never, _ := ending(time.Time{}) // beside it, what has ended goes one by one
	issue(t, b, never)
	for i, moment := range eras() {
		x, d := ending(moment)
		issue(t, b, x)
		put(t, b, d)
		revoke(t, b, driver.Revocation{Kind: driver.RevokeJTI, ID: fmt.Sprint(i), Until: moment})
	}
	sweep(t, b, astray(firstMoment), 3)
	for i, moment := range eras()[1:] {
		old := 0
		if i == 1 {
			old = 1 // the hour of the year 1
		}
		if moment.Year() == 1 {
			sweep(t, b, moment, 3) // its row stays: the first hour is not 400 days old
			continue
		}
		sweep(t, b, moment.Add(-1), old)
		sweep(t, b, astray(moment), 3)
	}
	sameToken(t, read(t, b, never.Key), never)
	usage(t, b, driver.UsageQuery{AppID: "app", To: lastMoment}, calls("ai", driver.Hour(lastMoment), 1))
}
