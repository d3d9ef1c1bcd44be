package signin

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/keystile/keystile/internal/confusable"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/usernames"
	"github.com/keystile/keystile/oauth/signin/lockout"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

// attempts decides whether somebody may try to sign in now.
type attempts struct {
	users    users.Users
	named    users.NamedUsers // nil: it is not known whose a name is
	emails   users.EmailUsers // nil: nobody signs in by email
	sessions *session.Sessions
	guard    *lockout.Guard
	delays   *limits.Delays
	firsts   *limits.Delays // of passwords that known browsers have hashed before strangers'
	peer     func(*http.Request) netip.Addr
	log      *slog.Logger
}

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
func (a *attempts) targetOf(r *http.Request, username string) (target, error) {
	if a.named == nil {
		return target{key: keyOfName(username)}, nil
	}
	sub, err := a.named.Named(r.Context(), username)
	return a.target(r, sub, keyOfName(username), err)
}

// targetAddress is targetOf for a code that was mailed to an address.
func (a *attempts) targetAddress(r *http.Request, address string) (target, error) {
	u, err := a.emails.ByEmail(r.Context(), address)
	return a.target(r, u.Sub, limits.AccountOf("address", address), err)
}

// target is the account of who was looked for, or one of nobody's.
func (a *attempts) target(r *http.Request, sub string, nobodys limits.Account, err error) (target, error) {
	if errors.Is(err, storage.ErrNotFound) {
		sub, err = "", nil
	}
	if err != nil {
		return target{}, err
	}
	at := target{limits.AccountOf("user", sub), sub, a.sessions.Familiar(r, sub)}
	if sub == "" {
		at = target{key: nobodys}
	}
	return at, nil
}

func keyOfName(username string) limits.Account {
	return limits.AccountOf("name", confusable.Key(username[:min(len(username), usernames.MaxTyped)]))
}

// inLine says where a password waits to be hashed: who is known there goes first, unless too
// many wrong ones came from browsers that are known to the account. Whoever has an account can
// copy what makes a browser known, so that alone opens the first line to a few at a time.
// leave must be called with how it went.
func (a *attempts) inLine(ctx context.Context, ip netip.Addr, at target) (in context.Context, leave func(failed bool)) {
	if at.known && a.firsts.Begin(at.key) == 0 {
		return ctx, func(failed bool) { a.firsts.End(at.key, failed) }
	}
	return passwords.AsStranger(ctx, ip), func(bool) {}
}

// beginAt asks to attempt an account; endAt must follow if there is no wait.
func (a *attempts) beginAt(at target) (wait time.Duration) {
	if at.known {
		return 0
	}
	return a.delays.Begin(at.key)
}

func (a *attempts) endAt(at target, failed bool) {
	switch {
	case !at.known:
		a.delays.End(at.key, failed)
	case failed:
		a.delays.FailKnown(at.key)
	}
}

// admit lets an attempt past the guard and the delay of its account, or says how long to
// wait. Only what is known to be wrong counts as failed: a store that is away proves nothing.
func (a *attempts) admit(r *http.Request, username, password string) (u storage.User, held hold, err error) {
	ip := a.peer(r)
	if wait := a.guard.Begin(ip); wait > 0 {
		return u, hold{wait: wait}, nil
	}
	failed := false
	defer func() { a.guard.End(ip, failed) }()
	at, err := a.targetOf(r, username)
	if err != nil {
		return u, hold{}, err
	}
	if wait := a.beginAt(at); wait > 0 {
		return u, hold{wait: wait, account: true}, nil
	}
	defer func() { a.endAt(at, failed) }()
	ctx, leave := a.inLine(r.Context(), ip, at)
	defer func() { leave(failed) }()
	u, err = a.authenticate(ctx, username, password)
	failed = errors.Is(err, storage.ErrNotFound)
	switch {
	case failed:
		a.log.InfoContext(r.Context(), "sign-in refused", "ip", ip)
	case err == nil:
		a.log.InfoContext(r.Context(), "signed in", "sub", u.Sub, "ip", ip)
	}
	return u, hold{sub: at.sub}, err
}

// authenticate asks Users. An empty password never gets there: to some directories it
// means an anonymous visitor, who is let in.
func (a *attempts) authenticate(ctx context.Context, username, password string) (storage.User, error) {
	if username == "" || password == "" {
		return storage.User{}, storage.ErrNotFound
	}
	u, err := a.users.Authenticate(ctx, username, password)
	if err == nil && u.Disabled {
		return storage.User{}, storage.ErrNotFound
	}
	return u, err
}
