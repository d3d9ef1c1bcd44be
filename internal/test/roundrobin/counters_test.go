package roundrobin

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/storage/counters"
)

// together stands for what counts for all nodes.
type together struct {
	guard counters.Addresses
	rates counters.Limiter

	mu      sync.Mutex
	delayed map[[32]byte]int // failures by account
	events  map[event]int
}

func newCounters() *together {
	return &together{guard: counters.NewAddresses(counters.Lock{}), rates: counters.NewLimiter(),
		delayed: map[[32]byte]int{}, events: map[event]int{}}
}

// shared makes every node count there.
func (c *together) shared(config *keystile.Config) {
	config.Counters = c
}

func (c *together) Limiter() counters.Limiter                         { return c.rates }
func (c *together) Addresses(config counters.Lock) counters.Addresses { return c.guard }
func (c *together) Accounts() counters.Accounts                       { return delays{c} }
func (c *together) Counter() counters.Counter                         { return c }
func (c *together) Describe() (kind, version, at string)              { return "", "", "" }
func (c *together) Reached() (now bool, since time.Time)              { return true, time.Time{} }

type delays struct{ *together }

func (d delays) Begin(_ context.Context, account [32]byte) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.delayed[account] >= 3 {
		return time.Minute
	}
	return 0
}

func (d delays) End(ctx context.Context, account [32]byte, failed bool) {
	if failed {
		d.FailKnown(ctx, account)
	}
}

func (d delays) FailKnown(_ context.Context, account [32]byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.delayed[account]++
}

func (d delays) Wait(ctx context.Context, account [32]byte) (time.Duration, bool) {
	return d.Begin(ctx, account), true
}

func (d delays) Clear(_ context.Context, account [32]byte) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	had := d.delayed[account] > 0
	delete(d.delayed, account)
	return had
}

type event struct {
	name   string
	client netip.Prefix
}

func (c *together) Add(ctx context.Context, name string, client netip.Prefix, limit int,
	window time.Duration) time.Duration {
	if wait := c.Wait(ctx, name, client, limit, window); wait > 0 {
		return wait
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events[event{name, client}]++
	return 0
}

func (c *together) Wait(_ context.Context, name string, client netip.Prefix, limit int,
	window time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.events[event{name, client}] >= limit {
		return window
	}
	return 0
}

// until returns how many of a client's attempts, which go round, get an answer of their own before
// 429.
func until(c *cluster, attempt func(p *person, i int) page) (n int) {
	p := c.person()
	for ; n < 200; n++ {
		if a := attempt(p, n); a.status == 429 || strings.Contains(a.body, `"errcode":429`) {
			return n
		}
	}
	return n
}

func TestCountersOfAllNodesAreNotMultiplied(t *testing.T) {
	for name, c := range map[string]struct {
		attempt func(p *person, i int) page
		want    int // let through by all nodes
	}{
		"wrong passwords of an address": {func(p *person, i int) page {
			return p.post("/oauth/signin", "username", fmt.Sprint("nobody", i), "password", "wrong")
		}, 10},
		"wrong passwords of an account": {func(p *person, _ int) page {
			return p.post("/oauth/signin", "username", "ada", "password", "wrong")
		}, 3},
		"mails that an address asks for": {func(p *person, i int) page {
			return p.post("/oauth/signin/email", "address", fmt.Sprint("a", i, "@example.org"))
		}, 30},
		"wrong secrets": {func(p *person, _ int) page {
			return p.post("/oauth/token", "grant_type", "client_credentials", "client_id", "ksapp", "client_secret", "wrong")
		}, 30},
		"wrong appkeys": {func(p *person, _ int) page {
			return p.get("/connect.php?" + form("act", "query", "appid", "ksapp", "appkey", "wrong").Encode())
		}, 30},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if n := until(newCluster(t, 2, newCounters().shared), c.attempt); n != c.want {
					t.Errorf("%d are let through by two nodes, want %d", n, c.want)
				}
			})
		})
	}
}
