package redis

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/counters/internal/local"
	"github.com/keystile/keystile/storage/counters/redis/internal/link"
)

// placeLives bounds how long an attempt keeps its place if its node never ends it: longer than any takes,
// since an account with a delay has one at a time.
const placeLives = time.Minute

// accounts implements counters.Accounts.
type accounts struct {
	c *Counters

	mu     sync.Mutex
	unseen map[[32]byte]int // attempts in flight that the server does not know of
}

func newAccounts(c *Counters) *accounts { return &accounts{c: c, unseen: map[[32]byte]int{}} }

func (a *accounts) Begin(_ context.Context, account [32]byte) (wait time.Duration) {
	d, share := a.c.delays, a.c.share(local.DelayAfter)
	returning := a.c.link.Returning(local.DelayWithin)
	if returning {
		if wait = d.Begin(account, share); wait > 0 {
			a.c.alone.Add(1)
			return wait
		}
	}
	wait, err := a.ask(account, "begin")
	switch {
	case err != nil:
		a.c.alone.Add(1)
		if !returning {
			wait = d.Begin(account, share)
		}
		if wait == 0 {
			a.mu.Lock()
			a.unseen[account]++
			a.mu.Unlock()
		}
	case wait > 0 && returning:
		d.End(account, false, local.NoLimit)
	case wait == 0 && !returning:
		d.Begin(account, local.NoLimit)
	}
	return wait
}

func (a *accounts) End(_ context.Context, account [32]byte, failed bool) {
	var err error
	switch unseen := a.landed(account); {
	case unseen && failed:
		_, err = a.ask(account, "known") // a failure without a place
	case !unseen && failed:
		_, err = a.ask(account, "fail")
	case !unseen:
		_, err = a.ask(account, "pass")
	}
	a.c.delays.End(account, failed, a.most(err))
}

func (a *accounts) FailKnown(_ context.Context, account [32]byte) {
	_, err := a.ask(account, "known")
	a.c.delays.FailKnown(account, a.most(err))
}

// Wait is known where the server answers: without it each node judges alone, and knows nothing of the others.
func (a *accounts) Wait(_ context.Context, account [32]byte) (wait time.Duration, known bool) {
	wait, err := a.ask(account, "wait")
	if err != nil {
		return 0, false
	}
	if a.c.link.Returning(local.DelayWithin) {
		wait = max(wait, a.c.delays.Wait(account))
	}
	return wait, true
}

// Clear ends the delay for all nodes that reach the server, and in this one.
func (a *accounts) Clear(_ context.Context, account [32]byte) bool {
	had := a.c.delays.Clear(account)
	n, err := a.ask(account, "clear")
	if err != nil {
		return had
	}
	return n > 0
}

// most says by what this node judges.
func (a *accounts) most(err error) int {
	if err != nil || !a.c.link.Up() || a.c.link.Returning(local.DelayWithin) {
		return a.c.share(local.DelayAfter)
	}
	return local.NoLimit
}

// landed ends an attempt that the server does not know of, if there is one.
func (a *accounts) landed(account [32]byte) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := a.unseen[account]
	switch n {
	case 0:
		return false
	case 1:
		delete(a.unseen, account)
	default:
		a.unseen[account] = n - 1
	}
	return true
}

func (a *accounts) ask(account [32]byte, act string) (wait time.Duration, err error) {
	keys, ok := a.c.keys()
	if !ok {
		return 0, link.ErrDown
	}
	bucket, field := keys.Account(account)
	r, err := a.c.do(delaysScript, 1, []string{bucket}, "", act, field,
		millis(local.DelayWithin), millis(local.DelayLeast), millis(local.DelayMost), millis(placeLives),
		strconv.Itoa(local.DelayAfter))
	if err != nil {
		return 0, err
	}
	return inMillis(r[0]), nil
}
