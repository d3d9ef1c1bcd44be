package countertest

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

// counts is the Counter of a place.
type counts struct {
	*place
	counters.Counter
}

func (p *place) counts() counts { return counts{p, p.nodes.Counter()} }

func (c counts) one(name string, client netip.Prefix, limit int, window time.Duration) time.Duration {
	return c.Add(context.Background(), name, client, limit, window)
}

func (c counts) ask(name string, client netip.Prefix, limit int, window time.Duration) time.Duration {
	return c.Wait(context.Background(), name, client, limit, window)
}

// added counts how many of n events are counted.
func (c counts) added(name string, client netip.Prefix, limit int, window time.Duration, n int) (counted int) {
	for range n {
		if c.one(name, client, limit, window) == 0 {
			counted++
		}
	}
	return counted
}

var (
	client = netip.MustParsePrefix("192.0.2.1/32")
	other  = netip.MustParsePrefix("192.0.2.2/32")
)

// counting are the promises of a Counter.
func counting() []promise {
	const mails = 10 * time.Minute
	return []promise{
		{"no window holds more than the limit, wherever it begins", clock, func(p *place) {
			c, until := p.counts(), p.waiter()
			for i := range 3 {
				until(time.Duration(i) * time.Minute)
				p.want("the first three", c.added("mails", client, 3, mails, 1), 1)
			}
			p.waits("one too many", c.one("mails", client, 3, mails), 8*time.Minute)
			until(mails - time.Millisecond)
			p.want("just within the window", c.added("mails", client, 3, mails, 9), 0)
			until(mails + p.Grain)
			p.want("when the first has left", c.added("mails", client, 3, mails, 9), 1)
			until(mails + time.Minute - time.Millisecond)
			p.want("before the second has left", c.added("mails", client, 3, mails, 9), 0)
			until(mails + time.Minute + p.Grain)
			p.want("when the second has left", c.added("mails", client, 3, mails, 9), 1)
		}},
		{"a window may be of any length", clock, func(p *place) {
			c := p.counts()
			for _, window := range []time.Duration{10 * time.Second, 10500 * time.Millisecond, 90 * time.Second, time.Hour,
				24 * time.Hour} {
				name := window.String()
				p.want(name, c.added(name, client, 5, window, 9), 5)
				p.waits(name, c.one(name, client, 5, window), window)
				p.wait(window - time.Millisecond)
				p.want(name+", just within it", c.added(name, client, 5, window, 9), 0)
				p.wait(time.Millisecond + p.Grain)
				p.want(name+", after it", c.added(name, client, 5, window, 9), 5)
			}
		}},
		{"to ask counts nothing, and says what the next one would be told", clock, func(p *place) {
			c := p.counts()
			for range 50 {
				p.waits("nobody has come", c.ask("mails", client, 2, mails), 0)
			}
			p.want("then", c.added("mails", client, 2, mails, 1), 1)
			p.wait(time.Minute)
			p.waits("one has come", c.ask("mails", client, 2, mails), 0)
			p.want("then", c.added("mails", client, 2, mails, 1), 1)
			p.wait(time.Minute)
			p.waits("two have come", c.ask("mails", client, 2, mails), 8*time.Minute)
			p.waits("and one more comes", c.one("mails", client, 2, mails), 8*time.Minute)
			for range 50 {
				c.ask("mails", client, 2, mails)
			}
			p.wait(8*time.Minute + p.Grain)
			p.waits("when the first has left", c.ask("mails", client, 2, mails), 0)
			p.want("when the first has left", c.added("mails", client, 2, mails, 9), 1)
		}},
		{"what is refused counts for nothing", clock, func(p *place) {
			c := p.counts()
			p.want("at once", c.added("mails", client, 4, time.Minute, 9), 4)
			for range 59 {
				p.wait(time.Second)
				p.want("within the minute", c.added("mails", client, 4, time.Minute, 5), 0)
			}
			p.wait(time.Second + p.Grain)
			p.want("a minute later", c.added("mails", client, 4, time.Minute, 9), 4)
		}},
		{"the limit of a call is that of the call", clock, func(p *place) {
			c := p.counts()
			for i := range 8 { // counted up to 8, and refused from 2 on, as wrong secrets are
				p.want(fmt.Sprint("event ", i+1), c.added("secrets", client, 8, time.Minute, 1), 1)
				p.wait(time.Second)
			}
			p.want("a ninth", c.added("secrets", client, 8, time.Minute, 1), 0)
			for limit, wait := range map[int]time.Duration{2: 58, 3: 57, 7: 53, 8: 52, 9: 0} {
				p.waits(fmt.Sprint("asked for ", limit), c.ask("secrets", client, limit, time.Minute), wait*time.Second)
			}
		}},
		{"a limit of nothing counts nothing", nothing, func(p *place) {
			c := p.counts()
			p.waits("nothing", c.one("mails", client, 0, mails), mails)
			p.waits("nothing, asked", c.ask("mails", client, 0, mails), mails)
			p.want("under a limit then", c.added("mails", client, 3, mails, 9), 3)
		}},
		{"names and clients are counted apart", nothing, func(p *place) {
			c := p.counts()
			for _, name := range []string{"mails", "tickets", "mails ", " mails", "mail", "Mails", ""} {
				for _, who := range []netip.Prefix{client, other, netip.MustParsePrefix("2001:db8::/64"),
					netip.MustParsePrefix("2001:db8:0:1::/64"), {}} {
					p.want(fmt.Sprintf("%q of %v", name, who), c.added(name, who, 3, mails, 9), 3)
				}
			}
		}},
		{"each client has one a minute of its own, however often others ask for theirs", clock, func(p *place) {
			const name = "turn AcCoUnT-_"
			c, first := p.counts(), netip.MustParseAddr("198.51.100.1")
			guessers, last := []netip.Prefix{}, first
			for range 5 {
				guessers, last = append(guessers, netip.PrefixFrom(last, 32)), last.Next()
			}
			late := netip.PrefixFrom(last, 32)
			for minute := range 3 {
				for second := 0; second < 60; second += 5 {
					for _, g := range guessers {
						want := 0
						if second == 0 {
							want = 1
						}
						p.want(fmt.Sprintf("minute %d, second %d, of %v", minute, second, g), c.added(name, g, 1, time.Minute, 3), want)
					}
					if second == 30 {
						p.want(fmt.Sprintf("minute %d, of one that asks late", minute), c.added(name, late, 1, time.Minute, 3), 1)
						p.want("of the same at another account", c.added(name+"x", late, 1, time.Minute, 3), 1)
					}
					p.wait(5 * time.Second)
				}
				p.wait(p.Grain)
			}
		}},
		{"a network is counted apart from those in it", nothing, func(p *place) {
			c := p.counts()
			for _, who := range []string{"2001:db8::/64", "2001:db8::/56", "2001:db8::/48", "2001:db8::/32", "10.0.0.0/32",
				"10.0.0.0/24", "10.0.0.0/16"} {
				p.want(who, c.added("mails", netip.MustParsePrefix(who), 3, mails, 9), 3)
			}
		}},
	}
}

// realTime are promises for clocks that nobody can move: windows are short, and judged by
// the times before and after each call.
func realTime() []promise {
	return []promise{
		{"no second holds more than the limit, wherever it begins", real, func(p *place) {
			const window, limit = time.Second, 5
			c := p.counts()
			type span struct{ from, to time.Time }
			var counted []span
			for start := time.Now(); time.Since(start) < 4*window; {
				from := time.Now()
				wait := c.one("real", client, limit, window)
				to := time.Now()
				if wait == 0 {
					counted = append(counted, span{from, to})
					continue
				}
				if wait > window+p.Grain {
					p.Fatalf("told to wait %v in a window of %v", wait, window)
				}
				time.Sleep(min(wait, window/9))
			}
			for i := limit; i < len(counted); i++ {
				if most := counted[i].to.Sub(counted[i-limit].from); most < window {
					p.Fatalf("%d events are counted within %v, want %d a second", limit+1, most, limit)
				}
			}
			if len(counted) < 3*limit {
				p.Fatalf("%d events are counted in four seconds, want %d", len(counted), 4*limit)
			}
		}},
		{"who waits as long as told is counted", real, func(p *place) {
			c := p.counts()
			for range 3 {
				began := time.Now()
				p.want("of five", c.added("real", client, 5, time.Second, 9), 5)
				wait := c.one("real", client, 5, time.Second) // until the first of them has left
				time.Sleep(wait + time.Since(began) + p.Grain)
			}
		}},
	}
}
