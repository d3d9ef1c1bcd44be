package users

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/keystile/keystile/internal/confusable"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/apikey"
	"github.com/keystile/keystile/storage/driver"
)

// EraseStore is Store for Erase; *storage.Store implements it.
type EraseStore interface {
	Store
	User(ctx context.Context, sub string) (storage.User, error)
	SaveUserKeepingAdmin(ctx context.Context, u storage.User) (storage.User, error)
	Logins(ctx context.Context, sub string) ([]storage.Login, error)
	UserGrants(ctx context.Context, sub string) (storage.User, []storage.Consent, []storage.OpenID, error)
	APIKeys(ctx context.Context, sub string) ([]apikey.Key, error)
	CountOwned(ctx context.Context, sub string) (apps, capabilities int, err error)
	EraseUser(ctx context.Context, sub string, looksOfName func(username string) []string) error
}

// Owner is the error of Erase for a user who owns something. It wraps storage.ErrStillOwns.
type Owner struct{ Apps, Capabilities int }

func (o *Owner) Error() string {
	return fmt.Sprintf("the user owns %d applications and %d capabilities: %s", o.Apps, o.Capabilities, handOver)
}

func (o *Owner) Unwrap() error { return storage.ErrStillOwns }

const handOver = "hand them over or delete them first: an application by its page in the console or keystile app set " +
	"CLIENT_ID --owner USERNAME, " +
	"or keystile app delete CLIENT_ID; a capability by registering it again with keystile capability register MEMBER " +
	"--owner USERNAME, or keystile capability remove MEMBER"

// Erased says what was removed with a user. It names nobody.
type Erased struct{ Sessions, Logins, APIKeys, Consents, OpenIDs int }

// Changes returns what the audit trail says of it.
func (e Erased) Changes() []string {
	return []string{
		"user -> disabled, and removed",
		fmt.Sprintf("sessions %d, API keys %d and all grants -> ended", e.Sessions, e.APIKeys),
		fmt.Sprintf("ways in %d, consents %d, openids %d -> removed", e.Logins, e.Consents, e.OpenIDs),
	}
}

// Erase removes a user (a sub) and what belongs to them: see storage.Store.EraseUser for what stays. First
// they are disabled and signed out; then note writes down what will be removed, and only when it has,
// the rest goes. Each step can break off: the user cannot sign in then, and Erase finishes it.
//
// It returns an *Owner for a user who owns something, and storage.ErrLastAdmin for the last
// administrator; both are left as they are.
func Erase(ctx context.Context, store EraseStore, revoke func(context.Context, ...driver.Revocation) error,
	note func(context.Context, Erased) error, sub string) (Erased, error) {
	var e Erased
	if err := ownsNothing(ctx, store, sub); err != nil {
		return e, err
	}
	if err := disableForGood(ctx, store, sub); err != nil {
		return e, err
	}
	keys, err := store.APIKeys(ctx, sub)
	if err != nil {
		return e, err
	}
	e.APIKeys = len(keys)
	if e.Sessions, err = SignOut(ctx, store, revoke, sub); err != nil {
		return e, err
	}
	logins, err := store.Logins(ctx, sub)
	_, consents, met, err2 := store.UserGrants(ctx, sub)
	if err := errors.Join(err, err2); err != nil {
		return e, err
	}
	e.Logins, e.Consents, e.OpenIDs = len(logins), len(consents), len(met)
	if err := note(ctx, e); err != nil {
		return e, err
	}
	err = store.EraseUser(ctx, sub, confusable.Skeletons)
	if errors.Is(err, storage.ErrStillOwns) { // it was given to them meanwhile
		err = cmp.Or(ownsNothing(ctx, store, sub), err)
	}
	return e, err
}

func ownsNothing(ctx context.Context, store EraseStore, sub string) error {
	apps, capabilities, err := store.CountOwned(ctx, sub)
	if err == nil && apps+capabilities > 0 {
		err = &Owner{apps, capabilities}
	}
	return err
}

// disableForGood disables a user who is never enabled again.
func disableForGood(ctx context.Context, store EraseStore, sub string) error {
	_, err := storage.RetryOnConflict(ctx, func() (storage.User, error) {
		u, err := store.User(ctx, sub)
		if err != nil || u.Disabled && u.Erasing {
			return u, err
		}
		u.Disabled, u.Erasing = true, true
		return store.SaveUserKeepingAdmin(ctx, u)
	})
	return err
}
