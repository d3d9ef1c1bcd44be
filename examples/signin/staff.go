package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/storage"
)

// employee is a row of the table staff. Keystile never writes to it, and keeps only the sub.
type employee struct {
	ID           int64
	Email        string // in lower case; unique
	Name         string
	PasswordHash string
	Disabled     bool
}

// staff is the database. Here it is two maps; yours has tables with these keys.
type staff struct {
	passwords *passwords.Hasher

	mu   sync.RWMutex
	rows map[int64]employee // by ID
	ways map[way]int64      // see ways.go
}

func newStaff() *staff {
	return &staff{passwords: passwords.New(passwords.Cost{}), rows: map[int64]employee{}, ways: map[way]int64{}}
}

// hire writes a row. The argon2id is Keystile's; if your hashes are of another kind,
// Authenticate is the only other place that has to know.
func (s *staff) hire(ctx context.Context, email, name, password string) (employee, error) {
	hash, err := s.passwords.Hash(ctx, password)
	if err != nil {
		return employee{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := employee{ID: int64(len(s.rows) + 1), Email: strings.ToLower(email), Name: name, PasswordHash: hash}
	s.rows[e.ID] = e
	return e, nil
}

// User implements users.Users and oauth.Users.
func (s *staff) User(_ context.Context, sub string) (storage.User, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	e, err := s.bySub(sub)
	return e.user(), err
}

// Authenticate implements users.Users. The username is an email address here. An unknown user costs
// a hash as well, so that the time does not reveal them.
func (s *staff) Authenticate(ctx context.Context, username, password string) (storage.User, error) {
	e := s.byEmail(strings.ToLower(strings.TrimSpace(username)))
	ok, _, err := s.passwords.Verify(ctx, e.PasswordHash, password)
	if err == nil && !ok {
		err = storage.ErrNotFound
	}
	return e.user(), err
}

// Named implements users.NamedUsers: guessing a user's password from many addresses does
// not lock them out of a browser that they have signed in with before.
func (s *staff) Named(_ context.Context, username string) (string, error) {
	e := s.byEmail(strings.ToLower(strings.TrimSpace(username)))
	if e.ID == 0 {
		return "", storage.ErrNotFound
	}
	return e.sub(), nil
}

// user returns a row as Keystile sees it. Keystile refuses a Disabled user, so no method
// here has to. A LoginType that is left out is self.
func (e employee) user() storage.User {
	return storage.User{
		Sub: e.sub(), ID: e.ID, Username: e.Email, Name: e.Name,
		Email: e.Email, EmailVerified: true, Disabled: e.Disabled,
	}
}

// sub returns the id by which applications know a user: it never changes, is never given
// to another user, and is no client_id.
func (e employee) sub() string { return fmt.Sprintf("staff-%d", e.ID) }

// bySub wants the lock to be held.
func (s *staff) bySub(sub string) (employee, error) {
	for _, e := range s.rows {
		if e.sub() == sub {
			return e, nil
		}
	}
	return employee{}, storage.ErrNotFound
}

func (s *staff) byEmail(address string) employee {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, e := range s.rows {
		if e.Email == address {
			return e
		}
	}
	return employee{}
}
