// Package users holds the rules of what the console and the administrator's commands do to a user.
package users

import (
	"context"
	"errors"
	"slices"

	"github.com/keystile/keystile/internal/logout"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Store reads and ends sessions for SignOut; *storage.Store implements it.
type Store interface {
	FactorStore
	SessionStore
}

// SessionStore reads and ends sessions.
type SessionStore interface {
	logout.Sessions
	Session(ctx context.Context, id string) (storage.Session, error)
	Sessions(ctx context.Context, sub string) ([]storage.Session, error)
}

// SignOut ends the sessions of a user, the trust of their browsers and everything they granted before now.
// The caller first saves what keeps them out, or gives them less: then nothing begins that this would
// miss. It returns how many sessions there were.
func SignOut(ctx context.Context, store Store, revoke func(context.Context, ...driver.Revocation) error,
	sub string) (ended int, err error) {
	sessions, err := store.Sessions(ctx, sub)
	if err != nil {
		return 0, err
	}
	for _, s := range sessions {
		if err := end(ctx, store, s, true); err != nil {
			return 0, err
		}
	}
	if err := forgetBrowsers(ctx, store, sub); err != nil {
		return 0, err
	}
	return len(sessions), revoke(ctx, driver.Revocation{Kind: driver.RevokeUser, ID: sub})
}

// End ends a session even if it moves forward with its use meanwhile, and those that its user has confirmed in it.
// Their applications are told.
func End(ctx context.Context, store Store, s storage.Session) error {
	if err := EndFollowing(ctx, store, s); err != nil {
		return err
	}
	return end(ctx, store, s, false)
}

// EndFollowing ends the sessions that the user of a session has confirmed in it, and those that were confirmed in
// these. Their applications are told. It is called before the session itself ends: if it fails, the
// session is still there to be ended again.
func EndFollowing(ctx context.Context, store SessionStore, s storage.Session) error {
	all, err := store.Sessions(ctx, s.UserID)
	if err != nil {
		return err
	}
	following, seen := []storage.Session{s}, map[string]bool{s.ID: true}
	for i := 0; i < len(following); i++ {
		for _, v := range all {
			if v.From == following[i].SIDRoot() && !seen[v.ID] {
				following, seen[v.ID] = append(following, v), true
			}
		}
	}
	for _, v := range slices.Backward(following[1:]) {
		if err := end(ctx, store, v, false); err != nil {
			return err
		}
	}
	return nil
}

// end tells nobody where a revocation of the user follows, which tells all of the user's applications.
func end(ctx context.Context, store SessionStore, s storage.Session, revoked bool) error {
	_, err := storage.RetryOnConflict(ctx, func() (storage.Session, error) {
		s, err := store.Session(ctx, s.ID)
		if err != nil {
			return s, err
		}
		if revoked {
			s.Apps = nil
		}
		return s, logout.End(ctx, store, s)
	})
	if errors.Is(err, storage.ErrNotFound) { // by itself
		return nil
	}
	return err
}
