package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/storage"
)

var userChanges = []cli.Flag{
	{Name: "role", Value: "ROLE", Help: "admin, developer or none"},
	{Name: "name", Value: "NAME", Help: "the full name"},
	{Name: "nickname", Value: "NAME", Help: "what applications are told"},
	{Name: "email", Value: "ADDRESS", Help: "what applications are told; a new one is not verified"},
	{Name: "email-verified", Help: "the address is known to be the user's"},
	{Name: secretFlag, Value: "PASSWORD", Help: "at least 8 characters; - reads a line of the standard input"},
}

func setUser(ctx context.Context, rooms Rooms, args cli.Args) (output, error) {
	if !slices.ContainsFunc(userChanges, func(f cli.Flag) bool { return len(args.Flags[f.Name]) > 0 }) {
		return nil, cli.Usage("user set changes nothing; name what to change")
	}
	password, change := args.Get(secretFlag), len(args.Flags[secretFlag]) > 0
	if err := signin.CheckPassword(password); change && err != nil {
		return nil, &cli.UsageError{Err: err}
	}
	u, err := changeUser(ctx, rooms.Store, args.Words[0], func(u *storage.User) { amend(u, args) })
	if err != nil {
		return nil, err
	}
	said := answer{
		{"sub", u.Sub}, {"username", u.Username}, {"role", u.Role}, {"name", u.Name}, {"nickname", u.Nickname},
		{"email", u.Email}, {"email_verified", u.EmailVerified}, {"disabled", u.Disabled},
	}
	if !change {
		return said, nil
	}
	if err := setPassword(ctx, rooms, u, password); err != nil {
		return nil, err
	}
	ended, err := signOutEverywhere(ctx, rooms, u)
	return append(said, ended...), err
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

func setPassword(ctx context.Context, rooms Rooms, u storage.User, password string) error {
	hash, err := rooms.Hash(ctx, password)
	if err != nil {
		return err
	}
	_, err = again(func() (storage.Login, error) {
		login, err := rooms.Store.Login(ctx, storage.LoginSelf, loginName(u.Username))
		if errors.Is(err, storage.ErrNotFound) || err == nil && login.UserID != u.Sub {
			return login, fmt.Errorf("%s does not sign in with a password", u.Username)
		}
		if err != nil {
			return login, err
		}
		login.PasswordHash = hash
		return rooms.Store.SaveLogin(ctx, login)
	})
	return err
}
