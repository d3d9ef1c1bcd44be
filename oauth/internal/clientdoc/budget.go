package clientdoc

import (
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/keystile/keystile/internal/allowance"
	"github.com/keystile/keystile/storage/counters"
)

// Fetches allowed on behalf of unknown clients, from all hosts and from one.
var (
	fetches = allowance.Kind{
		Name:    "client documents",
		Each:    []allowance.Rate{{N: 10, Window: time.Minute}},
		Common:  allowance.Rate{N: 100, Window: time.Minute},
		Reserve: allowance.Rate{N: 1, Window: time.Minute},
	}
	fetchesOfHost = allowance.Kind{
		Name:    "client documents of ",
		Common:  allowance.Rate{N: 30, Window: time.Minute},
		Reserve: allowance.Rate{N: 1, Window: time.Minute},
	}
)

// Documents allowed to be stored that were not known before.
var newDocuments = allowance.Kind{
	Name:    "new client documents ",
	Each:    []allowance.Rate{{N: 30, Window: time.Hour}, {N: 100, Window: 24 * time.Hour}},
	Common:  allowance.Rate{N: 1000, Window: 24 * time.Hour},
	Reserve: allowance.Rate{N: 4, Window: 24 * time.Hour},
}

// Budget bounds what is fetched and kept.
type Budget struct{ counter counters.Counter }

// NewBudget returns a Budget that counts by a Counter.
func NewBudget(c counters.Counter) *Budget { return &Budget{c} }

// Fetch takes one fetch from a host for a requester, or returns how long to wait. It is counted whether or not
// what comes turns out to be good: it is what the host and this service have to do.
func (b *Budget) Fetch(ctx context.Context, requester netip.Addr, host string) (wait time.Duration) {
	return allowance.Take(ctx, b.counter, requester, fetches, ofHost(host))
}

// FetchNew is Fetch for a document that is not known yet, of a listed host or, "", of any other. It fetches
// nothing that Add would refuse.
func (b *Budget) FetchNew(ctx context.Context, requester netip.Addr, host, listed string) (wait time.Duration) {
	if wait = allowance.Wait(ctx, b.counter, requester, fetches, ofHost(host), newOf(listed)); wait > 0 {
		return wait
	}
	return b.Fetch(ctx, requester, host)
}

// Add counts a new document that was read for a requester and found right, or returns how long to wait.
func (b *Budget) Add(ctx context.Context, requester netip.Addr, listed string) (wait time.Duration) {
	return allowance.Take(ctx, b.counter, requester, newOf(listed))
}

// ofHost returns the count of a host, whose ports are one host.
func ofHost(host string) allowance.Kind {
	k := fetchesOfHost
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	k.Name += host
	return k
}

func newOf(listed string) allowance.Kind {
	k := newDocuments
	k.Name += listed
	return k
}
