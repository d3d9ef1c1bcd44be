package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	accounts "github.com/keystile/keystile/internal/users"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

var userChanges = []cli.Flag{
	{Name: "role", Value: "ROLE", Help: "admin, developer, auditor or none"},
	{Name: "name", Value: "NAME", Help: "the full name"},
	{Name: "nickname", Value: "NAME", Help: "what applications are told"},
	{Name: "email", Value: "ADDRESS", Help: "what applications are told; a new one is not verified, and nobody signs in by the old one"},
	{Name: "email-verified", Help: "the address is known to be the user's, who can sign in by it"},
	{Name: secretFlag, Value: "PASSWORD", Help: "at least 8 characters; - reads a line of the standard input"},
}

func setUser(ctx context.Context, target Target, args cli.Args) (output, error) {
	if !slices.ContainsFunc(userChanges, func(f cli.Flag) bool { return len(args.Flags[f.Name]) > 0 }) {
		return nil, cli.Usage("user set changes nothing; name what to change")
	}
	password, change := args.Get(secretFlag), len(args.Flags[secretFlag]) > 0
	if err := target.fits(ctx, args, password); change && err != nil {
		return nil, err
	}
	var before storage.User
	u, err := changeUser(ctx, target.Store, args.Words[0], func(u *storage.User) { before = *u; amend(u, args) })
	if err != nil {
		return nil, err
	}
	if u.Role != before.Role {
		target.tell(ctx, u.Sub, event.NoticeRole, "", "role")
	}
	if u, err = target.settleEmail(ctx, u, args); err != nil {
		return nil, err
	}
	said := showUser(u)
	if !change && u.Role == before.Role {
		return said, nil
	}
	if change {
		if err := target.setPassword(ctx, u, password); err != nil {
			return nil, err
		}
		target.tell(ctx, u.Sub, event.NoticeAccount, "", "password")
	}
	ended, err := signOutEverywhere(ctx, target, u)
	return append(said, ended...), err
}

func (r Target) setPassword(ctx context.Context, u storage.User, password string) error {
	err := r.Users.SetPassword(ctx, u.Sub, password)
	if errors.Is(err, storage.ErrNotFound) {
		return fmt.Errorf("%s does not sign in with a password", u.Username)
	}
	return err
}

// settleEmail makes the ways in by mail follow what is said of the address.
func (r Target) settleEmail(ctx context.Context, u storage.User, args cli.Args) (storage.User, error) {
	if len(args.Flags["email"]) == 0 && len(args.Flags["email-verified"]) == 0 {
		return u, nil
	}
	address, err := users.NormalizeEmail(u.Email)
	if u.Email == "" || !u.EmailVerified {
		address, err = "", nil
	}
	if err != nil {
		return u, &cli.UsageError{Err: err}
	}
	settled, err := accounts.SettleEmail(ctx, r.Store, r.Users.LinkEmail, u, address)
	if errors.Is(err, storage.ErrExists) {
		return u, fmt.Errorf("%s belongs to another user, who signs in by it", address)
	}
	return settled, err
}

// fits holds a password against the rules before anything is changed.
func (r Target) fits(ctx context.Context, args cli.Args, password string) error {
	u, err := userOf(ctx, r.Store, args.Words[0])
	if err != nil {
		return err
	}
	if err := passwords.Check(password, u.Username, u.Email, args.Get("email")); err != nil {
		return &cli.UsageError{Err: err}
	}
	return nil
}

func amend(u *storage.User, args cli.Args) {
	if role := args.Get("role"); role != "" {
		u.Role = map[bool]string{true: "", false: role}[role == "none"]
	}
	if email := args.Get("email"); len(args.Flags["email"]) > 0 && email != u.Email {
		u.Email, u.EmailVerified = email, false
	}
	if len(args.Flags["email-verified"]) > 0 {
		u.EmailVerified = args.On("email-verified")
	}
	for name, at := range map[string]*string{"name": &u.Name, "nickname": &u.Nickname} {
		if len(args.Flags[name]) > 0 {
			*at = args.Get(name)
		}
	}
}
