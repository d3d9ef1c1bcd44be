package main

import (
	"context"

	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/storage"
)

// people is the service's user table, by username. It is a map here; yours is where you
// keep your users. Keystile never writes to it, and keeps only the sub.
type people struct {
	rows      map[string]person
	passwords *passwords.Hasher
}

type person struct {
	id        int64
	name      string
	email     string
	hash      string
	dismissed bool
}

// newPeople uses Keystile's argon2id. If your hashes are of another kind, Authenticate is
// the only place that has to know.
func newPeople(ctx context.Context) (*people, error) {
	p := &people{rows: map[string]person{}, passwords: passwords.New(passwords.Cost{})}
	hash, err := p.passwords.Hash(ctx, "analytical engine")
	p.rows["ada"] = person{id: 1, name: "Ada Lovelace", email: "ada@example.com", hash: hash}
	return p, err
}

// User implements users.Users and oauth.Users. The sub is what applications know a
// person by: it never changes and is never given to someone else.
func (p *people) User(_ context.Context, sub string) (storage.User, error) {
	for username, row := range p.rows {
		if u := row.user(username); u.Sub == sub {
			return u, nil
		}
	}
	return storage.User{}, storage.ErrNotFound
}

// Authenticate implements users.Users. An unknown username costs a hash as well, so that
// no one learns from the time it takes who has an account.
func (p *people) Authenticate(ctx context.Context, username, password string) (storage.User, error) {
	row := p.rows[username]
	ok, _, err := p.passwords.Verify(ctx, row.hash, password)
	if err == nil && !ok {
		err = storage.ErrNotFound
	}
	return row.user(username), err
}

func (r person) user(username string) storage.User {
	return storage.User{
		Sub: "employee-" + username, ID: r.id, Username: username,
		Name: r.name, Email: r.email, EmailVerified: true, Disabled: r.dismissed,
	}
}
