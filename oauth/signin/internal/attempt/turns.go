package attempt

import (
	"context"
	"encoding/base64"
	"net/netip"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/lockout"
)

// Turns lets attempts at accounts through, in browsers that are not known to them. An account with many failures
// is delayed (lockout.Accounts), and of all that ask one goes on when the delay ends. Beside that each network has
// one attempt a minute of its own (decision 97), so that nobody's guesses use up another's turn.
type Turns struct {
	Delays  lockout.Accounts
	Counter lockout.Counter
}

// What networks may do at an account that is delayed. Those that have failed there less go first: they have the
// larger part to themselves, and a guesser's networks leave it within four minutes. Of a part one network, however
// wide, has at most half, the next narrower ones a quarter, and so on.
//
// So at one account 81 attempts a minute are let through at most, 4,860 an hour, and for as many it takes 900
// networks apart: who has so many can make new browsers wait, and guesses as often as one address may that
// nobody delays.
const (
	turnTime    = time.Minute // in which a network has one attempt
	fewFailures = 4           // of a network at an account in fewTime; the fourth is one too many
	fewTime     = time.Hour
	turnsOfFew  = 60 // in turnTime, of all networks with few failures
	turnsOfMany = 20 // of all others
)

// Begin begins an attempt at an account. If wait is 0 the caller must call end; else it must not check the
// credentials.
func (t *Turns) Begin(ctx context.Context, account limits.Account, client netip.Prefix) (wait time.Duration, end func(failed bool)) {
	name := base64.RawURLEncoding.EncodeToString(account[:16])
	if wait = t.Delays.Begin(ctx, account); wait == 0 {
		return 0, func(failed bool) {
			t.Delays.End(ctx, account, failed)
			t.note(ctx, name, client, failed)
		}
	}
	if own := t.take(ctx, name, client); own > 0 {
		return min(wait, own), nil
	}
	return 0, func(failed bool) {
		if failed {
			t.Delays.FailKnown(ctx, account) // it has no place among those that the delay lets through
		}
		t.note(ctx, name, client, failed)
	}
}

// note counts a failure of a network at an account: for a minute it has had its turn.
func (t *Turns) note(ctx context.Context, name string, client netip.Prefix, failed bool) {
	if failed {
		t.Counter.Add(ctx, "turn "+name, client, 1, turnTime)
		t.Counter.Add(ctx, "failed "+name, client, fewFailures, fewTime)
	}
}

// take takes the turn of a network, or returns how long it has to wait for one.
func (t *Turns) take(ctx context.Context, name string, client netip.Prefix) (wait time.Duration) {
	if wait = t.Counter.Wait(ctx, "turn "+name, client, 1, turnTime); wait > 0 {
		return wait
	}
	part, all := "few ", turnsOfFew
	if t.Counter.Wait(ctx, "failed "+name, client, fewFailures, fewTime) > 0 {
		part, all = "many ", turnsOfMany
	}
	shares := sharesOf(client, all)
	for _, s := range shares { // before anything is counted: who has to wait keeps their turn
		wait = max(wait, t.Counter.Wait(ctx, part+name, s.of, s.limit, turnTime))
	}
	if wait == 0 {
		wait = t.Counter.Add(ctx, "turn "+name, client, 1, turnTime)
	}
	for _, s := range shares {
		if wait == 0 {
			wait = t.Counter.Add(ctx, part+name, s.of, s.limit, turnTime)
		}
	}
	return wait
}

// share bounds what a network may have of a part; the zero Prefix stands for all networks.
type share struct {
	of    netip.Prefix
	limit int
}

// sharesOf returns what the networks around one may have, the narrowest first, and all together.
func sharesOf(client netip.Prefix, all int) (shares []share) {
	for p, _, ok := network.Widen(client); ok; p, _, ok = network.Widen(p) {
		shares = append(shares, share{of: p})
	}
	for i := range shares {
		shares[i].limit = max(1, all>>(len(shares)-i))
	}
	return append(shares, share{netip.Prefix{}, all})
}
