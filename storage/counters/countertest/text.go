package countertest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

// strange are texts that get mixed up where keys are put together, cut, folded or quoted.
var strange = []string{
	"", " ", "  ", "\x00", "\x00\x00", "a", "A", "a ", " a", "a\x00", "a\x00b", "ab", "a b", "a:b", "a/b", "a\nb",
	"a\r\nb", "a\tb",
	"{a}", "{a}b", "{a}{b}", "{", "}", "{}", "a}b{c", "a*", "a?", "[a]", "a\\b", "a'b", "a\"b", "%61", "a%00b", "$1", "-1",
	"0", "1", "01", "1.0",
	"á", "a\u0301", "Á", "ß", "ss", "ſ", "s", "K", "k", "\u212a", "Å", "\u212b", "\u200b", "a\u200bb", "\xff", "\xfe",
	"\xff\xfe", "a\xffb", "日本", "日\xe6\x9c",
	"192.0.2.1", "192.0.2.1/32", "::ffff:192.0.2.1", "2001:db8::/64", "app", "address", "lock", "limits", "count",
	strings.Repeat("x", 4096), strings.Repeat("x", 4095), strings.Repeat("x", 4095) + "y", "y" + strings.Repeat("x", 4095),
	strings.Repeat("\x00", 4096),
	strings.Repeat("日", 1365), strings.Repeat("{", 4096),
}

// texts are the promises about names that are any text.
func texts() []promise {
	return []promise{
		{"applications of any name are counted apart", nothing, func(p *place) {
			for range 2 {
				for _, id := range strange {
					p.want(fmt.Sprintf("%.40q", id), p.allowed(id, 4, 2), 2)
				}
			}
			for _, id := range strange {
				p.want(fmt.Sprintf("%.40q", id), p.allowed(id, 5, 2), 1)
			}
		}},
		{"counts of any name are counted apart", nothing, func(p *place) {
			c := p.counts()
			for range 2 {
				for _, name := range strange {
					p.want(fmt.Sprintf("%.40q", name), c.added(name, client, 4, time.Hour, 2), 2)
				}
			}
			for _, name := range strange {
				p.want(fmt.Sprintf("%.40q", name), c.added(name, client, 5, time.Hour, 2), 1)
			}
		}},
	}
}

// apart are the promises about counts of different kinds.
func apart() []promise {
	return []promise{
		{"applications, addresses, locks, accounts and counts never meet", nothing, func(p *place) {
			l, d, c := p.locks(counters.Lock{}), p.delays(), p.counts()
			for range 2 {
				for _, id := range []string{address.String(), client.String(), "\xc0\x00\x02\x01"} {
					p.want("of an application named "+id, p.allowed(id, 4, 2), 2)
					p.want("of a count named "+id, c.added(id, client, 4, window, 2), 2)
				}
				p.want("of an address", p.held(address, 4, 2), 2)
				p.want("sign-ins of an address", l.fail(address, 2), 2)
				p.want("sign-ins to an account", d.fail(account(1), 2), 2)
			}
			key := account(1)
			p.want("of an application named as an account", p.allowed(string(key[:]), 4, 9), 4)
			p.want("sign-ins of an address", l.fail(address, 25), 6)
			p.want("sign-ins to an account", d.fail(account(1), 25), 6)
			p.want("of an address", p.held(address, 5, 9), 1)
		}},
		{"what an application does takes nothing of an address, nor the other way round", nothing, func(p *place) {
			p.want("of an application", p.allowed("app", 50, 90), 50)
			p.want("of an address", p.held(address, 3, 9), 3)
			p.want("of another application", p.allowed("app2", 3, 9), 3)
		}},
		{"a node that joins counts with the others", nothing, func(p *place) {
			l, d, c := p.locks(counters.Lock{}), p.delays(), p.counts()
			p.want("of an application", p.allowed("app", 5, 9), 5)
			p.want("of an address", p.held(address, 5, 9), 5)
			p.want("of a count", c.added("mails", client, 5, window, 9), 5)
			p.want("sign-ins of an address", l.fail(address, 25), 10)
			p.want("sign-ins to an account", d.fail(account(1), 25), 10)
			third, ctx := p.Node(), context.Background()
			rates := third.Limiter()
			v, _ := rates.HoldAddress(ctx, address, 5, p.now())
			if v.OK || rates.Allow(ctx, "app", 5, p.now()).OK {
				p.Fatal("rates of a node that has just joined begin anew")
			}
			for what, wait := range map[string]time.Duration{
				"counts": third.Counter().Add(ctx, "mails", client, 5, window),
				"locks":  third.Addresses(counters.Lock{}).Begin(ctx, address),
				"delays": third.Accounts().Begin(ctx, account(1)),
			} {
				if wait == 0 {
					p.Fatalf("%s of a node that has just joined begin anew", what)
				}
			}
			if !third.Addresses(counters.Lock{}).Clear(ctx, address) {
				p.Fatal("a node that has just joined finds no lock to clear")
			}
			p.want("sign-ins where the lock was made", l.fail(address, 2), 2)
		}},
	}
}

// contexts are the promises about requests that have ended.
func contexts() []promise {
	return []promise{
		{"what is asked with a context that has ended is counted", nothing, func(p *place) {
			ended, cancel := context.WithCancel(context.Background())
			cancel()
			late, stop := context.WithDeadline(context.Background(), time.Unix(0, 0))
			defer stop()
			for i, ctx := range []context.Context{ended, late} {
				id := fmt.Sprint("app", i)
				for range 2 {
					if v := p.limiter.Allow(ctx, id, 2, p.now()); !v.OK {
						p.Fatalf("Allow with an ended context = %+v", v)
					}
				}
				p.want("of an application", p.allowed(id, 3, 9), 1)
			}
			for range 2 {
				if v, _ := p.limiter.HoldAddress(ended, address, 2, p.now()); !v.OK {
					p.Fatalf("HoldAddress with an ended context = %+v", v)
				}
			}
			p.want("of an address", p.held(address, 3, 9), 1)
			c := p.counts()
			for range 2 {
				c.Add(ended, "mails", client, 2, window)
			}
			if wait := c.Wait(ended, "mails", client, 2, window); wait <= 0 {
				p.Fatal("Wait with an ended context says that there is room")
			}
			p.want("of a count", c.added("mails", client, 3, window, 9), 1)
		}},
		{"attempts with a context that has ended are counted", nothing, func(p *place) {
			ended, cancel := context.WithCancel(context.Background())
			cancel()
			l, d := p.locks(counters.Lock{}), p.delays()
			for range 10 {
				if l.Begin(ended, address) != 0 || d.Begin(ended, account(1)) != 0 {
					p.Fatal("one of ten attempts with an ended context waits")
				}
				l.End(ended, address, true)
				d.End(ended, account(1), true)
				d.FailKnown(ended, account(2))
			}
			p.want("sign-ins of an address", l.fail(address, 1), 0)
			p.want("sign-ins to an account", d.fail(account(1), 1)+d.fail(account(2), 1), 0)
			if !l.Clear(ended, address) {
				p.Fatal("Clear with an ended context clears nothing")
			}
			p.want("sign-ins of an address then", l.fail(address, 1), 1)
		}},
	}
}
