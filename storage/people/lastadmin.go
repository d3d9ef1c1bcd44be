package people

import (
	"context"
	"errors"
	"fmt"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/internal/fence"
)

// ErrLastAdmin: no enabled administrator would be left.
var ErrLastAdmin = fmt.Errorf("%w: this is the only administrator who is not disabled: make another one first",
	document.ErrInvalid)

// adminFences holds one document, which is written with each user who stops being an
// administrator, so that two who do so at once do not count each other as the one who stays.
var adminFences = document.Kind[fence.Fence]{
	Name:    "adminfence",
	ID:      func(fence.Fence) string { return "admins" },
	Version: func(f *fence.Fence) *int64 { return &f.Version },
}

// administers reports whether the user may administer.
func (u User) administers() bool { return u.Role == RoleAdmin && !u.Disabled }

// SaveUserKeepingAdmin is SaveUser, but returns ErrLastAdmin for a change that would leave
// no enabled administrator. Changes that go through it, also at once in several processes,
// leave at least one; SaveUser does not check.
func (s *Store) SaveUserKeepingAdmin(ctx context.Context, u User) (User, error) {
	if err := u.Check(); err != nil {
		return u, err
	}
	for {
		stands, err := document.Find(ctx, s.docs, adminFences, "admins")
		if err != nil {
			return u, err
		}
		before, err := s.User(ctx, u.Sub)
		if err != nil {
			return u, err
		}
		if u.administers() || !before.administers() {
			return s.SaveUser(ctx, u)
		}
		if err := s.anotherAdmin(ctx, u.Sub); err != nil {
			return u, err
		}
		saved, err := s.saveFenced(ctx, u, stands)
		var in *driver.PutError
		if errors.As(err, &in) && in.Kind == adminFences.Name {
			continue // another one stopped meanwhile; each round one of them gets through
		}
		return saved, err
	}
}

// anotherAdmin returns ErrLastAdmin unless there is another enabled administrator.
func (s *Store) anotherAdmin(ctx context.Context, sub string) error {
	for from := ""; ; {
		page, next, err := s.Users(ctx, from, driver.Page)
		if err != nil {
			return err
		}
		for _, u := range page {
			if u.Sub != sub && u.administers() {
				return nil
			}
		}
		if from = next; next == "" {
			return ErrLastAdmin
		}
	}
}

func (s *Store) saveFenced(ctx context.Context, u User, f fence.Fence) (User, error) {
	stands, err := adminFences.Doc(s.docs, f)
	if err != nil {
		return u, err
	}
	return s.saveUser(ctx, u, stands)
}
