package users

import (
	"context"
	"slices"

	"github.com/keystile/keystile/storage"
)

// LoginStore reads and writes users and logins for SettleEmail; *storage.Store implements it.
type LoginStore interface {
	User(ctx context.Context, sub string) (storage.User, error)
	Logins(ctx context.Context, sub string) ([]storage.Login, error)
	EndLogins(ctx context.Context, some ...storage.Login) error
}

// SettleEmail makes the ways in by mail follow what somebody else has said of a user's address:
// the user signs in by mailbox, "" for none, and by no other one. link writes down that a mailbox
// is the user's, and returns storage.ErrExists for one that is somebody else's. It returns the user
// as they are then.
func SettleEmail(ctx context.Context, store LoginStore, link func(ctx context.Context, sub, mailbox string) error,
	u storage.User, mailbox string) (storage.User, error) {
	all, err := store.Logins(ctx, u.Sub)
	if err != nil {
		return u, err
	}
	all = slices.DeleteFunc(all,
		func(l storage.Login) bool { return l.Method != storage.LoginEmail || l.Subject == mailbox })
	if err := store.EndLogins(ctx, all...); err != nil || mailbox == "" {
		return u, err
	}
	if err := link(ctx, u.Sub, mailbox); err != nil {
		return u, err
	}
	return store.User(ctx, u.Sub)
}
