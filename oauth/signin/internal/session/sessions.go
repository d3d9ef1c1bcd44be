// Package session keeps the sessions of signed-in users behind the session cookie.
//
// # Choices
//
// A browser is known to a user by the cookie keystile_known, for a year and for the last five
// users. It holds a salt and a keyed hash of the user and the month for each. The key is drawn
// at first use and kept sealed in the store, so every process knows the same browsers. The
// mark says that a person has signed in there, and no more: signing out, signing out
// everywhere and a new password leave it. Where the key cannot be read, a browser is unknown.
//
// A user has a hundred sessions: where one more begins, the oldest ends, and its applications are told.
// Nothing is refused, since whoever signs in has proved who they are. Of a store with more, which an older
// version has left, each sign-in ends fifty.
package session

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/internal/logout"
	"github.com/keystile/keystile/storage"
)

// Sessions keeps the sessions of signed-in users behind the session cookie.
type Sessions struct {
	Store  Store
	Users  Users
	Peer   func(*http.Request) netip.Addr // the address that a request comes from
	Log    *slog.Logger
	Secure bool // the cookies are for https alone
	// is called when a session has ended because its user has too many; nil: nothing is
	Ended func(r *http.Request, v storage.Session)
	Idle  time.Duration // a session ends after this time without use
	Max   time.Duration // it ends after this time in any case

	marks atomic.Pointer[storage.Secret] // the key of the marks of known browsers; nil: not read yet
}

// Store keeps sessions; *storage.Store has it.
type Store interface {
	Session(ctx context.Context, id string) (storage.Session, error)
	SaveSession(ctx context.Context, v storage.Session) (storage.Session, error)
	logout.Sessions
	Sessions(ctx context.Context, sub string) ([]storage.Session, error)
	HMACKey(ctx context.Context, name string) (storage.Secret, error)
}

// Users knows users by their sub.
type Users interface {
	User(ctx context.Context, sub string) (storage.User, error)
}
