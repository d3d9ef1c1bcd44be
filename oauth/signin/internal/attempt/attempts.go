package attempt

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

// Attempts decides whether somebody may try to sign in now.
type Attempts struct {
	Users    users.Users
	Named    users.NamedUsers // nil: it is not known whose a name is
	Emails   users.EmailUsers // nil: nobody signs in by email
	Sessions *session.Sessions
	Guard    *lockout.Guard
	Delays   *limits.Delays
	Firsts   *limits.Delays // of passwords that known browsers have hashed before strangers'
	Peer     func(*http.Request) netip.Addr
	Log      *slog.Logger
}

// Throttle says how long somebody must wait before an attempt, and for what.
type Throttle struct {
	Wait    time.Duration // 0: not at all
	Account bool          // the account is guessed at; else it is their network that has failed
	Sub     string        // of an attempt that failed: whose account it was about, "" if nobody's
}

// target is the account that an attempt is about.
type target struct {
	key   limits.Account
	Sub   string // of its user, "" if there is none
	known bool   // the browser has signed in as its user before
}

// name says which account somebody wants to sign in to. A name that nobody has is one
// too, and to look for it takes as long.
func (a *Attempts) name(r *http.Request, username string) (target, error) {
	if a.Named == nil {
		return target{key: keyOfName(username)}, nil
	}
	sub, err := a.Named.Named(r.Context(), username)
	return a.target(r, sub, keyOfName(username), err)
}

// Email says which account a code is for that was sent to an address.
func (a *Attempts) Email(r *http.Request, address string) (target, error) {
	u, err := a.Emails.ByEmail(r.Context(), address)
	return a.target(r, u.Sub, limits.AccountOf("address", address), err)
}

// target is the account of who was looked for, or one of nobody's.
func (a *Attempts) target(r *http.Request, sub string, fallback limits.Account, err error) (target, error) {
	if errors.Is(err, storage.ErrNotFound) {
		sub, err = "", nil
	}
	if err != nil {
		return target{}, err
	}
	at := target{limits.AccountOf("user", sub), sub, a.Sessions.Familiar(r, sub)}
	if sub == "" {
		at = target{key: fallback}
	}
	return at, nil
}

func keyOfName(username string) limits.Account {
	return limits.AccountOf("name", confusable.Key(username[:min(len(username), usernames.MaxTyped)]))
}

// queueContext says where a password waits to be hashed: who is known there goes first, unless too
// many wrong ones came from browsers that are known to the account. Whoever has an account can
// copy what makes a browser known, so that alone opens the first line to a few at a time.
// leave must be called with how it went.
func (a *Attempts) queueContext(ctx context.Context, ip netip.Addr, at target) (in context.Context, leave func(failed bool)) {
	if at.known && a.Firsts.Begin(at.key) == 0 {
		return ctx, func(failed bool) { a.Firsts.End(at.key, failed) }
	}
	return passwords.AsUnknownClient(ctx, ip), func(bool) {}
}

// Begin asks to attempt an account; End must follow if there is no wait.
func (a *Attempts) Begin(at target) (wait time.Duration) {
	if at.known {
		return 0
	}
	return a.Delays.Begin(at.key)
}

// End says how an attempt went that Begin let through.
func (a *Attempts) End(at target, failed bool) {
	switch {
	case !at.known:
		a.Delays.End(at.key, failed)
	case failed:
		a.Delays.FailKnown(at.key)
	}
}

// Password lets an attempt past the guard and the delay of its account, or says how long to
// wait. Only what is known to be wrong counts as failed: a store that is away proves nothing.
func (a *Attempts) Password(r *http.Request, username, password string) (u storage.User, throttle Throttle, err error) {
	ip := a.Peer(r)
	if wait := a.Guard.Begin(ip); wait > 0 {
		return u, Throttle{Wait: wait}, nil
	}
	failed := false
	defer func() { a.Guard.End(ip, failed) }()
	at, err := a.name(r, username)
	if err != nil {
		return u, Throttle{}, err
	}
	if wait := a.Begin(at); wait > 0 {
		return u, Throttle{Wait: wait, Account: true}, nil
	}
	defer func() { a.End(at, failed) }()
	ctx, leave := a.queueContext(r.Context(), ip, at)
	defer func() { leave(failed) }()
	u, err = a.authenticate(ctx, username, password)
	failed = errors.Is(err, storage.ErrNotFound)
	switch {
	case failed:
		a.Log.InfoContext(r.Context(), "sign-in refused", "ip", ip)
	case err == nil:
		a.Log.InfoContext(r.Context(), "signed in", "sub", u.Sub, "ip", ip)
	}
	return u, Throttle{Sub: at.Sub}, err
}

// authenticate asks Users. An empty password never gets there: to some directories it
// means an anonymous visitor, who is let in.
func (a *Attempts) authenticate(ctx context.Context, username, password string) (storage.User, error) {
	if username == "" || password == "" {
		return storage.User{}, storage.ErrNotFound
	}
	u, err := a.Users.Authenticate(ctx, username, password)
	if err == nil && u.Disabled {
		return storage.User{}, storage.ErrNotFound
	}
	return u, err
}
