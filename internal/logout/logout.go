// Package logout has applications told when the sessions of their users end (OpenID Connect Back-Channel Logout 1.0).
// The messages wait in their queues, from where package oauth sends them.
//
//	err := logout.End(ctx, store, session)       // tells the session's applications
//	dated, err := logout.Revoke(ctx, store, end) // tells all applications of a user who is signed out everywhere
//
// Each error is one of package storage.
package logout

import (
	"context"
	"errors"
	"slices"

	"github.com/keystile/keystile/internal/record/notify"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Apps finds the applications that are to be told.
type Apps interface {
	App(ctx context.Context, id string) (storage.App, error)
}

// Sessions ends sessions; *storage.Store implements it.
type Sessions interface {
	Apps
	SID(ctx context.Context, root, appID string) (string, error)
	EndSession(ctx context.Context, v storage.Session, told ...storage.Delivery) error
}

// End removes a session that has been read before. In the same step, what its Apps are told of that joins their queues;
// none of them is told if the caller has emptied the list, because it tells them more by a Revoke of the user.
func End(ctx context.Context, store Sessions, v storage.Session) error {
	var all []storage.Delivery
	for _, id := range v.Apps {
		sid, err := store.SID(ctx, v.SIDRoot(), id)
		if err != nil {
			return err
		}
		one, err := delivery(ctx, store, id, notify.Logout{Sub: v.UserID, SID: sid})
		if err != nil {
			return err
		}
		all = append(all, one...)
	}
	return store.EndSession(ctx, v, all...)
}

// Revocations stores revocations; *storage.Store implements it.
type Revocations interface {
	Apps
	OpenIDs(ctx context.Context, sub string) ([]storage.OpenID, error)
	QueueDeliveries(ctx context.Context, all ...storage.Delivery) error
	RevokeDated(ctx context.Context, rs ...driver.Revocation) ([]driver.Revocation, error)
	RestoreRevocations(ctx context.Context, rs ...driver.Revocation) error
}

// Revoke stores revocations and returns them as they were stored. One of a user tells all applications that the
// user has met that no session of theirs goes on: it waits in their queues before Revoke returns. A Revoke that
// breaks off is done again from the start.
func Revoke(ctx context.Context, store Revocations, rs ...driver.Revocation) ([]driver.Revocation, error) {
	rs, err := store.RevokeDated(ctx, rs...)
	if err != nil {
		return nil, err
	}
	return rs, tell(ctx, store, rs)
}

// By returns Revoke over a store, for callers that need not know how revocations were dated.
func By(store Revocations) func(ctx context.Context, rs ...driver.Revocation) error {
	return func(ctx context.Context, rs ...driver.Revocation) error {
		_, err := Revoke(ctx, store, rs...)
		return err
	}
}

// Restore stores revocations that the store has had and has lost, as they were, and tells of them as Revoke does.
func Restore(ctx context.Context, store Revocations, rs ...driver.Revocation) error {
	if err := store.RestoreRevocations(ctx, rs...); err != nil {
		return err
	}
	return tell(ctx, store, rs)
}

// tell tells all applications of the users who are signed out by revocations. A step is for some applications
// of a user.
func tell(ctx context.Context, store Revocations, rs []driver.Revocation) error {
	for _, r := range rs {
		if r.Kind != driver.RevokeUser {
			continue
		}
		met, err := store.OpenIDs(ctx, r.ID)
		if err != nil {
			return err
		}
		for some := range slices.Chunk(met, storage.MaxSessionApps) {
			var all []storage.Delivery
			for _, o := range some {
				one, err := delivery(ctx, store, o.AppID, notify.Logout{Sub: r.ID})
				if err != nil {
					return err
				}
				all = append(all, one...)
			}
			if err := store.QueueDeliveries(ctx, all...); err != nil {
				return err
			}
		}
	}
	return nil
}

// delivery returns what one application is told: nothing, if it is gone, is disabled, or does not want to know.
func delivery(ctx context.Context, store Apps, appID string, l notify.Logout) ([]storage.Delivery, error) {
	a, err := store.App(ctx, appID)
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && (a.Disabled || a.BackchannelLogoutURI == ""):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return []storage.Delivery{{Member: notify.App(appID), Event: notify.LogoutEvent, URL: a.BackchannelLogoutURI,
		Payload: l.Payload()}}, nil
}
