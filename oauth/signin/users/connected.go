package users

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/storage"
)

// Connected implements ConnectedUsers. If two of the subjects are of two users, the strongest
// decides, and no subject is moved. A person who is not a user yet becomes one if the Admission of the
// context says so, and is storage.ErrNotFound otherwise.
//
// All identities of a provider's profile lead to one user, also one that is added later. A provider fills in
// the parts of the user's profile that are missing, and overwrites none.
func (s *StoreUsers) Connected(ctx context.Context, method string, p connector.Profile) (storage.User, error) {
	for {
		known, missing, err := s.subjects(ctx, method, p)
		if err != nil {
			return storage.User{}, err
		}
		if len(known) == 0 {
			admission := AdmissionOf(ctx)
			if admission == (Admission{}) {
				return storage.User{}, storage.ErrNotFound
			}
			u := userOf(method, p)
			if missing[0].Skeletons, err = s.looks(ctx, u.Username); err != nil {
				return u, err
			}
			u, err = s.admit(ctx, admission.Invitation, u, missing...)
			switch {
			case errors.Is(err, storage.ErrExists): // they came in twice at once
				continue
			case err != nil:
				return u, err
			}
			return s.reachable(ctx, u, p)
		}
		u, err := s.store.User(ctx, known[0].UserID)
		if err != nil || u.Disabled {
			return u, err
		}
		switch err := s.store.LinkLogins(ctx, u.Sub, missing...); {
		case errors.Is(err, storage.ErrExists):
			continue
		case err != nil:
			return u, err
		}
		return s.seen(ctx, u, method, p)
	}
}

// Connect implements ConnectedUsers.
func (s *StoreUsers) Connect(ctx context.Context, sub, method string, p connector.Profile) error {
	for {
		known, missing, err := s.subjects(ctx, method, p)
		switch {
		case err != nil:
			return err
		case slices.ContainsFunc(known, func(l storage.Login) bool { return l.UserID != sub }):
			return storage.ErrExists
		}
		if err = s.store.LinkLogins(ctx, sub, missing...); !errors.Is(err, storage.ErrExists) {
			return err
		}
	}
}

// subjects returns the logins of a profile's subjects that exist, and those that do not yet.
func (s *StoreUsers) subjects(ctx context.Context, method string,
	p connector.Profile) (known, missing []storage.Login, err error) {
	if len(p.Subjects) == 0 {
		return nil, nil, errors.New("signin: a profile without a subject is nobody's")
	}
	for _, subject := range p.Subjects {
		l, err := s.store.Login(ctx, method, subject)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			missing = append(missing, storage.Login{Method: method, Subject: subject})
		case err != nil:
			return nil, nil, err
		default:
			known = append(known, l)
		}
	}
	return known, missing, nil
}

// userOf returns the user that a profile creates, with a random username.
func userOf(method string, p connector.Profile) storage.User {
	return storage.User{
		Username: method + "_" + strings.ToLower(rand.Text()[:10]), LoginType: method,
		Nickname: p.Nickname, Picture: p.Avatar, Gender: p.Gender, Location: p.Location,
	}
}

// seen stores the method of a sign-in, and the parts of the profile that are missing here.
func (s *StoreUsers) seen(ctx context.Context, u storage.User, method string,
	p connector.Profile) (storage.User, error) {
	now := u
	now.LoginType = method
	now.Nickname = cmp.Or(u.Nickname, p.Nickname)
	now.Picture = cmp.Or(u.Picture, p.Avatar)
	now.Gender = cmp.Or(u.Gender, p.Gender)
	now.Location = cmp.Or(u.Location, p.Location)
	if !reflect.DeepEqual(now, u) {
		if _, err := s.store.SaveUser(ctx, now); !harmless(err) {
			return u, err
		}
		if now.Email == "" && p.Email != "" { // with the version that was written
			written, err := s.store.User(ctx, u.Sub)
			if err != nil {
				return u, err
			}
			now = written
		}
	}
	return s.reachable(ctx, now, p)
}

// reachable stores the address that a provider tells of its user, if they have none. It is not confirmed, unless the
// operator trusts the provider. An address that a person has confirmed here is theirs: it joins no accounts.
func (s *StoreUsers) reachable(ctx context.Context, u storage.User, p connector.Profile) (storage.User, error) {
	address, err := NormalizeEmail(p.Email)
	confirmed := p.ConfirmedEmail != "" && p.ConfirmedEmail == p.Email // a host's Connector may name two
	if err != nil || u.EmailVerified || u.Email != "" && (u.Email != address || !confirmed) {
		return u, nil
	}
	switch l, err := s.store.Login(ctx, storage.LoginEmail, address); {
	case err == nil && l.UserID != u.Sub:
		return u, nil
	case err != nil && !errors.Is(err, storage.ErrNotFound):
		return u, err
	}
	if confirmed {
		switch err := s.LinkEmail(ctx, u.Sub, address); {
		case errors.Is(err, storage.ErrExists): // a person has confirmed it meanwhile
			return u, nil
		case err != nil:
			return u, err
		}
		return s.store.User(ctx, u.Sub)
	}
	u.Email = address
	saved, err := s.store.SaveUser(ctx, u)
	if !harmless(err) {
		return u, err
	}
	return saved, nil
}
