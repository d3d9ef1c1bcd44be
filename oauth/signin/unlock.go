package signin

import (
	"context"
	"net/netip"
	"time"

	"github.com/keystile/keystile/storage"
)

// Unlock ends the lockout of an address (IPv6: of its /64), and reports whether it had failed
// attempts.
func (s *SignIn) Unlock(ctx context.Context, ip netip.Addr) bool {
	return s.steps.Guard.Clear(ctx, ip)
}

// UnlockUser forgets the failed attempts at a user's account, whatever addresses they came from, and ends
// the delay of the next ones. The wrong codes of second factors are among them, so codes that rested are
// taken again (decision 97). It reports whether there were any.
func (s *SignIn) UnlockUser(ctx context.Context, u storage.User) bool {
	had := s.steps.Attempts.Clear(ctx, u)
	codes, err := s.factors.Forgive(ctx, u.Sub)
	if err != nil {
		s.steps.Log.ErrorContext(ctx, "the wrong codes of a user are not forgotten", "sub", u.Sub, "err", err)
	}
	return had || codes
}

// WaitUntil returns until when attempts at a user's account wait in browsers that have never signed in
// there, or the zero time if they do not. known is false where that cannot be read.
func (s *SignIn) WaitUntil(ctx context.Context, u storage.User) (until time.Time, known bool) {
	wait, known := s.steps.Attempts.Wait(ctx, u)
	if wait <= 0 || !known {
		return until, known
	}
	return time.Now().Add(wait), true
}
