package attempt

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/allowance"
	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/storage/counters"
)

// Turns lets attempts at accounts through, in browsers that are not known to them. An account with many failures
// is delayed (counters.Accounts), and of all that ask one goes on when the delay ends. Beside that each network has
// attempts of its own (decision 97), so that nobody's guesses use up another's turn.
type Turns struct {
	Delays  counters.Accounts
	Counter counters.Counter
}

// These bound attempts of networks at an account that is delayed. A network with few failures there goes before
// those with many, and that is asked of the widest network around a client first, then of the next one in it, then
// of the client (of IPv6, of its household): an attacker with many addresses in few networks uses up the turns of
// these networks alone. Where an attacker guesses in the network around a client, the client goes with those whose
// /24 or /48 has few failures, and else with those whose own address has few. Clients with many failures in all of
// these share what is left.
//
// In an hour, a guesser with one address fails there 4 times, with a /24 or a /48 79 times, with N of these in
// different /16 or /32 N times as often, and with the whole of a /16 or /32 1,204 times, beside a share of what is
// left: one attempt a minute of an address, two of a /24 or /48, five of a /16 or /32, ten of all. With the one that
// the delay lets through it is 4,860 guesses an hour, from however many networks, and those that are judged at the
// moment when it is reached: 840 at most. It takes 450 networks as wide as a /16 or /32 to make newcomers from yet
// others wait.
const (
	turnTime    = time.Minute // in which a client has one attempt
	fewFailures = 4           // of a network at an account in fewTime; the fourth is one too many
	fewTime     = time.Hour
	turnsOfFew  = 2  // in turnTime, of a network with few failures
	turnsOfMany = 10 // in turnTime, of all networks together that have many failures everywhere
)

// reserves are for networks with few failures, of each width, the widest first: so many attempts may fail in
// fewTime of all of them, of those in one of the widest networks, and of those in one of the next. Attempts that do
// not fail are not counted, or an attacker who can end an attempt without a guess would use them up for others; but
// of attempts that begin at once none has failed yet, so of all attempts a fifth of it may begin in turnTime.
var reserves = [...][]int{{1800}, {1200, 600}, {1200, 600, 75}}

const atOnce = 5

// Begin begins an attempt at an account. If wait is 0 the caller must call end; else it must not check the
// credentials.
func (t *Turns) Begin(ctx context.Context, account limits.Account,
	client netip.Prefix) (wait time.Duration, end func(failed bool)) {
	name := base64.RawURLEncoding.EncodeToString(account[:16])
	if wait = t.Delays.Begin(ctx, account); wait == 0 {
		return 0, func(failed bool) {
			t.Delays.End(ctx, account, failed)
			t.note(ctx, name, client, failed)
		}
	}
	own, by := t.take(ctx, name, client)
	if own > 0 {
		return min(wait, own), nil
	}
	return 0, func(failed bool) {
		if failed {
			t.Delays.FailKnown(ctx, account) // it has no place among those that the delay lets through
			t.count(ctx, by)
		}
		t.note(ctx, name, client, failed)
	}
}

// note counts a failure of a client and of the networks around it: for a minute the client has had its turn.
func (t *Turns) note(ctx context.Context, name string, client netip.Prefix, failed bool) {
	if !failed {
		return
	}
	t.count(ctx, turnOf(name, client))
	for _, p := range counted(client) {
		t.count(ctx, failuresOf(name, p))
	}
}

func (t *Turns) count(ctx context.Context, all allowance.Counts) {
	for _, n := range all {
		t.Counter.Add(ctx, n.Name, n.Of, n.Limit.N, n.Limit.Window)
	}
}

// take takes the turn of a client, or returns how long it has to wait for one. by counts its failure, if it fails.
func (t *Turns) take(ctx context.Context, name string, client netip.Prefix) (wait time.Duration, by allowance.Counts) {
	turn := turnOf(name, client)
	if wait = turn.Wait(ctx, t.Counter); wait > 0 {
		return wait, nil
	}
	around := counted(client)
	for i := range around {
		by = reserveOf("failed", name, around, i, fewTime, 1)
		next := append(failuresOf(name, around[i]), by...).Wait(ctx, t.Counter)
		if next == 0 {
			rate := allowance.Rate{N: turnsOfFew, Window: turnTime}
			own := append(turn, allowance.Count{Name: "few " + name, Of: around[i], Limit: rate})
			next = append(own, reserveOf("begun", name, around, i, turnTime, atOnce)...).Take(ctx, t.Counter)
		}
		if next == 0 {
			return 0, by
		}
		wait = min(cmp.Or(wait, next), next)
	}
	return min(wait, append(turn, sharesOf(name, around)...).Take(ctx, t.Counter)), nil
}

// counted returns the networks around a client that are counted, the widest first.
func counted(client netip.Prefix) []netip.Prefix {
	all := network.Around(client)
	slices.Reverse(all)
	return all[:min(len(all), len(reserves))]
}

func turnOf(name string, client netip.Prefix) allowance.Counts {
	return allowance.Counts{{Name: "turn " + name, Of: client, Limit: allowance.Rate{N: 1, Window: turnTime}}}
}

func failuresOf(name string, of netip.Prefix) allowance.Counts {
	return allowance.Counts{{Name: "failed " + name, Of: of, Limit: allowance.Rate{N: fewFailures, Window: fewTime}}}
}

// reserveOf returns what is counted together with the i-th network around a client, a part of reserves: those in each
// of the wider ones, the narrowest first, and all.
func reserveOf(what, name string, around []netip.Prefix, i int, in time.Duration, part int) (all allowance.Counts) {
	within := append([]netip.Prefix{{}}, around[:i]...)
	for j, p := range slices.Backward(within) {
		rate := allowance.Rate{N: reserves[i][j] / part, Window: in}
		all = append(all, allowance.Count{Name: fmt.Sprintf("%s %d %s", what, i, name), Of: p, Limit: rate})
	}
	return all
}

// sharesOf returns what everybody may use of an account, the narrowest network first: of the widest each has at most
// half, of the next narrower ones a quarter, and so on.
func sharesOf(name string, around []netip.Prefix) (all allowance.Counts) {
	within := append([]netip.Prefix{{}}, around...)
	for j, p := range slices.Backward(within) {
		rate := allowance.Rate{N: max(1, turnsOfMany>>j), Window: turnTime}
		all = append(all, allowance.Count{Name: "many " + name, Of: p, Limit: rate})
	}
	return all
}
