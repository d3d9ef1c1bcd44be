package counters

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/storage/counters/internal/limit"
)

// Window is the length of the sliding window of every rate: no half-open span of this
// length holds more requests than the rate admits (protocol 8).
const Window = time.Minute

// Unlimited is a limit that is none, of a rate or of a quota.
const Unlimited = -1

// Limiter keeps rates. NewLimiter makes the one of this process.
type Limiter interface {
	// Allow counts one request of an account unless limit are counted in the Window that ends
	// now. limit may differ from call to call and may be Unlimited. An account is an application, one
	// user of an application that nobody registered here (storage.Caller.Account), or what a user is
	// known by, such as "session " and its id: any text of up to 1,100 bytes.
	Allow(ctx context.Context, account string, limit int, now time.Time) Verdict
	// HoldAddress counts a request of an unknown caller against its address (IPv6: its /64), which
	// may make per of them. Over IPv6 the /56 and the /48 around it may make 4 and 16 times as many.
	// A request that any of them refuses counts for none, and the verdict speaks of the address. undo,
	// which is never nil, takes the request back as if it had never been made; it is called at most once.
	HoldAddress(ctx context.Context, from netip.Addr, per int, now time.Time) (v Verdict, undo func())
}

// Verdict is a Limiter's answer.
type Verdict struct {
	OK         bool
	Limit      int           // the given limit
	Remaining  int           // how many more are admitted now; Unlimited if Limit is
	Reset      time.Duration // until Remaining grows, if nothing else is admitted
	RetryAfter time.Duration // if not OK: a retry is admitted then, if nothing else is
}

// Headers sets the headers that tell a client its rate (draft-ietf-httpapi-ratelimit-headers-11).
func (v Verdict) Headers(h http.Header) {
	if v.Limit == Unlimited {
		return
	}
	window := strconv.Itoa(int(Window / time.Second))
	h["Ratelimit-Policy"] = []string{`"default";q=` + strconv.Itoa(v.Limit) + `;w=` + window}
	h["Ratelimit"] = []string{`"default";r=` + strconv.Itoa(v.Remaining) + `;t=` + seconds(v.Reset)}
}

// RetryHeaders returns the headers of a refusal.
func (v Verdict) RetryHeaders() http.Header {
	h := http.Header{"Retry-After": {seconds(v.RetryAfter)}}
	v.Headers(h)
	return h
}

// seconds rounds up, so that who waits that long has waited long enough.
func seconds(d time.Duration) string {
	return strconv.Itoa(max(1, int((d+time.Second-1)/time.Second)))
}

// rates is the Limiter of one process. Applications and users have a table of their own, which no flood of
// addresses can fill.
type rates struct {
	apps, addresses *limit.Limiter
	networks        *network.Counts
}

// NewLimiter makes a Limiter that is exact within this process.
func NewLimiter() Limiter { return newRates() }

func newRates() rates {
	return rates{newTable(Window), newTable(Window), network.NewCountsOf(Window, maxNetworks, maxNetworks, maxNetworks/4)}
}

func newTable(window time.Duration) *limit.Limiter {
	l, err := limit.New(limit.Config{Window: window})
	if err != nil {
		panic(err) // of a window that is written in this package
	}
	return l
}

func (l rates) Allow(_ context.Context, account string, limit int, now time.Time) Verdict {
	return verdict(l.apps.Allow(account, limit, now))
}

func verdict(v limit.Verdict) Verdict {
	return Verdict{v.OK, v.Limit, v.Remaining, v.Reset, v.RetryAfter}
}
