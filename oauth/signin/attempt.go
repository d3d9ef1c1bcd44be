package signin

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/netip"
	"time"

	"github.com/keystile/keystile/internal/confusable"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/usernames"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/storage"
)

// hold is how long somebody must wait before an attempt, and for what.
type hold struct {
	wait    time.Duration // 0: not at all
	account bool          // the account is guessed at; else it is their network that has failed
	sub     string        // of an attempt that failed: whose account it was about, "" if nobody's
}

// target is the account that an attempt is about.
type target struct {
	key   limits.Account
	sub   string // of its user, "" if there is none
	known bool   // the browser has signed in as its user before
}

// targetOf says which account somebody wants to sign in to. A name that nobody has is one
// too, and to look for it takes as long.
func (s *SignIn) targetOf(r *http.Request, username string) (target, error) {
	if s.named == nil {
		return target{key: keyOfName(username)}, nil
	}
	sub, err := s.named.Named(r.Context(), username)
	return s.target(r, sub, keyOfName(username), err)
}

// targetAddress is targetOf for a code that was mailed to an address.
func (s *SignIn) targetAddress(r *http.Request, address string) (target, error) {
	u, err := s.members.emails.ByEmail(r.Context(), address)
	return s.target(r, u.Sub, limits.AccountOf("address", address), err)
}

// target is the account of who was looked for, or one of nobody's.
func (s *SignIn) target(r *http.Request, sub string, nobodys limits.Account, err error) (target, error) {
	if errors.Is(err, storage.ErrNotFound) {
		sub, err = "", nil
	}
	if err != nil {
		return target{}, err
	}
	at := target{limits.AccountOf("user", sub), sub, s.familiar(r, sub)}
	if sub == "" {
		at = target{key: nobodys}
	}
	return at, nil
}

func keyOfName(username string) limits.Account {
	return limits.AccountOf("name", confusable.Key(username[:min(len(username), usernames.MaxTyped)]))
}

// familiar reports whether a user has signed in with this browser before: it says so by its
// mark, or by a session that is still theirs.
func (s *SignIn) familiar(r *http.Request, sub string) bool {
	if s.known(r, sub) {
		return true
	}
	v, err := s.session(r)
	return err == nil && v.UserID == sub
}

// inLine says where a password waits to be hashed: who is known there goes first, unless too
// many wrong ones came from browsers that are known to the account. Whoever has an account can
// copy what makes a browser known, so that alone opens the first line to a few at a time.
// leave must be called with how it went.
func (s *SignIn) inLine(ctx context.Context, ip netip.Addr, at target) (in context.Context, leave func(failed bool)) {
	if at.known && s.firsts.Begin(at.key) == 0 {
		return ctx, func(failed bool) { s.firsts.End(at.key, failed) }
	}
	return passwords.AsStranger(ctx, ip), func(bool) {}
}

// beginAt asks to attempt an account; endAt must follow if there is no wait.
func (s *SignIn) beginAt(at target) (wait time.Duration) {
	if at.known {
		return 0
	}
	return s.delays.Begin(at.key)
}

func (s *SignIn) endAt(at target, failed bool) {
	switch {
	case !at.known:
		s.delays.End(at.key, failed)
	case failed:
		s.delays.FailKnown(at.key)
	}
}

// prove lets a code past the guard and the delay of its account and uses it up if it is right,
// or says how long to wait. A code that has ended proves nothing and does not count as failed.
func (s *SignIn) prove(r *http.Request, e *errand, t storage.Ticket, code, password string) (_ storage.Ticket, u storage.User, held hold, err error) {
	ip := s.peer(r)
	if wait := s.guard.Begin(ip); wait > 0 {
		return t, u, hold{wait: wait}, nil
	}
	failed := false
	defer func() { s.guard.End(ip, failed) }()
	at, err := s.targetAddress(r, t.Subject)
	if err != nil {
		return t, u, hold{}, err
	}
	if wait := s.beginAt(at); wait > 0 {
		return t, u, hold{wait: wait, account: true}, nil
	}
	defer func() { s.endAt(at, failed) }()
	t, right, err := s.try(r.Context(), e.kind, browserSecret(r), code)
	if err != nil {
		return t, u, hold{}, err
	}
	if !right {
		failed = true
		s.log.InfoContext(r.Context(), "code refused", "ip", ip, "for", e.kind)
		return t, u, hold{sub: cmp.Or(t.UserID, at.sub)}, storage.ErrNotFound
	}
	if u, err = e.ready(s, r, t, password); err != nil {
		failed = errors.Is(err, storage.ErrNotFound)
		return t, u, hold{sub: at.sub}, err
	}
	if err = s.use(r.Context(), t); err == nil && isStrangers(t.State, t) {
		s.rates.Emails.Ended(t)
	}
	return t, u, hold{}, err
}
