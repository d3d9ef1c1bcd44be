package storagetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// everyDigit catches times that are kept by the microsecond, and texts of several widths,
// which sort 0.5 behind 0.49.
func everyDigit(t testing.TB, b driver.Backend) {
	base := at(0).Truncate(time.Second)
	var records []driver.Record
	digits := []int{0, 1, 9, 10, 99, 100, 499, 500, 501, 999, 1000, 1001, 1999, 490_000_000, 500_000_000, 500_000_001,
		999_999_000, 999_999_500, 999_999_999}
	for _, ns := range digits {
		moment := base.Add(time.Duration(ns))
		x, d := ending(moment)
		x.AuthTime, x.GrantedAt, x.IssuedAt = moment, moment, moment
		issue(t, b, x)
		sameToken(t, read(t, b, x.Key), x)
		d.Version = put(t, b, d)
		sameDoc(t, get(t, b, d.ID), d)
		revoke(t, b, driver.Revocation{Kind: driver.RevokeUser, ID: fmt.Sprint(ns), Before: moment, Until: moment})
		records = append(records, driver.Record{At: moment})
	}
	want(t, "Append(digits)", b.Append(t.Context(), records...), nil)
	for i, r := range trail(t, b, 0, driver.Page) {
		if !same(r.At, records[i].At) {
			t.Errorf("Records(0)[%d].At = %v, want %v", i, r.At, records[i].At)
		}
	}
	all := feed(t, b, 0)
	for i, ns := range digits {
		moment := base.Add(time.Duration(ns))
		sameRevocation(t, all[i], driver.Revocation{Kind: driver.RevokeUser, ID: fmt.Sprint(ns), Before: moment,
			Until: moment})
		if i > 0 {
			sweep(t, b, moment.Add(-1), 0)
		}
		sweep(t, b, moment, 3)
	}
}

func zeroSweep(t testing.TB, b driver.Backend) {
	never, d := ending(time.Time{})
	soon, _ := ending(firstMoment)
	issue(t, b, never, soon)
	put(t, b, d)
	revoke(t, b, driver.Revocation{Kind: driver.RevokeJTI, ID: "never"})
	sweep(t, b, time.Time{}, 0)
	sweep(t, b, lastMoment, 1)
	sameToken(t, read(t, b, never.Key), never)
	get(t, b, d.ID)
	wantFeed(t, feed(t, b, 0), "never")
}
