package main

import (
	"encoding/base64"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage/counters/redis"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/postgres"
)

var sizes = []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048}

// worlds are the assumptions, and those with one number changed.
func worlds() (all []world) {
	all = append(all, assumed)
	for i := range reflect.TypeFor[world]().NumField() {
		for _, factor := range []float64{0.1, 10} {
			w := assumed
			f := reflect.ValueOf(&w).Elem().Field(i)
			f.SetFloat(f.Float() * factor)
			all = append(all, w)
		}
	}
	return all
}

func TestCapacityOfTwiceTheMachinesIsNeverLess(t *testing.T) {
	for _, w := range worlds() {
		for _, n := range sizes {
			for _, p := range sizes {
				now := w.holds(n, p)
				if more := w.holds(2*n, p); more.Holds < now.Holds {
					t.Errorf("%v nodes and %v primaries hold %v (%s), twice the nodes %v (%s)", n, p, now.Holds, now.Name, more.Holds,
						more.Name)
				}
				if more := w.holds(2*n, 2*p); more.Holds < now.Holds {
					t.Errorf("%v nodes and %v primaries hold %v (%s), twice of both %v (%s)", n, p, now.Holds, now.Name, more.Holds,
						more.Name)
				}
			}
		}
	}
}

func TestWallThatIsNamedIsTheSmallest(t *testing.T) {
	for _, w := range worlds() {
		for _, n := range sizes {
			all := w.walls(n, 8)
			first := w.holds(n, 8)
			for _, x := range all {
				if x.Holds < first.Holds || x.Holds <= 0 || math.IsNaN(x.Holds) {
					t.Errorf("%s allows %v, and %s is named, which allows %v", x.Name, x.Holds, first.Name, first.Holds)
				}
			}
			names := map[string]bool{}
			for _, x := range all {
				names[x.Name] = true
			}
			if len(names) != len(all) {
				t.Errorf("a wall is there twice: %v", all)
			}
		}
	}
}

// One row by hand. A sign-in: 0.2 of a password at 29674 us and 1400 us, a grant 1166 and 975, a refresh 537
// and 350, 0.1 of a machine's token 200 and 125, 50 calls 4.3 and 0, a userinfo 89 and 75, 0.01 of a revocation
// 202 and 300, and 53.11 records 0 and 10. That is 5934.8 + 1166 + 537 + 20 + 215 + 89 + 2.02 = 7963.82 us of a
// node, and 280 + 975 + 350 + 12.5 + 0 + 75 + 3 + 531.1 = 2226.6 us of a database. Two nodes of 16 cores, 60 %
// busy, have 19,200,000 us a second: 2410.9 sign-ins. A primary of 64 has 38,400,000: 17,246.
func TestRowThatWasComputedByHand(t *testing.T) {
	want := map[string]float64{
		"processors of the nodes":              2410.9,
		"processors of the primaries":          17246.0,
		"feed of revocations (one counter)":    66500,   // 665 a second, of 0.01 each
		"audit trail, numbers (one counter)":   1901.7,  // 101,000 records a second, of 53.11 each
		"Redis, all keys":                      2243.1,  // 6 * 20,300 acts, of 54.3 each
		"Redis, the busiest application's key": 2154.7,  // 23,400 acts, of 10.86 each
		"notifications":                        40000,   // 20,000 wakes, of 50 nodes for each of 0.01
		"log of the primaries":                 12501.2, // 400 MB/s, of 249 + 1556 + 764 + 5.25 + 29,422.94 bytes
	}
	for _, x := range assumed.walls(2, 1) {
		if math.Abs(x.Holds-want[x.Name]) > want[x.Name]/1000 {
			t.Errorf("%s allows %.1f, by hand %.1f", x.Name, x.Holds, want[x.Name])
		}
	}
	if first := assumed.holds(2, 1); first.Name != "audit trail, numbers (one counter)" {
		t.Errorf("the first wall is %+v", first)
	}
}

// Doubling a resource doubles its own bound, and no other.
func TestResourceIsInItsOwnUnits(t *testing.T) {
	for name, double := range map[string]func(*world){
		"processors of the nodes":     func(w *world) { w.NodeCores *= 2 },
		"processors of the primaries": func(w *world) { w.PrimaryCores *= 2 },
		"log of the primaries":        func(w *world) { w.LogBytes *= 2 },
		"Redis, all keys":             func(w *world) { w.RedisServers *= 2 },
		"notifications":               func(w *world) { w.Wakes *= 2 },
	} {
		w := assumed
		double(&w)
		before, after := assumed.walls(8, 1), w.walls(8, 1)
		for _, x := range before {
			i := slices.IndexFunc(after, func(y wall) bool { return y.Name == x.Name })
			factor := 1.0
			if x.Name == name {
				factor = 2
			}
			if math.Abs(after[i].Holds/x.Holds-factor) > 1e-9 {
				t.Errorf("twice the %s makes %s %v times as much", name, x.Name, after[i].Holds/x.Holds)
			}
		}
	}
}

func TestCapacityNeededHoldsAndLessDoesNot(t *testing.T) {
	for _, rate := range []float64{100, 1000, 10_000, 100_000} {
		n, p, ok := assumed.needs(rate, hot)
		if !ok {
			t.Errorf("nothing holds %v", rate)
			continue
		}
		holds := func(n, p float64) bool {
			for _, x := range assumed.walls(n, p) {
				if x.Name != hot && x.Holds < rate {
					return false
				}
			}
			return true
		}
		if !holds(n, p) || p > 1 && holds(1000*n, p-1) || n > p && holds(math.Floor(n/1.03), p) {
			t.Errorf("%v sign-ins a second need %v nodes and %v primaries: %v", rate, n, p, assumed.walls(n, p))
		}
	}
	if _, _, ok := assumed.needs(assumed.SignIns); ok {
		t.Error("the busiest application's key is no wall")
	}
}

func TestCapacityFailureOfARegionAccountsForEveryUser(t *testing.T) {
	last := math.Inf(1)
	for _, built := range []float64{0.5, 1, 1.25, 1.5, 3} {
		f := assumed.failure(assumed.SignIns/regions*built, 1.0/regions)
		if math.Abs(f.Asked-f.Served-f.GivenUp-f.Waiting) > f.Asked*1e-9 {
			t.Errorf("built for %v: %v asked, %v were served, %v gave up, %v wait", built, f.Asked, f.Served, f.GivenUp,
				f.Waiting)
		}
		if f.GivenUp > last {
			t.Errorf("built for %v: more give up than with less: %v, %v", built, f.GivenUp, last)
		}
		last = f.GivenUp
		if most := assumed.SignIns * built * 3600; f.Served > most+1 {
			t.Errorf("built for %v: %v were served, and %v could be", built, f.Served, most)
		}
	}
	if f := assumed.failure(assumed.SignIns, 0); f.GivenUp > assumed.SignIns/regions*moved+1 {
		t.Errorf("with three times what is needed, others give up than those who asked the lost region: %v", f.GivenUp)
	}
}

// The statements about the formats are compared with the formats.
func TestCapacityReservesMatchTheFormats(t *testing.T) {
	there := map[string]bool{}
	for _, r := range reserves {
		there[r.Name] = r.There
	}
	at := time.Date(2200, 1, 2, 3, 4, 5, 6, time.UTC)
	var and, or [24]byte
	for i := range and {
		and[i] = 0xff
	}
	for range 200 {
		raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(handle.New(handle.RefreshPrefix, at),
			handle.RefreshPrefix))
		if err != nil || len(raw) != 32 || raw[0]>>7 != 0 {
			t.Fatalf("a handle is %x, %v", raw, err)
		}
		for i, b := range raw[8:] {
			and[i], or[i] = and[i]&b, or[i]|b
		}
	}
	allRandom := and == [24]byte{} && !slices.ContainsFunc(or[:], func(b byte) bool { return b != 0xff })
	if there["family byte in handles"] == allRandom {
		t.Errorf("whether a byte of a handle is set aside: said %t, and all of them are random: %t",
			there["family byte in handles"], allRandom)
	}
	_, node := reflect.TypeFor[driver.Batch]().FieldByName("Node")
	if there["usage is counted by node"] != node {
		t.Errorf("usage by node: %t", node)
	}
	_, o, err := postgres.ParseURL("postgres://h/d?listen=off", postgres.Options{})
	if err != nil || there["feeds can be read without notifications"] != o.PollOnly {
		t.Errorf("listen=off: %+v, %v", o, err)
	}
	leased := slices.ContainsFunc(reflect.VisibleFields(reflect.TypeFor[redis.Options]()),
		func(f reflect.StructField) bool { return strings.Contains(f.Name, "Lease") })
	if there["leases of limits"] != leased {
		t.Errorf("leases of limits: %t", leased)
	}
}

func TestPageSaysWhatWasMeasuredApartFromWhatWasAssumed(t *testing.T) {
	var b strings.Builder
	page(&b, assumed)
	text := b.String()
	at := -1
	for _, part := range []string{"## Measured", "-measure", "revocations 665/s", "## Assumed", "A node has 16 cores",
		"## What nodes and primaries hold", "the first wall", "## 1 G people, 100 k sign-ins a second",
		"## One of 3 regions is lost", "## What the contract reserves", "family byte in handles: no"} {
		i := strings.Index(text, part)
		if i <= at {
			t.Errorf("%q is not there, or not in its place", part)
		}
		at = i
	}
	if n := strings.Count(text, "\n    2 ") + strings.Count(text, "\n    20 ") +
		strings.Count(text, "\n    200 "); n != 9 {
		t.Errorf("%d rows of 9", n)
	}
}
