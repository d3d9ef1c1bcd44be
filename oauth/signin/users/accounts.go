package users

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/storage"
)

// ByEmail implements EmailUsers.
func (s *StoreUsers) ByEmail(ctx context.Context, address string) (storage.User, error) {
	l, err := s.store.Login(ctx, storage.LoginEmail, address)
	if err != nil {
		return storage.User{}, err
	}
	u, err := s.store.User(ctx, l.UserID)
	if err == nil && u.Disabled {
		err = storage.ErrNotFound
	}
	return u, err
}

// CreateByEmail implements EmailUsers. The username is random: applications that may not learn the
// address see it. An invitation in the Admission of the context is used up.
func (s *StoreUsers) CreateByEmail(ctx context.Context, address string) (storage.User, error) {
	u := storage.User{
		Username: "user-" + strings.ToLower(rand.Text()[:10]), Email: address, EmailVerified: true,
		LoginType: storage.LoginEmail,
	}
	looks, err := s.looks(ctx, u.Username)
	if err != nil {
		return u, err
	}
	u, err = s.admit(ctx, AdmissionOf(ctx).Invitation, u, storage.Login{Method: storage.LoginEmail, Subject: address,
		Skeletons: looks})
	if errors.Is(err, storage.ErrExists) {
		return s.ByEmail(ctx, address)
	}
	return u, err
}

// LinkEmail implements EmailUsers. Applications see the newest address; the user can still sign in
// with the older ones.
func (s *StoreUsers) LinkEmail(ctx context.Context, sub, address string) error {
	err := s.store.LinkLogins(ctx, sub, storage.Login{Method: storage.LoginEmail, Subject: address})
	if errors.Is(err, storage.ErrExists) {
		l, again := s.store.Login(ctx, storage.LoginEmail, address)
		if again != nil || l.UserID != sub {
			return errors.Join(err, again)
		}
		err = nil
	}
	if err != nil {
		return err
	}
	_, err = storage.RetryOnConflict(ctx, func() (storage.User, error) {
		u, err := s.store.User(ctx, sub)
		if err != nil {
			return u, err
		}
		u.Email, u.EmailVerified = address, true
		return s.store.SaveUser(ctx, u)
	})
	return err
}

// EnteredByEmail implements EmailUsers.
func (s *StoreUsers) EnteredByEmail(ctx context.Context, u storage.User) (storage.User, error) {
	if u.LoginType == storage.LoginEmail {
		return u, nil
	}
	u.LoginType = storage.LoginEmail
	if _, err := s.store.SaveUser(ctx, u); !harmless(err) {
		return u, err
	}
	return u, nil
}

// PasswordMark implements PasswordMarker. It returns the salted hash.
func (s *StoreUsers) PasswordMark(ctx context.Context, sub string) (string, error) {
	l, err := s.own(ctx, sub)
	return l.PasswordHash, err
}

// HasPassword implements PasswordUsers.
func (s *StoreUsers) HasPassword(ctx context.Context, sub string) (bool, error) {
	_, err := s.own(ctx, sub)
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func (s *StoreUsers) own(ctx context.Context, sub string) (storage.Login, error) {
	all, err := s.store.Logins(ctx, sub)
	for _, l := range all {
		if l.Method == storage.LoginSelf && l.PasswordHash != "" {
			return l, nil
		}
	}
	if err == nil {
		err = storage.ErrNotFound
	}
	return storage.Login{}, err
}

// SetPassword implements PasswordUsers.
func (s *StoreUsers) SetPassword(ctx context.Context, sub, password string) error {
	u, err := s.store.User(ctx, sub)
	if err != nil {
		return err
	}
	if err := passwords.Check(password, u.Username, u.Email); err != nil {
		return fmt.Errorf("%w: %w", storage.ErrInvalid, err)
	}
	hash, err := s.passwords.Hash(ctx, password)
	if err != nil {
		return err
	}
	_, err = storage.RetryOnConflict(ctx, func() (storage.Login, error) {
		l, err := s.own(ctx, sub)
		if err != nil {
			return l, err
		}
		l.PasswordHash = hash
		return s.store.SaveLogin(ctx, l)
	})
	return err
}

// SetProfile implements ProfileUsers. Changes that another writer has made meanwhile, such as a role, stay.
func (s *StoreUsers) SetProfile(ctx context.Context, sub string, p Profile) (before Profile, err error) {
	return s.SetProfileWith(ctx, sub, p, nil)
}

// SetProfileWith implements AttributeUsers. Changes of other writers stay, as with SetProfile.
func (s *StoreUsers) SetProfileWith(ctx context.Context, sub string, p Profile,
	changes []AttributeChange) (before Profile, err error) {
	_, err = storage.RetryOnConflict(ctx, func() (storage.User, error) {
		u, err := s.store.User(ctx, sub)
		if err != nil {
			return u, err
		}
		if before = ProfileOf(u); before == p && len(changes) == 0 {
			return u, nil
		}
		u.Name, u.Nickname, u.Picture, u.Gender, u.Location = p.Name, p.Nickname, p.Picture, p.Gender, p.Location
		if u.Attributes, err = changed(u.Attributes, changes); err != nil {
			return u, err
		}
		return s.store.SaveUser(ctx, u)
	})
	return before, err
}

// changed returns the attributes of a user after changes.
func changed(now map[string]string, changes []AttributeChange) (map[string]string, error) {
	after := map[string]string{}
	maps.Copy(after, now)
	for _, c := range changes {
		if after[c.Name] != c.Was {
			return nil, fmt.Errorf("%w: %s", ErrAttributeChanged, c.Name)
		}
		if after[c.Name] = c.Is; c.Is == "" {
			delete(after, c.Name)
		}
	}
	return after, nil
}

// SignUp implements SignUpUsers.
func (s *StoreUsers) SignUp(ctx context.Context, u storage.User, password, invitation string) (storage.User, error) {
	id := ""
	if invitation != "" {
		id = handle.HashInvitation(invitation)
		if _, err := s.invitation(ctx, id); err != nil { // before a password is hashed for nobody
			return u, err
		}
	}
	return s.CreateWith(ctx, u, password, func(u storage.User, l storage.Login) (storage.User, error) {
		return s.admit(ctx, id, u, l)
	})
}
