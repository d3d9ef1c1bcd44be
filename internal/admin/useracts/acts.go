// Package useracts holds the acts of administration on users and on what is theirs: sessions, second factors, API
// keys, what they have allowed applications, lockouts and invitations. All of them take an administrator with a fresh
// sign-in, or the operator: see package admin, which says what every act does.
//
// The rules that users follow too when they act on their own account are those of packages users and apikeys.
package useracts

import (
	"context"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/users"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// Store keeps users and what is theirs; *storage.Store implements it.
type Store interface {
	users.EraseStore
}

// Config holds what New needs.
type Config struct {
	Store    Store
	Revoke   func(ctx context.Context, rs ...driver.Revocation) error // ends what was granted
	Recorder admin.Recorder
	Forget   func(sub string) // makes the running service read a user anew; nil: nothing is cached of them
}

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
