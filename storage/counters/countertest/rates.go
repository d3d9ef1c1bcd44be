package countertest

import (
	"fmt"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

// rates are the promises of Limiter.Allow about one limit.
func rates() []promise {
	return []promise{
		{"no minute holds more than the limit, wherever it begins", clock, func(p *place) {
			until := p.waiter()
			for i := range 3 {
				until(time.Duration(i) * 10 * time.Second)
				p.want("the first three", p.allowed("app", 3, 1), 1)
			}
			for _, c := range []struct {
				after time.Duration
				want  int
			}{{59 * time.Second, 0}, {window + p.Grain, 1}, {69 * time.Second, 0}, {70*time.Second + p.Grain, 1},
				{79 * time.Second, 0}, {80*time.Second + p.Grain, 1}, {119 * time.Second, 0}} {
				until(c.after)
				p.want(fmt.Sprint("after ", c.after), p.allowed("app", 3, 5), c.want)
			}
		}},
		{"a minute that begins anew has no new allowance", clock, func(p *place) {
			p.wait(window - time.Duration(p.now().UnixNano())%window + 59*time.Second)
			p.want("at the end of one minute of the clock", p.allowed("app", 60, 100), 60)
			p.wait(2 * time.Second)
			p.want("at the beginning of the next", p.allowed("app", 60, 100), 0)
			p.wait(57 * time.Second)
			p.want("59 seconds later", p.allowed("app", 60, 100), 0)
			p.wait(time.Second + p.Grain)
			p.want("a minute later", p.allowed("app", 60, 100), 60)
		}},
		{"an allowance does not grow back bit by bit", clock, func(p *place) {
			p.want("at once", p.allowed("app", 60, 60), 60)
			for range 59 {
				p.wait(time.Second)
				p.want("within the minute", p.allowed("app", 60, 1), 0)
			}
		}},
		{"Remaining, Reset and RetryAfter say exactly what is left and when", clock, func(p *place) {
			until := p.waiter()
			for i := range 4 {
				until(time.Duration(i) * 7 * time.Second)
				p.verdict(fmt.Sprint("request ", i+1), p.allow("app", 4),
					counters.Verdict{OK: true, Limit: 4, Remaining: 3 - i, Reset: window - time.Duration(i)*7*time.Second})
			}
			for range 3 {
				p.verdict("a request too many", p.allow("app", 4), counters.Verdict{Limit: 4, Reset: 39 * time.Second,
					RetryAfter: 39 * time.Second})
			}
			until(window + p.Grain)
			p.verdict("when the first has left", p.allow("app", 4), counters.Verdict{OK: true, Limit: 4,
				Reset: 7*time.Second - p.Grain})
		}},
		{"a retry is admitted at RetryAfter, and not before", clock, func(p *place) {
			for i := range 20 {
				id := fmt.Sprint("app", i)
				p.want("the first", p.allowed(id, 2, 1), 1)
				p.wait(time.Duration(1+i*i) * 17 * time.Millisecond)
				p.want("the second", p.allowed(id, 2, 1), 1)
				for range 3 {
					v := p.allow(id, 2)
					if v.OK || v.RetryAfter <= p.justBefore() {
						p.Fatalf("a request too many = %+v", v)
					}
					p.wait(v.RetryAfter - p.justBefore())
					p.want("just before RetryAfter", p.allowed(id, 2, 1), 0)
					p.wait(p.justBefore())
					p.want("at RetryAfter", p.allowed(id, 2, 1), 1)
				}
			}
		}},
		{"what is refused counts for nothing", clock, func(p *place) {
			p.want("at once", p.allowed("app", 5, 5), 5)
			for range 59 {
				p.wait(time.Second)
				p.want("within the minute", p.allowed("app", 5, 20), 0)
			}
			p.wait(time.Second + p.Grain)
			p.want("a minute later", p.allowed("app", 5, 20), 5)
		}},
		{"what came last is remembered as long as what came first", clock, func(p *place) {
			until := p.waiter()
			p.want("the first", p.allowed("app", 2, 1), 1)
			until(59 * time.Second)
			p.want("the second", p.allowed("app", 2, 1), 1)
			until(window + p.Grain)
			p.want("when the first has left", p.allowed("app", 2, 9), 1)
			until(118 * time.Second)
			p.want("before the second has left", p.allowed("app", 2, 9), 0)
			until(119*time.Second + p.Grain)
			p.want("when the second has left", p.allowed("app", 2, 9), 1)
		}},
		{"after a minute of silence everything is as at first", clock, func(p *place) {
			for range 3 {
				p.verdict("the first request", p.allow("app", 60), counters.Verdict{OK: true, Limit: 60, Remaining: 59,
					Reset: window})
				p.want("the others", p.allowed("app", 60, 100), 59)
				p.wait(window + p.Grain)
			}
			p.wait(25 * time.Hour)
			p.verdict("the first of the next day", p.allow("app", 60),
				counters.Verdict{OK: true, Limit: 60, Remaining: 59, Reset: window})
		}},
		{"a large limit is as exact as a small one", clock, func(p *place) {
			until := p.waiter()
			for i := range 60 {
				until(time.Duration(i) * 100 * time.Millisecond)
				p.want("of 3,000", p.allowed("app", 3000, 50), 50)
			}
			until(30 * time.Second)
			p.verdict("one more", p.allow("app", 3000), counters.Verdict{Limit: 3000, Reset: 30 * time.Second,
				RetryAfter: 30 * time.Second})
			until(63*time.Second + p.Grain)
			p.want("when 31 of 60 parts have left", p.allowed("app", 3000, 2000), 31*50)
		}},
		{"a flood of one application is refused to the end of it", nothing, func(p *place) {
			p.want("of a flood", p.allowed("app", 7, 2000), 7)
		}},
		{"each application has its own", nothing, func(p *place) {
			for range 4 {
				for i := range 50 {
					p.allow(fmt.Sprint("app", i), 3)
				}
			}
			for i := range 50 {
				p.want("what is left of 3", p.allowed(fmt.Sprint("app", i), 5, 9), 2)
			}
		}},
	}
}

// changingLimits are the promises about limits that differ from call to call.
func changingLimits() []promise {
	return []promise{
		{"the limit of a call is that of the call", nothing, func(p *place) {
			for _, c := range []struct{ limit, want int }{{5, 5}, {3, 0}, {8, 3}, {8, 0}, {1, 0}, {9, 1}, {20, 11}, {20, 0}} {
				p.want(fmt.Sprint("with a limit of ", c.limit), p.allowed("app", c.limit, 30), c.want)
			}
		}},
		{"under a smaller limit RetryAfter waits until enough have left", clock, func(p *place) {
			until := p.waiter()
			for i := range 5 {
				until(time.Duration(i) * time.Second)
				p.want("of five", p.allowed("app", 10, 1), 1)
			}
			until(5 * time.Second)
			for limit, leaves := range map[int]time.Duration{5: 0, 4: 1, 3: 2, 2: 3, 1: 4} {
				wait := window + leaves*time.Second - 5*time.Second
				p.verdict(fmt.Sprint("with a limit of ", limit), p.allow("app", limit),
					counters.Verdict{Limit: limit, Reset: wait, RetryAfter: wait})
			}
			p.verdict("with room for one", p.allow("app", 6), counters.Verdict{OK: true, Limit: 6, Reset: 55 * time.Second})
			until(62*time.Second - time.Millisecond)
			p.want("under 3, before enough have left", p.allowed("app", 4, 1), 0)
			until(62*time.Second + p.Grain)
			p.want("under 4, when three of six have left", p.allowed("app", 4, 3), 1)
		}},
		{"what is admitted under a large limit counts under a small one, however long it stands", clock, func(p *place) {
			p.want("a hundred", p.allowed("app", 100, 100), 100)
			p.wait(30 * time.Second)
			p.want("under 2", p.allowed("app", 2, 9), 0)
			p.wait(30*time.Second - time.Millisecond)
			p.want("under 99, just before they leave", p.allowed("app", 99, 9), 0)
			p.wait(time.Millisecond + p.Grain)
			p.want("under 2, when they have left", p.allowed("app", 2, 9), 2)
		}},
		{"without a limit everything is admitted and nothing counted", nothing, func(p *place) {
			for range 100 {
				if v := p.allow("app", counters.Unlimited); v != (counters.Verdict{OK: true, Limit: counters.Unlimited,
					Remaining: counters.Unlimited}) {
					p.Fatalf("without a limit = %+v", v)
				}
			}
			p.want("under a limit then", p.allowed("app", 3, 9), 3)
			p.want("without one", p.allowed("app", counters.Unlimited, 9), 9)
		}},
		{"a limit of nothing admits nothing", nothing, func(p *place) {
			for _, limit := range []int{0, -2, -100, -1 << 31} {
				for _, id := range []string{"new", "used"} {
					p.allow("used", 1)
					v := p.allow(id, limit)
					if v.OK || v.Remaining != 0 || v.RetryAfter != window || v.Reset != window {
						p.Fatalf("with a limit of %d = %+v, want to wait %v", limit, v, window)
					}
				}
			}
			p.want("under a limit then", p.allowed("new", 3, 9), 3)
		}},
		{"the largest limits are limits too", nothing, func(p *place) {
			for _, limit := range []int{1 << 20, 1<<31 - 1} {
				v := p.allow(fmt.Sprint("app", limit), limit)
				p.verdict(fmt.Sprint("with a limit of ", limit), v, counters.Verdict{OK: true, Limit: limit, Remaining: limit - 1,
					Reset: v.Reset})
			}
		}},
	}
}
