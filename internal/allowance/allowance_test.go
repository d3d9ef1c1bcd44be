package allowance

import (
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

const day = 24 * time.Hour

// registrations is a Kind with rates of networks.
var registrations = Kind{
	Name: "register", Each: []Rate{{30, time.Hour}, {100, day}}, Common: Rate{2000, day}, Reserve: Rate{4, day},
}

// bare has none.
var bare = Kind{Name: "bare", Common: Rate{10, time.Minute}, Reserve: Rate{1, time.Minute}}

// taken counts what is let through.
func taken(t *testing.T, c counters.Counter, k Kind, n int, from func(i int) string) (through int) {
	for i := range n {
		if Take(t.Context(), c, netip.MustParseAddr(from(i)), k) == 0 {
			through++
		}
	}
	return through
}

func one(address string) func(int) string { return func(int) string { return address } }

func many(i int) string { return fmt.Sprintf("%d.%d.0.1", i%190+1, i/190) }

func TestNetworkDoesSoMuchAnHourAndADay(t *testing.T) {
	if testing.Short() {
		t.Skip("counts through days")
	}
	for name, c := range map[string]struct {
		from      func(int) string
		hour, day int
	}{
		"an IPv4 address":       {one("192.0.2.1"), 30, 100},
		"the same in IPv6 form": {one("::ffff:192.0.2.1"), 30, 100},
		"an IPv4 /24":           {func(i int) string { return fmt.Sprint("192.0.2.", i%250) }, 120 + 16, 400 + 16},
		"an IPv4 /16": {func(i int) string { return fmt.Sprintf("192.0.%d.%d", i%250, i/250) }, 480 + 1024,
			1600 + 1024},
		"an IPv6 /64": {func(i int) string { return fmt.Sprintf("2001:db8::%x", i) }, 30, 100},
		"an IPv6 /56": {func(i int) string { return fmt.Sprintf("2001:db8:0:%x::1", i%256) }, 120 + 4, 400 + 4},
		"an IPv6 /48": {func(i int) string { return fmt.Sprintf("2001:db8:0:%x::1", i*251%65536) }, 480 + 16,
			1600 + 16},
		"an IPv6 /32": {func(i int) string { return fmt.Sprintf("2001:db8:%x::1", i) }, 1920 + 1024, 2000 + 1024},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				counter, sum := counters.NewCounter(), 0
				for hour := range 24 {
					n := taken(t, counter, registrations, 3000, c.from)
					if hour == 0 && n != c.hour {
						t.Errorf("%d in the first hour, want %d", n, c.hour)
					}
					sum += n
					time.Sleep(time.Hour)
				}
				if sum != c.day {
					t.Errorf("%d in a day, want %d", sum, c.day)
				}
				if taken(t, counter, registrations, 1, c.from) != 1 {
					t.Error("the next day it is over")
				}
			})
		})
	}
}

// Decision 96.
func TestBeyondWhatIsCommonEachNetworkHasAReserve(t *testing.T) {
	for name, c := range map[string]struct {
		from func(int) string
		want int
	}{
		"an IPv4 address":               {one("198.51.100.1"), 4},
		"its neighbors in the /24":      {func(i int) string { return fmt.Sprint("198.51.100.", i%250) }, 16},
		"the /16 around it":             {func(i int) string { return fmt.Sprintf("198.51.%d.%d", i%250, i/250) }, 1024},
		"an IPv6 /64":                   {func(i int) string { return fmt.Sprintf("2001:db8::%x", i) }, 4},
		"an IPv6 /56":                   {func(i int) string { return fmt.Sprintf("2001:db8:0:%x::1", i%256) }, 4},
		"an IPv6 /48":                   {func(i int) string { return fmt.Sprintf("2001:db8:0:%x::1", i*251%65536) }, 16},
		"an IPv6 /32":                   {func(i int) string { return fmt.Sprintf("2001:db8:%x::1", i) }, 1024},
		"an address that is not known":  {nil, 0},
		"one of those who have used it": {many, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			counter := counters.NewCounter()
			k := registrations
			k.Each = nil
			if n := taken(t, counter, k, 2000, many); n != 2000 {
				t.Fatalf("%d of what is common are let through, want 2,000", n)
			}
			switch {
			case c.from == nil:
				if wait := Take(t.Context(), counter, netip.Addr{}, k); wait != 0 {
					t.Errorf("%s waits %v", name, wait)
				}
			case c.want == 0:
				if n := taken(t, counter, k, 1, c.from); n != 1 {
					t.Errorf("%s: who has used what is common has no reserve", name)
				}
			default:
				if n := taken(t, counter, k, 3000, c.from); n != c.want {
					t.Errorf("%s does %d beyond what is common, want %d", name, n, c.want)
				}
			}
		})
	}
}

func TestAllowanceIsNotUsedUpByRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counter := counters.NewCounter()
		taken(t, counter, registrations, 3_000, one("192.0.2.1"))
		if n := taken(t, counter, registrations, 100, one("192.0.2.2")); n != 30 {
			t.Errorf("the neighbor of a flood does %d, want 30", n)
		}
		taken(t, counter, registrations, 10_000, func(i int) string { return fmt.Sprint("192.0.2.", i%250) })
		if n := taken(t, counter, registrations, 100, one("192.0.3.1")); n != 30 {
			t.Errorf("one beside the /24 does %d, want 30", n)
		}
	})
}

// A Retry-After that is followed is enough, and a second less is not.
func TestWaitIsTrue(t *testing.T) {
	for name, c := range map[string]struct {
		kinds  []Kind
		before func(t *testing.T, counter counters.Counter)
		want   time.Duration
	}{
		"of the hour": {[]Kind{registrations}, func(t *testing.T, counter counters.Counter) {
			taken(t, counter, registrations, 30, one("192.0.2.1"))
		}, time.Hour},
		"of the day, and not of the hour that is over before": {[]Kind{registrations},
			func(t *testing.T, counter counters.Counter) {
				for range 4 {
					taken(t, counter, registrations, 30, one("192.0.2.1"))
					time.Sleep(time.Hour)
				}
			}, 20 * time.Hour},
		"of the reserve, once it is there before what is common": {[]Kind{bare},
			func(t *testing.T, counter counters.Counter) {
				taken(t, counter, bare, 1, one("203.0.113.1"))
				time.Sleep(30 * time.Second)
				taken(t, counter, bare, 9, one("203.0.113.1"))
				time.Sleep(10 * time.Second)
				taken(t, counter, bare, 1, one("192.0.2.1"))
			}, 20 * time.Second},
		"of the longer of two kinds": {[]Kind{bare, registrations}, func(t *testing.T, counter counters.Counter) {
			taken(t, counter, bare, 11, one("192.0.2.1"))
			taken(t, counter, registrations, 30, one("192.0.2.1"))
		}, time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			counter, from := counters.NewCounter(), netip.MustParseAddr("192.0.2.1")
			c.before(t, counter)
			wait := Take(t.Context(), counter, from, c.kinds...)
			if wait != c.want {
				t.Errorf("the wait %s is %v, want %v", name, wait, c.want)
			}
			time.Sleep(wait - time.Second)
			if again := Take(t.Context(), counter, from, c.kinds...); again != time.Second {
				t.Errorf("the wait %s: a second before, it is %v", name, again)
			}
			time.Sleep(time.Second)
			if again := Take(t.Context(), counter, from, c.kinds...); again != 0 {
				t.Errorf("the wait %s: when it is over, it is %v", name, again)
			}
		})
	}
}

// Five /48 and 100 IPv4 addresses, and honest ones elsewhere and beside them: in the same /32, and in the same /16.
func TestMillionEventsOfAFewNetworksKeepOutNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const minutes, each = 20, 50_000
		fetches := Kind{Name: "fetch", Each: []Rate{{10, time.Minute}}, Common: Rate{100, time.Minute},
			Reserve: Rate{1, time.Minute}}
		kinds := []Kind{registrations, fetches}
		counter, most, kept := counters.NewCounter(), 0, 0
		for minute := range minutes {
			fetched := 0
			for i := range each {
				from := netip.AddrFrom4([4]byte{198, 51, byte(i / 4 % 25), byte(i / 100 % 4)})
				if i%4 < 2 {
					from = netip.MustParseAddr(fmt.Sprintf("2001:db8:%d:%x::1", i/4%5+1, (minute*each+i)&0xffff))
				}
				if i%2 == 0 && Take(t.Context(), counter, from, registrations) == 0 {
					kept++
				}
				if i%2 == 1 && Take(t.Context(), counter, from, fetches) == 0 {
					fetched++
				}
			}
			most = max(most, fetched)
			for _, honest := range []string{"203.0.%d.1", "2001:db8:ff%02d::1", "2001:db9:ff%02d::1", "198.51.1%02d.1"} {
				from := netip.MustParseAddr(fmt.Sprintf(honest, minute))
				for _, k := range kinds {
					if wait := Take(t.Context(), counter, from, k); wait > 0 {
						t.Errorf("minute %d: %v waits %v for its first %s", minute, from, wait, k.Name)
					}
				}
			}
			time.Sleep(time.Minute)
		}
		t.Logf("of %d events %d registrations were admitted, and %d fetches in the fullest minute", minutes*each, kept, most)
		if kept > 2000+5*16+25*16 || most > 100+5*4+100 {
			t.Errorf("%d registrations and %d fetches a minute are more than what is shared and the reserves", kept, most)
		}
	})
}
