package attempt

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/keystile/keystile/internal/confusable"
	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/usernames"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
)

// Attempts decides whether an attempt to sign in is let through.
type Attempts struct {
	Users    users.Users
	Named    users.NamedUsers // nil: the user of a name is not known
	Emails   users.EmailUsers // nil: no sign-in by email
	Sessions *session.Sessions
	Guard    counters.Addresses
	Turns    *Turns
	// in this process, whose hashes wait: of passwords of known browsers, which are hashed first
	Firsts counters.Accounts
	Peer   func(*http.Request) netip.Addr
	Log    *slog.Logger
}

// Throttle says how long to wait before an attempt, and why.
type Throttle struct {
	Wait    time.Duration // 0: not at all
	Account bool          // the account has too many failures; else the network has
	Sub     string        // after a failed attempt: the user of the account, "" if there is none
}

// target is the account that an attempt is about.
type target struct {
	key   limits.Account
	Sub   string // of its user, "" if there is none
	known bool   // the browser has signed in as its user before
}

// name returns the account of a username. A name that nobody has is an account too, and looking
// it up takes as long.
func (a *Attempts) name(r *http.Request, username string) (target, error) {
	if a.Named == nil {
		return target{key: keyOfName(username)}, nil
	}
	sub, err := a.Named.Named(r.Context(), username)
	return a.target(r, sub, keyOfName(username), err)
}

// Email returns the account of an email address.
func (a *Attempts) Email(r *http.Request, address string) (target, error) {
	u, err := a.Emails.ByEmail(r.Context(), address)
	at, err := a.target(r, u.Sub, limits.AccountOf("address", address), err)
	if at.Sub != "" { // wrong passwords make no code wait
		at.key = limits.AccountOf(byCode, at.Sub)
	}
	return at, err
}

// target returns the account of a user, or the fallback if there is no user.
func (a *Attempts) target(r *http.Request, sub string, fallback limits.Account, err error) (target, error) {
	if errors.Is(err, storage.ErrNotFound) {
		sub, err = "", nil
	}
	if err != nil {
		return target{}, err
	}
	at := target{limits.AccountOf(byPassword, sub), sub, a.Sessions.Familiar(r, sub)}
	if sub == "" {
		at = target{key: fallback}
	}
	return at, nil
}

func keyOfName(username string) limits.Account {
	return limits.AccountOf("name", confusable.Key(username[:min(len(username), usernames.MaxTyped)]))
}

// queueContext returns the context that decides where a password waits to be hashed: in a known
// browser it goes first, unless too many wrong ones came from known browsers of the account. The
// cookie of a known browser can be copied, so it lets only a few at a time go first. The caller
// must call leave with the result.
func (a *Attempts) queueContext(ctx context.Context, ip netip.Addr,
	at target) (in context.Context, leave func(failed bool)) {
	if at.known && a.Firsts.Begin(ctx, at.key) == 0 {
		return ctx, func(failed bool) { a.Firsts.End(ctx, at.key, failed) }
	}
	return passwords.AsUnknownClient(ctx, ip), func(bool) {}
}

// Begin begins an attempt at an account; if wait is 0 the caller must call end.
func (a *Attempts) Begin(r *http.Request, at target) (wait time.Duration, end func(failed bool)) {
	ctx := r.Context()
	if !at.known {
		return a.Turns.Begin(ctx, at.key, network.Of(a.Peer(r)))
	}
	return 0, func(failed bool) {
		if failed {
			a.Turns.Delays.FailKnown(ctx, at.key)
		}
	}
}

// Password checks a password, unless the guard or the delay of its account says to wait. Only
// wrong credentials count as failed, an error of the store does not.
func (a *Attempts) Password(r *http.Request, username, password string) (u storage.User, throttle Throttle, err error) {
	ip := a.Peer(r)
	if wait := a.Guard.Begin(r.Context(), ip); wait > 0 {
		return u, Throttle{Wait: wait}, nil
	}
	failed := false
	defer func() { a.Guard.End(r.Context(), ip, failed) }()
	at, err := a.name(r, username)
	if err != nil {
		return u, Throttle{}, err
	}
	wait, end := a.Begin(r, at)
	if wait > 0 {
		return u, Throttle{Wait: wait, Account: true}, nil
	}
	defer func() { end(failed) }()
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

// authenticate calls Users. An empty password never gets there: some directories take it for an
// anonymous login and accept it.
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
