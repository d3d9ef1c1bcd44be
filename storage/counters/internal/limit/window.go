package limit

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math/bits"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/internal/network"
)

// Unlimited is the limit that admits everything and counts nothing.
const Unlimited = -1

// Config of a Limiter. Its zero value is the protocol's minute (protocol 8) for a
// million keys.
type Config struct {
	// Window is the length of the sliding window: at most 24 hours. Zero is one minute.
	Window time.Duration
	// MaxKeys bounds the keys that have a window of their own at a time: at most 16,777,216. Zero
	// is 1,000,000. A key takes up to 52 bytes with one request in its window; with more, up to 40
	// and 32 for each further one. The counts of all other keys take up to 9 for each of MaxKeys,
	// once there are others.
	MaxKeys int
	// Client says whose key it is, and for what: while the table is full of live windows, a key
	// that it does not hold is counted by the networks around that client, each kind apart. If it
	// is nil, or says the zero Prefix, such a key is counted by itself, less exactly.
	Client func(key string) (client netip.Prefix, kind string)
}

const (
	maxWindow = 24 * time.Hour // what is counted for longer is a quota
	maxKeys   = 1 << 24
)

// Limiter admits at most a number of requests of a key in any window of time. It is safe
// for concurrent use. It runs no goroutine and needs no closing.
type Limiter struct {
	window   int64 // in nanoseconds, as are all times below
	epoch    time.Time
	seeds    [2]maphash.Seed
	shards   []shard // a power of two
	turn     atomic.Uint32
	keys     ledger
	client   func(key string) (client netip.Prefix, kind string)
	networks *network.Counts // of the keys beyond MaxKeys
}

// New returns a Limiter without keys, or every complaint about its Config.
func New(c Config) (*Limiter, error) {
	var errs []error
	if c.Window < 0 || c.Window > maxWindow {
		errs = append(errs, fmt.Errorf("limit: Window is %v; give a duration up to %v, or 0 for one minute", c.Window,
			maxWindow))
	}
	if c.MaxKeys < 0 || c.MaxKeys > maxKeys {
		errs = append(errs, fmt.Errorf("limit: MaxKeys is %d; give a number up to %d, or 0 for 1,000,000", c.MaxKeys,
			maxKeys))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if c.Window == 0 {
		c.Window = time.Minute
	}
	if c.MaxKeys == 0 {
		c.MaxKeys = 1_000_000
	}
	l := &Limiter{
		window: int64(c.Window),
		epoch:  time.Now(),
		seeds:  [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		shards: make([]shard, shardsFor(c.MaxKeys)),
		keys:   ledger{max: int64(c.MaxKeys)},
		client: c.Client, networks: network.NewCounts(c.Window, c.MaxKeys/8),
	}
	for i := range l.shards {
		l.shards[i].latest = -farthest
	}
	return l, nil
}

// shardsFor returns a power of two from 1 to 256 that leaves a shard 64 keys or more.
func shardsFor(keys int) int {
	return 1 << min(8, max(0, bits.Len(uint(keys/64))-1))
}

// Verdict is the answer to one request.
type Verdict struct {
	OK        bool
	Limit     int // Unlimited, or 0 and more
	Remaining int // how many more are admitted at this moment; Unlimited as Limit is
	// Reset is the time from the request until Remaining grows, if
	// nothing else is admitted meanwhile.
	Reset time.Duration
	// RetryAfter is Reset if the request was refused, else 0: to the nanosecond, the
	// first moment at which a retry is admitted. With a Limit of 0 no wait helps, and it
	// is the whole window.
	RetryAfter time.Duration
	// Receipt takes the request back, see [Limiter.Cancel].
	Receipt Receipt
}

// Receipt names one admitted request. The zero Receipt names none.
type Receipt struct {
	id    id
	event event
}

// Allow asks for one request of a key: at any time t, those admitted in (t - window, t] are never
// more than limit. Refused requests do not count. The limit may differ from call to call and holds
// at once. Below 0 only [Unlimited] admits.
//
// The key is any text; two kinds of keys need prefixes, or a Limiter each. The time is
// that of the request, as time.Now returned it: its monotonic reading is what makes the
// limit survive a clock that is set. Never take it from a request, because time only
// moves forward here: what comes late counts as of the latest time seen beside it.
//
// While the table is full of live windows, a key it does not hold is counted by a network
// of its Client, which may do a multiple of the limit; see Config.Client. That count is exact
// to an eighth of the window, and starts and ends without the key's own.
func (l *Limiter) Allow(key string, limit int, at time.Time) Verdict {
	v, full := l.allow(l.identify(key), limit, at)
	if full {
		client, kind := l.whose(key)
		return l.allowByNetwork(client, kind, limit, at)
	}
	return v
}

// allow answers a request; full reports that its key has no window and finds no place for one.
func (l *Limiter) allow(key id, limit int, at time.Time) (_ Verdict, full bool) {
	if limit == Unlimited {
		return Verdict{OK: true, Limit: Unlimited, Remaining: Unlimited}, false
	}
	if limit <= 0 {
		whole := time.Duration(l.window)
		return Verdict{Reset: whole, RetryAfter: whole}, false
	}
	r := request{id: key, limit: limit, at: l.offset(at), window: l.window}
	v, full := l.shardOf(r.id).allow(r, &l.keys)
	if full {
		l.sweepNext(r.at)
	}
	return v, full
}

// allowByNetwork answers a request of a client whose key has no window of its own. Its verdict speaks
// of the key's limit, although the network may do more.
func (l *Limiter) allowByNetwork(client netip.Prefix, kind string, limit int, at time.Time) Verdict {
	a := l.networks.Take(client, kind, limit, at)
	if !a.OK {
		return Verdict{Limit: limit, Reset: a.Reset, RetryAfter: a.Reset}
	}
	return Verdict{
		OK: true, Limit: limit, Remaining: min(a.Remaining, limit-1), Reset: a.Reset,
		Receipt: Receipt{id{a.Receipt.ID, uint64(a.Receipt.Level) << 1}, event{at: a.Receipt.Bucket}},
	}
}

// whose says under what a key without a window is counted.
func (l *Limiter) whose(key string) (client netip.Prefix, kind string) {
	if l.client != nil {
		client, kind = l.client(key)
	}
	if client == (netip.Prefix{}) {
		kind = key
	}
	return client, kind
}

// Wait says how long Allow would refuse, without counting: 0 is that it would admit. A limit
// below 1 is refused for the whole window, but for [Unlimited].
func (l *Limiter) Wait(key string, limit int, at time.Time) time.Duration {
	switch {
	case limit == Unlimited:
		return 0
	case limit <= 0:
		return time.Duration(l.window)
	}
	r := request{id: l.identify(key), limit: limit, at: l.offset(at), window: l.window}
	wait, full := l.shardOf(r.id).wait(r, &l.keys)
	if !full {
		return wait
	}
	client, kind := l.whose(key)
	return l.networks.Wait(client, kind, limit, at)
}

// network returns the receipt of an event that a network was charged; ok is false if it was
// charged to a key, whose id is odd.
func (r Receipt) network() (_ network.Receipt, ok bool) {
	return network.Receipt{Level: int(r.id[1] >> 1), ID: r.id[0], Bucket: r.event.at}, r.id[1]&1 == 0
}

// Cancel takes an admitted request back, exactly that one, as if it had never been made.
// One that has left its window, was cancelled before, or was never counted is no error; one
// that a network was charged must not be cancelled twice, since it knows only how many.
func (l *Limiter) Cancel(r Receipt) {
	if r.id == (id{}) {
		return
	}
	if charged, ok := r.network(); ok {
		l.networks.Return(charged)
		return
	}
	l.shardOf(r.id).cancel(r)
}

// sweepNext sweeps a stretch of the next shard in turn. Without it, a full table whose
// expired keys lie in shards that nobody asks would stay full.
func (l *Limiter) sweepNext(at int64) {
	s := &l.shards[int(l.turn.Add(1))%len(l.shards)]
	s.mu.Lock()
	defer s.mu.Unlock()
	l.keys.release(s.sweep(s.forward(at) - l.window))
}

// id stands for a key: 128 bits hashed with seeds that nobody outside knows. That any two
// of a million keys share one has odds of 1 in 10^26. The zero id stands for none.
type id [2]uint64

func (l *Limiter) identify(key string) id {
	return id{maphash.String(l.seeds[0], key), maphash.String(l.seeds[1], key) | 1}
}

func (l *Limiter) shardOf(k id) *shard { return &l.shards[int(k[0])&(len(l.shards)-1)] }

// farthest bounds the distance of a time from the creation of the Limiter, 73 years: sums and
// differences of two such times and a window fit an int64.
const farthest = 1 << 61

func (l *Limiter) offset(at time.Time) int64 {
	return min(max(int64(at.Sub(l.epoch)), -farthest), farthest)
}

// ledger keeps how many keys the shards hold together.
type ledger struct {
	held atomic.Int64
	max  int64
}

// reserve takes the place of one key, unless all are taken.
func (g *ledger) reserve() bool {
	for {
		n := g.held.Load()
		if n >= g.max {
			return false
		}
		if g.held.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (g *ledger) full() bool { return g.held.Load() >= g.max }

func (g *ledger) release(n int) {
	if n > 0 {
		g.held.Add(int64(-n))
	}
}
