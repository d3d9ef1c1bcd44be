package audit

import (
	"fmt"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/audit/internal/sums"
	"github.com/keystile/keystile/storage/event"
)

// refused is an event that somebody causes who has proved nothing.
func refused(ip string) Event {
	return Event{
		Kind: event.Token, RequestID: "r", App: "app1", Method: "POST", Path: "/oauth/token/x", Route: "/oauth/token",
		Status: 401, IP: ip, Anonymous: true,
	}
}

// anonymousEvent is the i-th of 65,536 /64s of one /48.
func anonymousEvent(i int) string { return fmt.Sprintf("2001:db8:1:%x::7", i) }

// tally says how many records of anonymous events there are, and of how many events.
func tally(entries []entry) (records int, events int64) {
	for _, e := range entries {
		if !strings.HasPrefix(e.Kind, "audit.") || e.Kind == sums.Others {
			records++
			events += max(e.Count, 1)
		}
	}
	return records, events
}

func TestFirstRefusalsOfAMinuteAreRecordedAndTheOthersSummed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{}
		trail := opened(t, s)
		began := time.Now()
		for range 5 {
			trail.Note(refused("203.0.113.7"))
			time.Sleep(time.Second)
		}
		trail.Note(refused("2001:db8::1"))
		time.Sleep(55*time.Second - 1)
		synctest.Wait()
		_, entries := whole(t, s)
		if len(entries) != 4 || entries[1].Path != "/oauth/token/x" || entries[1].RequestID != "r" ||
			entries[1].IP != "203.0.113.7" || entries[3].IP != "2001:db8::1" {
			t.Fatalf("before the minute is over the trail holds %+v, want the first two of one address and the one of another",
				entries[1:])
		}
		time.Sleep(2 * time.Nanosecond)
		synctest.Wait()
		_, entries = whole(t, s)
		want := Event{
			At: began.Add(2 * time.Second).UTC(), Kind: event.Token, App: "app1", Path: "/oauth/token", Status: 401,
			IP:    "203.0.113.7",
			Count: 3, Span: 2 * time.Second,
		}
		if len(entries) != 5 || !reflect.DeepEqual(entries[4].Event, want) {
			t.Fatalf("when it is over the trail holds %+v, want %+v behind it", entries[4:], want)
		}
		if got := trail.Stats(); got != (Stats{Stored: 6}) {
			t.Errorf("Stats() = %+v, want 6 stored", got)
		}
		closed(t, trail)
	})
}

func TestSumsAreStoredBeforeAChainEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{}
		trail := opened(t, s)
		for range 7 {
			trail.Note(refused("203.0.113.7"))
		}
		if got := trail.Stats(); got.Waiting != 7 {
			t.Errorf("Stats() = %+v, want 7 waiting", got)
		}
		closed(t, trail)
		_, entries := whole(t, s)
		if len(entries) != 5 || entries[3].Count != 5 || entries[4].Kind != end {
			t.Errorf("the trail holds %+v, want a sum of 5 and then its end", entries)
		}
		trail.Note(refused("203.0.113.7"))
		if got := trail.Stats(); got != (Stats{Stored: 7, LostAnonymous: 1}) {
			t.Errorf("Stats() = %+v, want 7 stored, and one lost that came after Close", got)
		}
	})
}

// An attacker with 65,536 networks, or all of them, fills some hundred records a minute and no more.
func TestRecordsOfAnonymousEventsPerMinuteAreBoundedAndCountThemAll(t *testing.T) {
	for name, from := range map[string]func(i int) string{
		"a /48 of IPv6":    anonymousEvent,
		"many /32s":        func(i int) string { return fmt.Sprintf("2001:%x::1", i%65536) },
		"all of IPv4":      func(i int) string { return fmt.Sprintf("%d.%d.7.%d", 1+i%223, i/223%256, i%251) },
		"nowhere":          func(int) string { return "invalid IP" },
		"a text of theirs": func(i int) string { return strconv.Itoa(i) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const each = 20_000
				s := &fakeStore{}
				trail := opened(t, s)
				for minute := range 5 {
					for i := range each {
						e := refused(from(minute*each + i))
						e.App = strconv.Itoa(i % 50)
						e.Kind = []string{event.Token, event.Legacy, event.Call}[i%3]
						e.Status = 400 + i%20
						trail.Note(e)
					}
					time.Sleep(sums.Every + time.Second)
					synctest.Wait()
					_, entries := whole(t, s)
					records, events := tally(entries)
					if events != int64(minute+1)*each {
						t.Fatalf("minute %d: the records count %d events, want %d", minute, events, (minute+1)*each)
					}
					if most := sums.MaxRows + minute*17 + (minute+1)*sums.Wide; records > most || records < sums.Wide/2 {
						t.Errorf("after minute %d there are %d records, want at most %d", minute, records, most)
					}
				}
				closed(t, trail)
			})
		})
	}
}

func TestAuditSumsNameWiderNetworksWhereRowsRunOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{}
		trail := opened(t, s)
		for i := range 65536 {
			for range 3 {
				trail.Note(refused(anonymousEvent(i)))
			}
		}
		for range 9 {
			trail.Note(refused("198.51.100.7"))
		}
		trail.Note(refused("198.51.100.8"))
		closed(t, trail)
		_, entries := whole(t, s)
		seen := map[string]int64{}
		for _, e := range entries {
			if e.Count > 0 {
				seen[e.IP] += e.Count
			}
		}
		bits := map[int]bool{}
		for ip := range seen {
			if p, err := netip.ParsePrefix(ip); err == nil {
				bits[p.Bits()] = true
			}
		}
		if !bits[64] || !bits[56] || !bits[48] || bits[32] {
			t.Errorf("the rows are of networks of %v bits, want 64, 56 and 48", bits)
		}
		if seen["198.51.0.0/16"]+seen["198.51.100.0/24"] != 10 {
			t.Errorf("another network is counted in %v, want a row of its own", seen)
		}
	})
}

func TestFailedSignInOfAKnownUserIsNeverSummed(t *testing.T) {
	s := &fakeStore{}
	trail := opened(t, s)
	for i := range 50 {
		trail.Note(Event{Kind: event.SignIn, User: "u1", RequestID: strconv.Itoa(i), Status: 401, IP: "203.0.113.7",
			Anonymous: true})
	}
	closed(t, trail)
	if _, entries := whole(t, s); len(entries) != 52 {
		t.Errorf("%d records, want one for each attempt", len(entries)-2)
	}
}

func TestFloodOfAnonymousEventsDropsNoOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{}
		trail := opened(t, s, func(c *Config) { c.queue = minQueue })
		s.fail(errAway)
		const flood = 5000
		for i := range flood {
			e := refused(anonymousEvent(i))
			e.User = "u" + strconv.Itoa(i) // each a record of its own, as long as there is room
			trail.Note(e)
			synctest.Wait()
		}
		fit := noteBytes(trail, 0, minQueue/2)
		if got := trail.Stats(); got.Lost != 0 || got.LostAnonymous != 0 || got.Waiting != flood+uint64(fit) {
			t.Errorf("Stats() = %+v, want all of %d waiting", got, flood+fit)
		}
		s.fail(nil)
		closed(t, trail)
		_, entries := whole(t, s)
		named := 0
		for _, e := range entries {
			if e.Product == "ai" {
				named++
			}
		}
		if _, events := tally(entries); named != fit || events != flood+int64(fit) {
			t.Errorf("%d events of a known caller are on the trail and %d in all, want %d and %d", named, events, fit, flood+fit)
		}
	})
}

func TestSumsGoOnWhileTheStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{}
		trail := opened(t, s)
		s.fail(errAway)
		const n = 10_000
		for i := range n {
			trail.Note(refused(anonymousEvent(i)))
			time.Sleep(time.Second)
		}
		if got := trail.Stats(); got.Waiting != n || got.Lost+got.LostAnonymous != 0 {
			t.Errorf("Stats() = %+v, want %d waiting and none lost", got, n)
		}
		s.fail(nil)
		time.Sleep(2 * sums.Every)
		_, entries := whole(t, s)
		if records, events := tally(entries); events != n || records > 2*(sums.MaxRows+sums.Wide) {
			t.Errorf("%d records of %d events, want %d", records, events, n)
		}
		closed(t, trail)
	})
}

func TestAuditSumsLoseNoAnonymousEventBetweenTwoMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const writers, each = 8, 4000
		s := &fakeStore{}
		trail := opened(t, s)
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				for i := range each {
					trail.Note(refused(anonymousEvent(w*each + i)))
					if i%10 == 0 {
						time.Sleep(time.Duration(w+1) * time.Second)
					}
				}
			})
		}
		all.Wait()
		closed(t, trail)
		_, entries := whole(t, s)
		if _, events := tally(entries); events != writers*each {
			t.Errorf("the records count %d events, want %d", events, writers*each)
		}
	})
}

func TestPathIsCutBetweenLettersAndEscapes(t *testing.T) {
	fill := func(n int) string { return "/" + strings.Repeat("a", n-1) }
	for path, want := range map[string]string{
		fill(256):                             fill(256),
		fill(257):                             fill(253) + "…",
		fill(252) + "密密":                      fill(252) + "…",
		fill(252) + "%E5%AF%86":               fill(252) + "…",
		fill(251) + "%E5%AF%86":               fill(251) + "…",
		fill(250) + "%E5%AF%86":               fill(250) + "%E5…",
		fill(5) + strings.Repeat("\x1b", 300): fill(5) + "…",
		fill(5) + "\u202e\x00b\xff":           fill(5) + "b",
		fill(300) + "?token=SECRET":           fill(253) + "…",
	} {
		e := Event{Path: path}
		if tidy(&e, time.Now()); e.Path != want {
			t.Errorf("%q is written as %q, want %q", path, e.Path, want)
		}
	}
}
