package redis

import (
	"context"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/counters/internal/local"
	"github.com/keystile/keystile/storage/counters/redis/internal/link"
)

// addresses implements counters.Addresses.
type addresses struct {
	c    *Counters
	lock counters.Lock
	kind string
	own  *local.Guard

	mu     sync.Mutex
	flying map[netip.Prefix][]flight
}

// flight is an attempt between Begin and End.
type flight struct {
	where where
	undo  func() // where byNetwork
}

// where says by what the server counts an attempt.
type where int

const (
	nowhere where = iota // it does not know of it
	byAddress
	byNetwork
)

func newAddresses(c *Counters, lock counters.Lock) *addresses {
	lock = lock.Complete()
	return &addresses{
		c: c, lock: lock, kind: "g" + millis(lock.Within) + "-" + millis(lock.For) + "-",
		own:    local.NewGuard(lock.Failures, lock.Within, lock.For),
		flying: map[netip.Prefix][]flight{},
	}
}

// Begin implements counters.Addresses. An attempt in flight keeps a place that ends by itself, as a failure
// would: a node that dies with one holds no client for longer. At an account, where one in flight holds up all
// others, that is a minute.
func (a *addresses) Begin(_ context.Context, ip netip.Addr) (wait time.Duration) {
	client, most := network.Of(ip), local.NoLimit
	wait, where, undo, err := a.begin(client)
	switch {
	case wait > 0:
		return wait
	case err != nil:
		a.c.alone.Add(1)
		fallthrough
	case a.c.link.Returning(a.lock.Within):
		most = a.c.share(a.lock.Failures)
	}
	if wait = a.own.Begin(client, most, err == nil); wait > 0 { // this node knows of more, from when it was alone
		if err == nil {
			a.c.alone.Add(1)
			a.end(client, where, undo, false)
		}
		return wait
	}
	a.mu.Lock()
	a.flying[client] = append(a.flying[client], flight{where, undo})
	a.mu.Unlock()
	return 0
}

func (a *addresses) End(_ context.Context, ip netip.Addr, failed bool) {
	client := network.Of(ip)
	a.mu.Lock()
	all := a.flying[client]
	if len(all) == 0 {
		a.mu.Unlock()
		return
	}
	f := all[len(all)-1]
	if a.flying[client] = all[:len(all)-1]; len(all) == 1 {
		delete(a.flying, client)
	}
	a.mu.Unlock()
	most := local.NoLimit
	if err := a.end(client, f.where, f.undo, failed); err != nil || a.c.link.Returning(a.lock.Within) {
		most = a.c.share(a.lock.Failures)
	}
	a.own.End(client, failed, most)
}

func (a *addresses) Clear(_ context.Context, ip netip.Addr) bool {
	client := network.Of(ip)
	r, err := a.ask(client, "clear")
	here, own := a.own.Clear(client)
	if err != nil {
		return here
	}
	return own || r[1] == 1
}

// begin asks the server.
func (a *addresses) begin(client netip.Prefix) (wait time.Duration, w where, undo func(), err error) {
	r, err := a.ask(client, "begin")
	switch {
	case err != nil:
		return 0, nowhere, nil, err
	case r[1] == 1:
		a.own.Lock(client, inMillis(r[0]))
		fallthrough
	case r[0] > 0:
		return inMillis(r[0]), nowhere, nil, nil
	case r[2] == 0:
		return 0, byAddress, nil, nil
	}
	keys, ok := a.c.keys()
	if !ok {
		return 0, nowhere, nil, link.ErrDown
	}
	e := event{kind: a.kind, client: client, window: a.lock.Within}
	h, err := a.c.wider(keys, e, a.lock.Failures, surroundings(client), true)
	if err != nil || !h.v.OK {
		return h.v.RetryAfter, nowhere, nil, err
	}
	return 0, byNetwork, h.undo, nil
}

// end tells the server how an attempt has ended.
func (a *addresses) end(client netip.Prefix, w where, undo func(), failed bool) error {
	act := "pass"
	switch {
	case w == byNetwork && failed:
		return nil // it counts as failed already
	case w == byNetwork:
		undo()
		return nil
	case w == nowhere && !failed:
		return nil
	case w == nowhere:
		act = "late"
	case failed:
		act = "fail"
	}
	r, err := a.ask(client, act)
	if err == nil && r[1] == 1 {
		a.own.Lock(client, inMillis(r[0]))
	}
	return err
}

func (a *addresses) ask(client netip.Prefix, act string) ([]int64, error) {
	keys, ok := a.c.keys()
	if !ok {
		return nil, link.ErrDown
	}
	p := keys.Client(a.kind, "", client)
	return a.c.do(attemptsScript, 3, []string{p.Bucket}, "", act, p.Field,
		millis(a.lock.Within), millis(a.lock.For), strconv.Itoa(a.lock.Failures))
}
