package storage

import (
	"context"

	"github.com/keystile/keystile/storage/access"
)

// settingStrangers says whether somebody may be a user whom no operator has made. The ways in of today do not tell:
// whoever came while one of them was open is still there when it is closed.
const (
	settingStrangers = "users.strangers"
	strangersNever   = "never"
	strangersMaybe   = "maybe"
)

// MayHaveStrangers reports whether somebody may be a user whom no operator has made: a way in was not closed once, or
// nobody has written down whether one was, which is so of users of a version before.
func (s *Store) MayHaveStrangers(ctx context.Context) (bool, error) {
	known, err := s.Setting(ctx, settingStrangers)
	if err != nil || known != "" {
		return known != strangersNever, err
	}
	some, _, err := s.Users(ctx, "", 1)
	return len(some) > 0, err
}

// NoteWays writes down which ways in there are, before anybody comes by them.
func (s *Store) NoteWays(ctx context.Context, ways access.Ways) error {
	value := strangersMaybe
	if ways.Default() == access.DefaultEveryone {
		switch maybe, err := s.MayHaveStrangers(ctx); {
		case err != nil:
			return err
		case !maybe:
			value = strangersNever
		}
	}
	if known, err := s.Setting(ctx, settingStrangers); err != nil || known == value {
		return err
	}
	return s.Set(ctx, settingStrangers, value)
}

// DefaultAccess returns who may use a tool without an access list where SettingDefaultAccess does not say it:
// everyone if all ways in are known and closed and always were, so that every user was made by an operator, else the
// owner.
func (s *Store) DefaultAccess(ctx context.Context, ways access.Ways) (string, error) {
	if ways.Default() == access.DefaultOwner {
		return access.DefaultOwner, nil
	}
	maybe, err := s.MayHaveStrangers(ctx)
	if err != nil || maybe {
		return access.DefaultOwner, err
	}
	return access.DefaultEveryone, nil
}
