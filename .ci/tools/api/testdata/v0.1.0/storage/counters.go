package counters // import "github.com/keystile/keystile/storage/counters"

import "context"
import "net/http"
import "net/netip"
import "time"

type Accounts interface {
	Begin(ctx context.Context, account [32]byte) (wait time.Duration)
	Clear(ctx context.Context, account [32]byte) bool
	End(ctx context.Context, account [32]byte, failed bool)
	FailKnown(ctx context.Context, account [32]byte)
	Wait(ctx context.Context, account [32]byte) (wait time.Duration, known bool)
}

type Addresses interface {
	Begin(ctx context.Context, ip netip.Addr) (wait time.Duration)
	Clear(ctx context.Context, ip netip.Addr) bool
	End(ctx context.Context, ip netip.Addr, failed bool)
}

type Counter interface {
	Add(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) (wait time.Duration)
	Wait(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) (wait time.Duration)
}

type Limiter interface {
	Allow(ctx context.Context, account string, limit int, now time.Time) Verdict
	HoldAddress(ctx context.Context, from netip.Addr, per int, now time.Time) (v Verdict, undo func())
}

type Lock struct {
	Failures int
	Within   time.Duration
	For      time.Duration
}

func (Lock) Complete() Lock

func New() Set

func NewAccounts() Accounts

func NewAddresses(l Lock) Addresses

func NewCounter() Counter

func NewLimiter() Limiter

type Set interface {
	Accounts() Accounts
	Addresses(lock Lock) Addresses
	Counter() Counter
	Describe() (kind string, version string, at string)
	Limiter() Limiter
	Reached() (now bool, since time.Time)
}

const Unlimited = -1

type Verdict struct {
	OK         bool
	Limit      int
	Remaining  int
	Reset      time.Duration
	RetryAfter time.Duration
}

func (Verdict) Headers(h http.Header)
func (Verdict) RetryHeaders() http.Header

const Window time.Duration = 60000000000
