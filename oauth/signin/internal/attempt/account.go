package attempt

import (
	"context"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/storage"
)

// accountsOf returns what attempts at a user's account are counted by. Where the user of a name is not known,
// passwords count by the name.
func (a *Attempts) accountsOf(u storage.User) []limits.Account {
	all := []limits.Account{limits.AccountOf("user", u.Sub)}
	if a.Named == nil {
		all = append(all, keyOfName(u.Username))
	}
	return all
}

// Wait returns how long attempts at a user's account have to wait in unknown browsers, and whether that
// is known.
func (a *Attempts) Wait(ctx context.Context, u storage.User) (longest time.Duration, known bool) {
	for _, account := range a.accountsOf(u) {
		wait, known := a.Delays.Wait(ctx, account)
		if !known {
			return 0, false
		}
		longest = max(longest, wait)
	}
	return longest, true
}

// Clear forgets the failures at a user's account, and reports whether there were any.
func (a *Attempts) Clear(ctx context.Context, u storage.User) (had bool) {
	for _, account := range a.accountsOf(u) {
		had = a.Delays.Clear(ctx, account) || had
	}
	return had
}
