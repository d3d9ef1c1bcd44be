package countertest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

// many callers come at once.
const many = 64

// together runs something many times at once, and returns how often it succeeded.
func (p *place) together(do func(i int) bool) int {
	var group sync.WaitGroup
	var done atomic.Int32
	start := make(chan struct{})
	for i := range many {
		group.Go(func() {
			<-start
			if do(i) {
				done.Add(1)
			}
		})
	}
	close(start)
	group.Wait()
	return int(done.Load())
}

// crowds are the promises about callers who come at once, to both nodes.
func crowds() []promise {
	return []promise{
		{"of many requests at once exactly the limit is admitted", nothing, func(p *place) {
			for i := range 20 {
				id := fmt.Sprint("app", i)
				p.want("of an application", p.together(func(int) bool { return p.allow(id, 20).OK }), 20)
				p.want("then", p.allowed(id, 20, 5), 0)
			}
		}},
		{"of many requests of one address at once exactly the limit is admitted", nothing, func(p *place) {
			for i := range 10 {
				p.want("of a /64", p.together(func(int) bool { v, _ := p.hold(inSite(i, 9*i), 20); return v.OK }), 20)
			}
		}},
		{"of many clients of a network at once exactly four times the limit is admitted", nothing, func(p *place) {
			for j := range 3 {
				n := p.together(func(i int) bool { v, _ := p.hold(inSite(i, j), 5); return v.OK })
				p.want("of a /56 whose clients come at once", n+p.held(inSite(70, j), 5, 9)+p.held(inSite(71, j), 5,
					9)+p.held(inSite(72, j), 5, 9)+p.held(inSite(73, j), 5, 9), 20)
			}
		}},
		{"many who take back what they were admitted leave nothing", nothing, func(p *place) {
			p.together(func(i int) bool {
				for range 20 {
					_, undo := p.hold(inSite(i%8, 0), 30)
					undo()
				}
				return true
			})
			n := 0
			for i := range 8 {
				n += p.held(inSite(i, 0), 30, 31)
			}
			p.want("of a /56 then", n, 120)
		}},
		{"many who take back take back their own", nothing, func(p *place) {
			kept := p.together(func(i int) bool {
				v, undo := p.hold(address, 2*many)
				if i%2 == 0 {
					undo()
				}
				return v.OK && i%2 == 1
			})
			p.want("who stay", kept, many/2)
			p.want("beside those who stay", p.held(address, 2*many, 3*many), 2*many-many/2)
		}},
		{"of many attempts at once ten are under way", nothing, func(p *place) {
			l := p.locks(counters.Lock{})
			p.want("of an address", p.together(func(int) bool { return l.begin(address) == 0 }), 10)
			p.together(func(i int) bool {
				if i < 10 {
					l.end(address, true)
				}
				return true
			})
			p.want("when all ten have failed", l.fail(address, 5), 0)
			p.want("of another", l.fail(neighbor, 25), 10)
		}},
		{"of many failures at once ten are let through", nothing, func(p *place) {
			l, d := p.locks(counters.Lock{}), p.delays()
			for i := range 5 {
				p.want("of an address", p.together(func(int) bool { return l.fail(inSite(0, i), 1) == 1 }), 10)
				p.want("to an account", p.together(func(int) bool { return d.fail(account(i), 1) == 1 }), 10)
			}
		}},
		{"of many successes at once none is left under way", nothing, func(p *place) {
			l, d := p.locks(counters.Lock{}), p.delays()
			p.together(func(int) bool {
				for range 20 {
					if l.begin(address) == 0 {
						l.end(address, false)
					}
					if d.begin(account(1)) == 0 {
						d.end(account(1), false)
					}
				}
				return true
			})
			p.want("of an address then", l.fail(address, 25), 10)
			p.want("to an account then", d.fail(account(1), 25), 10)
		}},
		{"once an account is delayed, of many at once one is let through", clock, func(p *place) {
			d := p.delays()
			d.fail(account(1), 10)
			for range 5 {
				p.wait(time.Minute + p.Grain)
				p.want("of many", p.together(func(int) bool { return d.begin(account(1)) == 0 }), 1)
				d.end(account(1), true)
			}
		}},
		{"of many events at once exactly the limit is counted", nothing, func(p *place) {
			c := p.counts()
			for i := range 20 {
				name := fmt.Sprint("mails", i)
				p.want("of a client", p.together(func(int) bool { return c.one(name, client, 20, time.Hour) == 0 }), 20)
			}
		}},
	}
}
