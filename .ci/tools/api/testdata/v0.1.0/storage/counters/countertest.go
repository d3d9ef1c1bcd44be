package countertest // import "github.com/keystile/keystile/storage/counters/countertest"

import "github.com/keystile/keystile/storage/counters"
import "testing"
import "time"

func AMillion(t *testing.T, open func(t testing.TB) Service)

func AMillionInBubble(t *testing.T, open func(t testing.TB) Service)

func Broken(t *testing.T, path string, bubbles bool, open func(t testing.TB) Service) string

type Clock interface {
	Advance(d time.Duration)
	Now() time.Time
}

func Exact(t testing.TB, nodes []counters.Set, requests int, grain time.Duration)

func Inexact(nodes []counters.Set, requests int, grain time.Duration) string

func Run(t *testing.T, open func(t testing.TB) Service)

func RunInBubble(t *testing.T, open func(t testing.TB) Service)

type Service struct {
	Node      func() counters.Set
	Clock     Clock
	Grain     time.Duration
	Full      int
	Abandoned time.Duration
	Events    int
}
