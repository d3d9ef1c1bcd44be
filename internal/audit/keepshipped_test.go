package audit

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// shipping is a keeper beside a stream that has come so far.
func (k *kept) shipping(through *uint64) {
	k.keeper.Shipped = func(context.Context) (uint64, error) { return *through, nil }
}

const nowhereElse = "audit records were removed that are nowhere else"

func TestUnshippedTrailIsKeptForAsLongAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, 10*day, 0)
		shipped := uint64(40)
		k.shipping(&shipped)
		k.note(100)
		time.Sleep(11 * day)
		k.note(1)
		k.run(2 * time.Hour)
		if r, _ := whole(t, k); r.Removed.Through != 40 {
			t.Errorf("what is shipped is removed up to %d, want 40", r.Removed.Through)
		}
		time.Sleep(8 * day)
		k.run(2 * time.Hour)
		if r, _ := whole(t, k); r.Removed.Through != 40 || strings.Contains(k.log.String(), nowhereElse) {
			t.Errorf("after 19 days it is removed up to %d, want 40; the log says\n%s", r.Removed.Through, k.log.String())
		}
		time.Sleep(2 * day)
		k.run(2 * time.Hour)
		if r, _ := whole(t, k); r.Removed.Through != 101 {
			t.Errorf("after 21 days it is removed up to %d, want 101", r.Removed.Through)
		}
		if got := strings.Count(k.log.String(), nowhereElse); got != 1 || !strings.Contains(k.log.String(), "level=ERROR") {
			t.Errorf("it is said %d times\n%s", got, k.log.String())
		}
	})
}

func TestUnshippedTrailMayBeAsLargeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 20_000
		k := newKept(t, 0, limit)
		shipped := uint64(0)
		k.shipping(&shipped)
		k.note(110) // some 250 bytes each
		k.run(5 * time.Minute)
		if r, _ := whole(t, k); r.Removed.Through != 0 {
			t.Errorf("beyond the size it is removed up to %d, want 0", r.Removed.Through)
		}
		shipped = 90
		k.run(5 * time.Minute)
		if r, _ := whole(t, k); r.Removed.Through == 0 || r.Removed.Through > 90 ||
			strings.Contains(k.log.String(), nowhereElse) {
			t.Errorf("once it is shipped it is removed up to %d, want some up to 90; the log says\n%s", r.Removed.Through,
				k.log.String())
		}
		k.note(300)
		k.run(5 * time.Minute)
		if r, _ := whole(t, k); r.Removed.Through <= 90 || strings.Count(k.log.String(), nowhereElse) == 0 {
			t.Errorf("beyond twice the size it is removed up to %d, want more than 90; the log says\n%s", r.Removed.Through,
				k.log.String())
		}
	})
}

func TestPruneRemovesNothingWhileTheShippedPartIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, day, 0)
		k.keeper.Shipped = func(context.Context) (uint64, error) { return 0, errors.New("the position cannot be read") }
		k.note(10)
		time.Sleep(30 * day)
		k.run(time.Hour)
		if r, _ := whole(t, k); r.Removed.Through != 0 || !strings.Contains(k.log.String(), "the position cannot be read") {
			t.Errorf("it is removed up to %d; the log says\n%s", r.Removed.Through, k.log.String())
		}
	})
}
