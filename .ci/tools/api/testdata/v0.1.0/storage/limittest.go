package limittest // import "github.com/keystile/keystile/storage/limittest"

import "github.com/keystile/keystile/gateway/limits"
import "github.com/keystile/keystile/oauth/signin/lockout"
import "testing"
import "time"

func AMillion(t *testing.T, open func(t testing.TB) Service)

func AMillionInBubble(t *testing.T, open func(t testing.TB) Service)

func Broken(t *testing.T, path string, bubbles bool, open func(t testing.TB) Service) string

type Clock interface {
	Advance(d time.Duration)
	Now() time.Time
}

type Counters interface {
	Accounts() lockout.Accounts
	Addresses(lockout.Config) lockout.Addresses
	Counter() lockout.Counter
	Limiter() limits.Limiter
}

func Exact(t testing.TB, nodes []Counters, requests int, grain time.Duration)

func Inexact(nodes []Counters, requests int, grain time.Duration) string

func Local() Counters

func Run(t *testing.T, open func(t testing.TB) Service)

func RunInBubble(t *testing.T, open func(t testing.TB) Service)

type Service struct {
	Node      func() Counters
	Clock     Clock
	Grain     time.Duration
	Full      int
	Abandoned time.Duration
	Events    int
}
