package limits // import "github.com/keystile/keystile/gateway/limits"

import "context"
import "net/http"
import "net/netip"
import "time"

type Limiter interface {
	Allow(ctx context.Context, account string, limit int, now time.Time) Verdict
	HoldAddress(ctx context.Context, from netip.Addr, per int, now time.Time) (v Verdict, undo func())
}

func New() (Limiter, error)

type Shadow struct {
	Addresses bool
	Tiers     []string
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
