package people

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// MaxInvitationLife is the longest time for which an invitation is open.
const MaxInvitationLife = 90 * 24 * time.Hour

// Invitation lets one user sign up. Its code is kept only as a hash.
type Invitation struct {
	ID        string    `json:"id"`             // a hash of its code
	Role      string    `json:"role,omitempty"` // of the user who signs up with it
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	Version   int64     `json:"-"`
	carried
}

var invitations = document.Kind[Invitation]{
	Name:    "invitation",
	ID:      func(i Invitation) string { return i.ID },
	Index:   func(i Invitation) []string { return []string{"all"} },
	Expires: func(i Invitation) time.Time { return i.ExpiresAt },
	Version: func(i *Invitation) *int64 { return &i.Version },
}

// Live reports whether the invitation is open at a time.
func (i Invitation) Live(at time.Time) bool { return at.Before(i.ExpiresAt) }

func (i Invitation) check() error {
	switch {
	case !i.ExpiresAt.After(i.CreatedAt) || i.ExpiresAt.Sub(i.CreatedAt) > MaxInvitationLife:
		return fmt.Errorf("%w: an invitation is open for at most %d days", document.ErrInvalid,
			int(MaxInvitationLife/(24*time.Hour)))
	}
	return checkRole(i.Role)
}

// SaveInvitation writes a new invitation.
func (s *Store) SaveInvitation(ctx context.Context, i Invitation) (Invitation, error) {
	if err := i.check(); err != nil {
		return i, err
	}
	return document.Put(ctx, s.docs, invitations, i)
}

// Invitation returns an invitation, ended ones included until they are swept, or ErrNotFound.
func (s *Store) Invitation(ctx context.Context, id string) (Invitation, error) {
	return document.Get(ctx, s.docs, invitations, id)
}

// CreateInvited is CreateUser for an invited user, who gets the invitation's role. It uses
// the invitation up in the same step, and returns ErrConflict if it has been used
// meanwhile.
func (s *Store) CreateInvited(ctx context.Context, u User, by Invitation, logins ...Login) (User, error) {
	u.Role = by.Role
	used := driver.Doc{Kind: invitations.Name, ID: by.ID, Version: by.Version, Deleted: true}
	u, err := Create(ctx, s, u, logins, document.Tally{}, used)
	if in := new(driver.PutError); errors.As(err, &in) && in.Kind == invitations.Name {
		return u, document.ErrConflict
	}
	return u, err
}
