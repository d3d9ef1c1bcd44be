package countertest

import (
	"context"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

// delays is the delay of accounts of a place.
type delays struct {
	*place
	counters.Accounts
}

func (p *place) delays() delays { return delays{p, p.nodes.Accounts()} }

// account is the i-th. They differ in their last byte alone.
func account(i int) (key [32]byte) {
	key[0], key[30], key[31] = 0x41, byte(i>>8), byte(i)
	return key
}

func (d delays) begin(key [32]byte) time.Duration { return d.Begin(context.Background(), key) }
func (d delays) end(key [32]byte, failed bool)    { d.End(context.Background(), key, failed) }

// fail makes n attempts that fail, and says how many were let through.
func (d delays) fail(key [32]byte, n int) (through int) {
	for range n {
		if d.begin(key) == 0 {
			through++
			d.end(key, true)
		}
	}
	return through
}

// delaying are the promises of the delay of accounts (decision 56).
func delaying() []promise {
	return []promise{
		{"the tenth failure delays by a second, and each further one by twice as much, up to a minute", clock,
			func(p *place) {
				d := p.delays()
				p.want("at once", d.fail(account(1), 25), 10)
				for i, seconds := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60} {
					p.waits(fmt.Sprint("delay ", i+1), d.begin(account(1)), seconds*time.Second)
					p.wait(seconds*time.Second - p.justBefore())
					if wait := d.begin(account(1)); wait < p.justBefore() {
						p.Fatalf("just before the end of delay %d it waits %v", i+1, wait)
					}
					p.wait(p.justBefore())
					p.want(fmt.Sprint("after delay ", i+1), d.fail(account(1), 5), 1)
				}
			}},
		{"an attempt that has to wait makes nobody wait longer", clock, func(p *place) {
			d := p.delays()
			d.fail(account(1), 10)
			for i := range 9 {
				p.waits("one of many", d.begin(account(1)), time.Second-time.Duration(i)*100*time.Millisecond)
				p.wait(100 * time.Millisecond)
			}
			p.wait(100*time.Millisecond + p.Grain)
			p.want("after the delay", d.fail(account(1), 5), 1)
		}},
		{"once there is a delay one attempt at a time is let through", clock, func(p *place) {
			d := p.delays()
			d.fail(account(1), 10)
			p.wait(time.Second + p.Grain)
			if wait := d.begin(account(1)); wait != 0 {
				p.Fatalf("after the delay it waits %v", wait)
			}
			for range 5 {
				if wait := d.begin(account(1)); wait <= 0 {
					p.Fatal("a second is let through beside the first")
				}
			}
			d.end(account(1), false)
			p.want("when it has ended", d.fail(account(1), 5), 1)
			p.waits("after it failed", d.begin(account(1)), 2*time.Second)
		}},
		{"attempts under way count as failed", nothing, func(p *place) {
			d := p.delays()
			p.want("failures", d.fail(account(1), 4), 4)
			through := 0
			for range 30 {
				if d.begin(account(1)) == 0 {
					through++
				}
			}
			p.want("beside 4 failures", through, 6)
			for range 6 {
				d.end(account(1), false)
			}
			p.want("failures when those have ended", d.fail(account(1), 25), 6)
		}},
		{"a success does not reset the count, nor end the delay", clock, func(p *place) {
			d := p.delays()
			p.want("failures", d.fail(account(1), 9), 9)
			for range 20 {
				if d.begin(account(1)) != 0 {
					p.Fatal("a success is delayed")
				}
				d.end(account(1), false)
			}
			p.want("the tenth failure", d.fail(account(1), 5), 1)
			p.wait(time.Second + p.Grain)
			if wait := d.begin(account(1)); wait != 0 {
				p.Fatalf("after the delay it waits %v", wait)
			}
			d.end(account(1), false)
			p.want("a failure after a success", d.fail(account(1), 5), 1)
			p.waits("then", d.begin(account(1)), 2*time.Second)
		}},
		{"failures in known browsers count, and are not delayed", clock, func(p *place) {
			d := p.delays()
			for range 9 {
				d.FailKnown(context.Background(), account(1))
			}
			p.want("the tenth", d.fail(account(1), 5), 1)
			p.waits("after it", d.begin(account(1)), time.Second)
			d.FailKnown(context.Background(), account(1))
			p.waits("after one in a known browser", d.begin(account(1)), 2*time.Second)
			for range 10 {
				d.FailKnown(context.Background(), account(2))
			}
			p.waits("after ten in known browsers", d.begin(account(2)), time.Second)
		}},
		{"failures count for five minutes, each for itself", clock, func(p *place) {
			d := p.delays()
			p.want("at first", d.fail(account(1), 5), 5)
			p.wait(4 * time.Minute)
			p.want("after four minutes", d.fail(account(1), 4), 4)
			p.wait(time.Minute + p.Grain)
			p.want("after five minutes", d.fail(account(1), 25), 6)
			p.waits("then", d.begin(account(1)), time.Second)
		}},
		{"the delay ends with five minutes without a failure", clock, func(p *place) {
			d := p.delays()
			d.fail(account(1), 10)
			for range 4 {
				p.wait(time.Minute + p.Grain)
				p.want("a minute later", d.fail(account(1), 5), 1)
			}
			if wait := d.begin(account(1)); wait <= 8*time.Second {
				p.Fatalf("after fourteen failures it waits %v", wait)
			}
			p.wait(5*time.Minute - time.Millisecond)
			p.want("within five minutes", d.fail(account(1), 25), 1)
			p.wait(5*time.Minute + p.Grain)
			p.want("five minutes later", d.fail(account(1), 25), 10)
			p.waits("then", d.begin(account(1)), time.Second)
		}},
		{"nine failures in five minutes delay nobody, ever", clock, func(p *place) {
			d := p.delays()
			for range 20 {
				p.want("of nine", d.fail(account(1), 9), 9)
				p.wait(5*time.Minute + p.Grain)
			}
		}},
		{"how long an account waits is told, and nothing is counted by it", clock, func(p *place) {
			d, ctx := p.delays(), context.Background()
			told := func(what string, want time.Duration) {
				wait, known := d.Wait(ctx, account(1))
				if !known {
					p.Fatalf("%s: how long it waits is not known", what)
				}
				p.waits(what, wait, want)
			}
			told("of a new account", 0)
			p.want("failures", d.fail(account(1), 9), 9)
			for range 20 {
				told("after nine failures", 0)
			}
			p.want("the tenth failure", d.fail(account(1), 5), 1)
			told("after ten", time.Second)
			p.wait(time.Second + p.Grain)
			told("after the delay", 0)
			p.want("the next", d.fail(account(1), 5), 1)
			told("after eleven", 2*time.Second)
			p.waits("as it is", d.begin(account(1)), 2*time.Second)
		}},
		{"an account that is cleared waits no more, and begins anew", clock, func(p *place) {
			d, ctx := p.delays(), context.Background()
			if d.Clear(ctx, account(1)) {
				p.Fatal("a new account had failures")
			}
			d.fail(account(1), 10)
			d.fail(account(2), 10)
			if !d.Clear(ctx, account(1)) || d.Clear(ctx, account(1)) {
				p.Fatal("it says not that there were failures, or says it twice")
			}
			if wait, known := d.Wait(ctx, account(1)); wait != 0 || !known {
				p.Fatalf("it still waits %v, %v", wait, known)
			}
			p.waits("another account", d.begin(account(2)), time.Second)
			p.want("failures then", d.fail(account(1), 25), 10)
			p.waits("after those", d.begin(account(1)), time.Second)
		}},
		{"attempts in flight go on when an account is cleared", nothing, func(p *place) {
			d := p.delays()
			for range 4 {
				d.begin(account(1))
			}
			d.Clear(context.Background(), account(1))
			p.want("beside four in flight", func() (n int) {
				for range 30 {
					if d.begin(account(1)) == 0 {
						n++
					}
				}
				return n
			}(), 6)
		}},
		{"each account has its own", nothing, func(p *place) {
			d := p.delays()
			for i := range 50 {
				p.want("of one account", d.fail(account(1+i), 25), 10)
			}
			for _, key := range [][32]byte{{}, {31: 1}, {0x41}, {0x41, 0, '\n', '}', '{', 0xff}} {
				p.want("of another account", d.fail(key, 9), 9)
			}
		}},
		{"an attempt that its node never ends delays nobody for ever", abandoned, func(p *place) {
			d := p.delays()
			d.fail(account(1), 10)
			p.wait(time.Second + p.Grain)
			d.begin(account(1))
			p.wait(p.Abandoned + p.Grain)
			p.want("after that time", min(1, d.fail(account(1), 5)), 1)
			for range 10 {
				d.begin(account(2))
			}
			p.wait(p.Abandoned + p.Grain)
			p.want("of another after that time", min(1, d.fail(account(2), 5)), 1)
		}},
	}
}
