package countertest

import (
	"context"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

// undoing are the promises of what HoldAddress returns to take a request back.
func undoing() []promise {
	return []promise{
		{"a request that is taken back was never made", nothing, func(p *place) {
			for range 100 {
				v, undo := p.hold(address, 2)
				if !v.OK || v.Remaining != 1 {
					p.Fatalf("the first request = %+v", v)
				}
				undo()
			}
			p.want("then", p.held(address, 2, 9), 2)
		}},
		{"the one that is taken back is that one, and no other", clock, func(p *place) {
			for middle := range 3 {
				p.fresh()
				until := p.waiter()
				var back [3]func()
				for i := range back {
					until(time.Duration(i) * 10 * time.Second)
					v, undo := p.hold(address, 3)
					if back[i] = undo; !v.OK {
						p.Fatalf("request %d of 3 = %+v", i+1, v)
					}
				}
				back[middle]()
				until(25 * time.Second)
				first := []int{10, 0, 0}[middle] // the oldest that is left
				v, _ := p.hold(address, 3)
				what := fmt.Sprint("without request ", middle+1)
				p.verdict(what, v, counters.Verdict{OK: true, Limit: 3, Reset: window - 25*time.Second +
					time.Duration(first)*time.Second})
				until(window + time.Duration(first)*time.Second - time.Millisecond)
				p.want(what+", before the oldest has left", p.held(address, 3, 2), 0)
				until(window + time.Duration(first)*time.Second + p.Grain)
				p.want(what+", when it has left", p.held(address, 3, 9), 1)
				second := []int{20, 20, 10}[middle]
				until(window + time.Duration(second)*time.Second - time.Millisecond)
				p.want(what+", before the next has left", p.held(address, 3, 2), 0)
				until(window + time.Duration(second)*time.Second + p.Grain)
				p.want(what+", when the next has left", p.held(address, 3, 9), 1)
			}
		}},
		{"of many at one moment one is taken back", nothing, func(p *place) {
			var back []func()
			for range 20 {
				_, undo := p.hold(address, 20)
				back = append(back, undo)
			}
			p.want("too many", p.held(address, 20, 9), 0)
			for _, i := range []int{7, 0, 19} {
				back[i]()
				p.want("for one that is taken back", p.held(address, 20, 9), 1)
			}
			back[3]()
			back[12]()
			p.want("for two that are taken back", p.held(address, 20, 9), 2)
		}},
		{"one that has left already is taken back from nobody", clock, func(p *place) {
			_, late := p.hold(address, 1)
			p.wait(window + p.Grain)
			p.want("a minute later", p.held(address, 1, 9), 1)
			late()
			p.want("when the old one is taken back", p.held(address, 1, 9), 0)
			_, later := p.hold(inSite(0, 0), 5)
			p.wait(2 * window)
			n := p.held(inSite(1, 0), 5, 9) + p.held(inSite(2, 0), 5, 9) + p.held(inSite(3, 0), 5, 9) +
				p.held(inSite(4, 0), 5, 9)
			p.want("of a /56 two minutes later", n, 20)
			later()
			p.want("of a /56 when an old one is taken back", p.held(inSite(5, 0), 5, 9), 0)
		}},
		{"to take back what was refused changes nothing", nothing, func(p *place) {
			p.want("of three", p.held(address, 3, 3), 3)
			for range 20 {
				v, undo := p.hold(address, 3)
				if undo(); v.OK {
					p.Fatalf("one too many = %+v", v)
				}
			}
			n := 0
			for i := range 20 {
				v, undo := p.hold(inSite(i, 0), 1)
				if n++; !v.OK {
					undo()
					n--
				}
			}
			p.want("of a /56", n, 4)
		}},
		{"a request that is taken back is taken off each network around it", nothing, func(p *place) {
			for range 10 {
				var back []func()
				for i := range 16 {
					v, undo := p.hold(inSite(i%4, i/4), 1)
					if back = append(back, undo); !v.OK {
						p.Fatalf("request %d of a /48 = %+v", i+1, v)
					}
				}
				p.want("of a full /48", p.held(inSite(0, 9), 1, 1), 0)
				for _, undo := range back {
					undo()
				}
			}
		}},
		{"it is taken back also when its request has ended", nothing, func(p *place) {
			for i := range 20 {
				ctx, cancel := context.WithCancel(context.Background())
				v, undo := p.limiter.HoldAddress(ctx, inSite(i, 0), 1, p.now())
				if cancel(); !v.OK {
					p.Fatalf("request %d of a /56, those before are taken back = %+v", i+1, v)
				}
				undo()
			}
		}},
		{"what is taken back leaves the times of the others as they were", clock, func(p *place) {
			_, first := p.hold(address, 9)
			p.wait(5 * time.Second)
			p.want("the second", p.held(address, 9, 1), 1)
			p.wait(5 * time.Second)
			first()
			v, _ := p.hold(address, 9)
			p.verdict("the third", v, counters.Verdict{OK: true, Limit: 9, Remaining: 7, Reset: 55 * time.Second})
		}},
	}
}
