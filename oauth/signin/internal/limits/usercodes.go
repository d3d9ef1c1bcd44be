package limits

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

// Wrong codes of devices that one user, and one address, may type in ten minutes. An office is one
// address too, and one of its users must not keep the others from theirs.
const (
	WrongCodesPerUser = 5
	WrongCodesPerIP   = 30
	wrongCodesTime    = 10 * time.Minute
)

// userCodeLocks bounds how many users type at once without waiting for each other.
const userCodeLocks = 64

// UserCodes counts the wrong codes of devices that signed-in users have typed. The codes of one user are
// looked up one after the other, so that many at once are no more than as many in turn. They are counted
// by what several processes share, if there is such a thing; each of these may then look up one code more.
type UserCodes struct {
	counter counters.Counter
	turns   [userCodeLocks]sync.Mutex
}

func newUserCodes(shared counters.Counter) *UserCodes {
	if shared == nil {
		shared = counters.NewCounter()
	}
	return &UserCodes{counter: shared}
}

// Try looks up a code by a function that reports whether there is such a one, and counts it if there is
// not. If the user or their address has typed too many wrong ones it looks up nothing, and returns how
// long to wait.
func (c *UserCodes) Try(ctx context.Context, sub string, client netip.Prefix,
	lookUp func() (found bool, err error)) (wait time.Duration, err error) {
	account := AccountOf("device", sub)
	turn := &c.turns[account[0]%userCodeLocks]
	turn.Lock()
	defer turn.Unlock()
	user := "device codes " + sub
	wait = max(
		c.counter.Wait(ctx, user, netip.Prefix{}, WrongCodesPerUser, wrongCodesTime),
		c.counter.Wait(ctx, "device codes", client, WrongCodesPerIP, wrongCodesTime),
	)
	if wait > 0 {
		return wait, nil
	}
	found, err := lookUp()
	if err == nil && !found {
		c.counter.Add(ctx, user, netip.Prefix{}, WrongCodesPerUser, wrongCodesTime)
		c.counter.Add(ctx, "device codes", client, WrongCodesPerIP, wrongCodesTime)
	}
	return 0, err
}
