package users

import (
	"context"
	"errors"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
)

// Admission says whether a person who is not a user yet may become one. Sign-in puts it into the context of
// Connected and CreateByEmail, by its Config. The zero value admits nobody.
type Admission struct {
	Open       bool   // anybody may
	Invitation string // the ID of the storage.Invitation whose code they have brought; it is used up
}

type admissionKey struct{}

// WithAdmission returns a context under which a new person is admitted.
func WithAdmission(ctx context.Context, a Admission) context.Context {
	return context.WithValue(ctx, admissionKey{}, a)
}

// AdmissionOf returns the Admission of a context: the zero one if there is none.
func AdmissionOf(ctx context.Context) Admission {
	a, _ := ctx.Value(admissionKey{}).(Admission)
	return a
}

// InvitedUsers are Users who obey the Admission of a context, so that sign-in decides who becomes one of them
// and its pages ask for invitations; *StoreUsers implements it. Other users decide by themselves.
type InvitedUsers interface {
	// Invited returns the ID of the invitation that has a code, or storage.ErrNotFound if there is none
	// that can still be used.
	Invited(ctx context.Context, code string) (id string, err error)
}

// Invited implements InvitedUsers.
func (s *StoreUsers) Invited(ctx context.Context, code string) (id string, err error) {
	i, err := s.invitation(ctx, handle.HashInvitation(code))
	return i.ID, err
}

func (s *StoreUsers) invitation(ctx context.Context, id string) (storage.Invitation, error) {
	i, err := s.store.Invitation(ctx, id)
	if err == nil && !i.Live(time.Now()) {
		err = storage.ErrNotFound
	}
	return i, err
}

func (s *StoreUsers) admit(ctx context.Context, invitation string, u storage.User,
	logins ...storage.Login) (storage.User, error) {
	if invitation == "" {
		return s.store.CreateUser(ctx, u, logins...)
	}
	i, err := s.invitation(ctx, invitation)
	if err != nil {
		return u, err
	}
	u, err = s.store.CreateInvited(ctx, u, i, logins...)
	if errors.Is(err, storage.ErrConflict) { // another person has used it meanwhile
		err = storage.ErrNotFound
	}
	return u, err
}
