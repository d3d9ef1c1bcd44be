// Package useracts holds the acts of administration on users and on what is theirs: sessions, second factors, API
// keys, what they have allowed applications, lockouts and invitations. All of them take an administrator with a fresh
// sign-in, or the operator: see package admin, which says what every act does.
//
// The rules that users follow too when they act on their own account are those of packages users and apikeys.
package useracts

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/apikey"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// Store keeps users and what is theirs; *storage.Store implements it.
type Store interface {
	users.EraseStore
	users.LoginStore
	SaveUser(ctx context.Context, u storage.User) (storage.User, error)
	SaveInvitation(ctx context.Context, i storage.Invitation) (storage.Invitation, error)
	CreateAPIKey(ctx context.Context, k apikey.Key, life time.Duration) (apikey.Key, error)
	RemoveAPIKey(ctx context.Context, id string) error
	Consent(ctx context.Context, appID, sub string) (storage.Consent, error)
	EndConsent(ctx context.Context, c storage.Consent) error
	OpenID(ctx context.Context, appID, sub string) (storage.OpenID, error)
	EndOpenID(ctx context.Context, appID, sub string, at time.Time) error
}

// Config holds what New needs.
type Config struct {
	Store    Store
	Create   func(ctx context.Context, u storage.User, password string) (storage.User, error)
	Revoke   func(ctx context.Context, rs ...driver.Revocation) error // ends what was granted
	Recorder admin.Recorder
	Forget   func(sub string) // makes the running service read a user anew; nil: nothing is cached of them
	Ways     access.Ways      // every way in: an invitation needs one that asks for it

	// SetPassword gives a user another password, or returns storage.ErrNotFound if they have none.
	SetPassword func(ctx context.Context, sub, password string) error
	// CheckPassword holds a password against the rules before anything is changed; nil: SetPassword alone does.
	CheckPassword func(password string, known ...string) error
	// LinkEmail writes down that a mailbox, as Mailbox returns it, is a user's, who signs in by it. Both are nil where
	// no address is changed.
	LinkEmail func(ctx context.Context, sub, mailbox string) error
	Mailbox   func(address string) (string, error)

	// reports whether an address had failures; nil: none is ever locked
	Unlock     func(ctx context.Context, ip netip.Addr) bool
	UnlockUser func(ctx context.Context, u storage.User) bool // of an account; nil: nothing is counted by account
}

// Why an act is refused, beside the errors of package admin.
var (
	ErrOneself    = errors.New("an administrator cannot do this to themselves")
	ErrNoPassword = errors.New("the user does not sign in with a password")
	ErrDisabled   = errors.New("the user is disabled")
)

// Acts are the acts. Make them with New.
type Acts struct{ c Config }

// New makes Acts.
func New(c Config) *Acts { return &Acts{c} }

// may refuses everybody who may not act on users.
func may(by admin.Actor) error {
	if err := by.Admin(); err != nil {
		return err
	}
	return by.Fresh()
}

// note writes an act on a user to the audit trail.
func (a *Acts) note(ctx context.Context, by admin.Actor, what, sub string, changes ...string) error {
	return a.c.Recorder.Note(ctx, by, admin.Act{What: what, On: sub, User: sub, Changes: changes})
}

// byAdministrator begins what a user is told of an act, as the Recorder begins what the operator has done.
const byAdministrator = "by an administrator: "

// tell notifies a user of what was done to what is theirs.
func (a *Acts) tell(ctx context.Context, by admin.Actor, kind, detail, sub string) {
	if by.Operator == "" {
		detail = byAdministrator + detail
	}
	a.c.Recorder.Notify(ctx, by, event.Notice{Kind: kind, Detail: detail}, sub)
}

// forget drops what is cached of a user.
func (a *Acts) forget(sub string) {
	if a.c.Forget != nil {
		a.c.Forget(sub)
	}
}
