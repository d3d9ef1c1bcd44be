package attempt

import (
	"context"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/storage"
)

// Kinds of proof, each counted apart for a user: guesses at one delay no attempt to prove another.
const (
	byPassword   = "user"
	byCode       = "code"          // sent by email
	ByPasskey    = "passkey"       // in place of the password
	SecondFactor = "second factor" // after another one
)

// passwordsOf returns what wrong passwords of a user are counted by. Where the user of a name is not known, they
// count by the name.
func (a *Attempts) passwordsOf(u storage.User) []limits.Account {
	all := []limits.Account{limits.AccountOf(byPassword, u.Sub)}
	if a.Named == nil {
		all = append(all, keyOfName(u.Username))
	}
	return all
}

// Wait returns how long attempts at a user's account have to wait in unknown browsers, and whether that
// is known.
func (a *Attempts) Wait(ctx context.Context, u storage.User) (longest time.Duration, known bool) {
	for _, account := range a.passwordsOf(u) {
		wait, known := a.Turns.Delays.Wait(ctx, account)
		if !known {
			return 0, false
		}
		longest = max(longest, wait)
	}
	return longest, true
}

// Clear forgets the failures at a user's account, of whatever kind, and reports whether there were any.
func (a *Attempts) Clear(ctx context.Context, u storage.User) (had bool) {
	all := a.passwordsOf(u)
	for _, kind := range []string{byCode, ByPasskey, SecondFactor} {
		all = append(all, limits.AccountOf(kind, u.Sub))
	}
	for _, account := range all {
		had = a.Turns.Delays.Clear(ctx, account) || had
	}
	return had
}
