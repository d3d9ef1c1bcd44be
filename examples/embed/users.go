package main

import (
	"context"

	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/storage"
)

// userTable is the service's user table, by username. It is a map here; yours is where you
// keep your users. Keystile never writes to it, and keeps only the sub.
type userTable struct {
	rows      map[string]employee
	passwords *passwords.Hasher
}

type employee struct {
	id        int64
	name      string
	email     string
	hash      string
	role      string // in the console: storage.RoleAdmin and others; most have none
	dismissed bool
}

// newUserTable uses Keystile's argon2id. If your hashes are of another kind, Authenticate
// is the only place that has to know.
func newUserTable(ctx context.Context) (*userTable, error) {
	p := &userTable{rows: map[string]employee{}, passwords: passwords.New(passwords.Cost{})}
	hash, err := p.passwords.Hash(ctx, "analytical engine")
	p.rows["ada"] = employee{id: 1, name: "Ada Lovelace", email: "ada@example.com", hash: hash, role: storage.RoleAdmin}
	return p, err
}

// User implements users.Users and oauth.Users. Applications identify a user by the sub: it
// never changes and is never given to someone else.
func (p *userTable) User(_ context.Context, sub string) (storage.User, error) {
	for username, row := range p.rows {
		if u := row.user(username); u.Sub == sub {
			return u, nil
		}
	}
	return storage.User{}, storage.ErrNotFound
}

// Authenticate implements users.Users. An unknown username costs a hash as well, so that
// no one learns from the time it takes who has an account.
func (p *userTable) Authenticate(ctx context.Context, username, password string) (storage.User, error) {
	row := p.rows[username]
	ok, _, err := p.passwords.Verify(ctx, row.hash, password)
	if err == nil && !ok {
		err = storage.ErrNotFound
	}
	return row.user(username), err
}

func (r employee) user(username string) storage.User {
	return storage.User{
		Sub: "employee-" + username, ID: r.id, Username: username,
		Role: r.role, Name: r.name, Email: r.email, EmailVerified: true, Disabled: r.dismissed,
	}
}
