package users

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/keystile/keystile/internal/confusable"
	"github.com/keystile/keystile/oauth/signin/internal/usernames"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/storage"
)

// Store keeps users and their logins; *storage.Store implements it.
type Store interface {
	User(ctx context.Context, sub string) (storage.User, error)
	SaveUser(ctx context.Context, u storage.User) (storage.User, error)
	CreateUser(ctx context.Context, u storage.User, by ...storage.Login) (storage.User, error)
	Login(ctx context.Context, method, subject string) (storage.Login, error)
	SaveLogin(ctx context.Context, l storage.Login) (storage.Login, error)
	LoginStore
	LinkLogins(ctx context.Context, sub string, more ...storage.Login) error
	Invitation(ctx context.Context, id string) (storage.Invitation, error)
	CreateInvited(ctx context.Context, u storage.User, by storage.Invitation,
		logins ...storage.Login) (storage.User, error)
	ReserveSkeletons(ctx context.Context, of string, looks func(username string) []string) error
}

// StoreUsers are the users of a Store, with a username and a password.
//
// Usernames are compared after NFKC normalisation and lowercasing, so one that is typed in full width signs in.
// A new one is refused if it looks like an existing one, that is, if they share a skeleton (UTS 39), as written
// or in lower case; accents and other diacritics do not count, the voicing marks of kana do. Typing a
// look-alike to sign in does not find its owner. New names are of one script, or of Chinese, Japanese or Korean
// with Latin, and hold no invisible characters; they are kept and shown in NFKC. Generated names are checked
// against the same list.
//
// The skeleton of each username is a document, written in one step with the user, so of many sign-ups at once
// that look alike one gets through. Users who were made before have none: when the next user is made, every
// user is read once and their documents are written; only that sign-up waits for it. Users who look alike
// already stay as they are, and sign in by the very name they typed then. Users whom an older process makes
// beside a newer one are not checked against the list.
type StoreUsers struct {
	store     Store
	passwords *passwords.Hasher
	reserved  atomic.Bool // the skeletons of all users' names are stored
}

// New makes a StoreUsers. A nil hasher means one of the zero Cost.
func New(store Store, hasher *passwords.Hasher) *StoreUsers {
	if hasher == nil {
		hasher = passwords.New(passwords.Cost{})
	}
	return &StoreUsers{store: store, passwords: hasher}
}

// User returns the user with this sub, or storage.ErrNotFound.
func (s *StoreUsers) User(ctx context.Context, sub string) (storage.User, error) {
	return s.store.User(ctx, sub)
}

// Authenticate implements Users. It computes one hash also for an unknown user.
func (s *StoreUsers) Authenticate(ctx context.Context, username, password string) (storage.User, error) {
	login, err := s.login(ctx, username)
	if err != nil {
		return storage.User{}, err
	}
	ok, stale, err := s.passwords.Verify(ctx, login.PasswordHash, password)
	switch {
	case err != nil:
		return storage.User{}, fmt.Errorf("user %s: %w", login.UserID, err)
	case !ok:
		return storage.User{}, storage.ErrNotFound
	}
	u, err := s.store.User(ctx, login.UserID)
	if err != nil || u.Disabled {
		return u, err
	}
	return s.keep(ctx, u, login, password, stale)
}

// Named implements NamedUsers.
func (s *StoreUsers) Named(ctx context.Context, username string) (sub string, err error) {
	l, err := s.login(ctx, username)
	if err == nil && l.UserID == "" {
		err = storage.ErrNotFound
	}
	return l.UserID, err
}

// login returns the login by password of a person who has typed their username, or an address that they have
// confirmed; the zero one if there is none. A username comes first.
func (s *StoreUsers) login(ctx context.Context, typed string) (storage.Login, error) {
	for _, name := range usernames.Keys(typed) {
		l, err := s.store.Login(ctx, storage.LoginSelf, name)
		if !errors.Is(err, storage.ErrNotFound) {
			return l, err
		}
	}
	address, err := NormalizeEmail(typed)
	if err != nil {
		return storage.Login{}, nil
	}
	l, err := s.store.Login(ctx, storage.LoginEmail, address)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return storage.Login{}, err
	}
	all, err := s.store.Logins(ctx, cmp.Or(l.UserID, "unobody")) // of nobody too, so that it takes as long
	for _, l := range all {
		if l.Method == storage.LoginSelf {
			return l, err
		}
	}
	return storage.Login{}, err
}

// keep stores the login type of a sign-in, and a new hash if the old one has another cost. It
// fails only if the store is unavailable.
func (s *StoreUsers) keep(ctx context.Context, u storage.User, l storage.Login, password string,
	stale bool) (storage.User, error) {
	if stale {
		if err := s.renew(ctx, l, password); err != nil {
			return u, err
		}
	}
	if u.LoginType == storage.LoginSelf {
		return u, nil
	}
	u.LoginType = storage.LoginSelf
	if _, err := s.store.SaveUser(ctx, u); !harmless(err) {
		return u, err
	}
	return u, nil
}

// renew stores a new hash of a password, unless too many passwords wait to be hashed.
func (s *StoreUsers) renew(ctx context.Context, l storage.Login, password string) (err error) {
	l.PasswordHash, err = s.passwords.Rehash(ctx, password)
	if errors.Is(err, passwords.ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := s.store.SaveLogin(ctx, l); !harmless(err) {
		return err
	}
	return nil
}

// harmless reports whether a sign-in goes on after an error of storing what it only notes: a
// concurrent write is as good, and a record that no longer passes its checks must not lock its
// owner out.
func harmless(err error) bool {
	return err == nil || errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrNotFound) ||
		errors.Is(err, storage.ErrInvalid)
}

// Create makes a user who signs in with a username and a password. An unacceptable one is
// storage.ErrInvalid, a username that is taken storage.ErrExists; both say what to do.
func (s *StoreUsers) Create(ctx context.Context, u storage.User, password string) (storage.User, error) {
	return s.CreateWith(ctx, u, password, func(u storage.User, l storage.Login) (storage.User, error) {
		return s.store.CreateUser(ctx, u, l)
	})
}

// CreateWith is Create by another write than the Store's CreateUser, such as one that makes other records in the
// same step. The user that write is given is checked, and the login holds the hash of the password.
func (s *StoreUsers) CreateWith(ctx context.Context, u storage.User, password string,
	write func(storage.User, storage.Login) (storage.User, error)) (storage.User, error) {
	err := errors.Join(usernames.Check(u.Username), passwords.Check(password, u.Username, u.Email))
	if err != nil {
		return u, fmt.Errorf("%w: %w", storage.ErrInvalid, err)
	}
	hash, err := s.passwords.Hash(ctx, password)
	if err != nil {
		return u, err
	}
	u, login, err := s.named(ctx, u, hash)
	if err != nil {
		return u, err
	}
	made, err := write(u, login)
	if errors.Is(err, storage.ErrExists) {
		return u, &taken{u.Username, err}
	}
	return made, err
}

// Adopt returns a user who comes from another product, and the login by which they sign in with the username and the
// password that they have, for the caller to write. The hash is that of the other product; "" is no password. An
// unacceptable username or hash is storage.ErrInvalid and says what to do.
func (s *StoreUsers) Adopt(ctx context.Context, u storage.User, hash string) (storage.User, storage.Login, error) {
	err := usernames.Check(u.Username)
	if hash != "" && err == nil {
		hash, err = passwords.Adopt(hash)
	}
	if err != nil {
		return u, storage.Login{}, fmt.Errorf("%w: %w", storage.ErrInvalid, err)
	}
	return s.named(ctx, u, hash)
}

// named gives a user the username in its normal form, and returns the login by it.
func (s *StoreUsers) named(ctx context.Context, u storage.User, hash string) (_ storage.User, l storage.Login,
	err error) {
	u.Username = confusable.Normal(u.Username)
	l = storage.Login{Method: storage.LoginSelf, Subject: confusable.Key(u.Username), PasswordHash: hash}
	l.Skeletons, err = s.looks(ctx, u.Username)
	return u, l, err
}

// looks returns the skeletons that a new username reserves. The first time it stores those of all
// existing users, which reads every user once and goes on when the request has ended.
func (s *StoreUsers) looks(ctx context.Context, username string) (looks [2]string, err error) {
	if !s.reserved.Load() {
		if err := s.store.ReserveSkeletons(context.WithoutCancel(ctx), "UTS 39, "+confusable.Version,
			confusable.Skeletons); err != nil {
			return looks, err
		}
		s.reserved.Store(true)
	}
	copy(looks[:], confusable.Skeletons(username)) // one or two
	return looks, nil
}

// taken says that a username is somebody's.
type taken struct {
	username string
	why      error
}

func (t *taken) Error() string {
	return fmt.Sprintf("username %q is taken, or looks like one that is: choose another one", t.username)
}

func (t *taken) Unwrap() error { return t.why }
