package main

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/record/idempotency"
	"github.com/keystile/keystile/internal/record/lease"
	"github.com/keystile/keystile/internal/record/shipping"
	"github.com/keystile/keystile/internal/test/released"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
	"github.com/keystile/keystile/storage/nodes"
)

// records make one of each kind of record that takes people, mails or several processes to come about.
func records(f released.Facts) map[string]func(context.Context, *storage.Store, time.Time) error {
	return map[string]func(context.Context, *storage.Store, time.Time) error{
		"second factor": func(ctx context.Context, s *storage.Store, at time.Time) error {
			sub, err := subOf(ctx, s, f.Guarded.Username)
			if err != nil {
				return err
			}
			_, err = s.SaveFactors(ctx, storage.Factors{
				UserID: sub, AppSecret: storage.NewSecret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"),
				Authenticator: &authn.Authenticator{CreatedAt: at, LastStep: 1},
				Recovery:      []authn.RecoveryCode{{Hash: handle.Hash("one"), UsedAt: at}, {Hash: handle.Hash("two")}}, Epoch: 1,
			})
			return err
		},
		"consent": func(ctx context.Context, s *storage.Store, at time.Time) error {
			sub, err := subOf(ctx, s, f.User.Username)
			if err == nil {
				_, err = s.SaveConsent(ctx, storage.Consent{AppID: f.App.ID, UserID: sub, Scope: "openid tools",
					Asked: "openid profile tools"})
			}
			return err
		},
		"application that was removed, and what it has used": func(ctx context.Context, s *storage.Store,
			at time.Time) error {
			sub, err := subOf(ctx, s, f.User.Username)
			if err != nil {
				return err
			}
			a, err := s.CreateApp(ctx, storage.App{Name: "Gone", Domains: []string{"gone.example.com"}, Owner: sub}, 10,
				storage.Quota{})
			if err != nil {
				return err
			}
			return s.DeleteApp(ctx, a, storage.Quota{Period: "month", Until: at.AddDate(0, 0, 20), Calls: 12})
		},
		"user who was an administrator": func(ctx context.Context, s *storage.Store, at time.Time) error {
			sub, err := subOf(ctx, s, f.Disabled.Username)
			if err != nil {
				return err
			}
			u, err := s.User(ctx, sub)
			if err != nil {
				return err
			}
			u.Role, u.Disabled = storage.RoleAdmin, false
			if u, err = s.SaveUser(ctx, u); err != nil {
				return err
			}
			u.Role, u.Disabled = "", true
			_, err = s.SaveUserKeepingAdmin(ctx, u)
			return err
		},
		"ticket": func(ctx context.Context, s *storage.Store, at time.Time) error {
			_, err := s.SaveTicket(ctx, storage.Ticket{
				ID: handle.Hash(rand.Text()), Kind: "code", Browser: handle.Hash(rand.Text()), Subject: "ada@example.com",
				Proof:  []byte("hash"),
				Method: "email", Query: "client_id=" + f.App.ID, AppID: f.App.ID, IP: "192.0.2.1", CreatedAt: at,
				ExpiresAt: at.Add(30 * time.Minute),
			})
			return err
		},
		"mail": func(ctx context.Context, s *storage.Store, at time.Time) error {
			_, err := s.AddMail(ctx, storage.Mail{
				Kind: "notice", Of: "ada@example.com", Content: storage.NewSecret(`{"to":"ada@example.com"}`), NextAt: at.Add(20 * time.Hour), ExpiresAt: at.Add(23 * time.Hour),
			})
			return err
		},
		"node and lease": func(ctx context.Context, s *storage.Store, at time.Time) error {
			_, err := s.SaveBeat(ctx, nodes.Beat{ID: "one", Name: "host-1", Build: f.Version, Started: at, At: at,
				Every: 5 * time.Second, Ends: at.AddDate(0, 0, 1)})
			if err == nil {
				_, err = s.SaveLease(ctx, lease.Lease{Task: "sweep", Holder: "one", At: at})
			}
			return err
		},
		"streams": func(ctx context.Context, s *storage.Store, at time.Time) error {
			_, err := s.SaveStream(ctx, shipping.Position{Name: "audit.stdout", Through: 1, Hash: "hash"})
			if err == nil {
				err = s.MarkUsage(ctx, at, f.App.ID)
			}
			return err
		},
		"call that was repeated": func(ctx context.Context, s *storage.Store, at time.Time) error {
			_, err := s.SaveKeyedCalls(ctx, idempotency.Call{ID: handle.Hash("call"), Charged: true, Repeats: 1,
				ExpiresAt: at.AddDate(0, 0, 1)})
			return err
		},
		"probe": func(ctx context.Context, s *storage.Store, at time.Time) error { return s.Ready(ctx) },
	}
}

// subOf finds a user by name.
func subOf(ctx context.Context, s *storage.Store, username string) (string, error) {
	found, _, err := s.FindUsers(ctx, username, "", 2)
	if err == nil && len(found) != 1 {
		err = errors.New("there is no one user of that name")
	}
	if err != nil {
		return "", err
	}
	return found[0].Sub, nil
}
