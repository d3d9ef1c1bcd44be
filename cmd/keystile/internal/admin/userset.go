package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/admin/useracts"
)

var userChanges = []cli.Flag{
	{Name: "role", Value: "ROLE", Help: "admin, developer, auditor or none"},
	{Name: "name", Value: "NAME", Help: "the full name"},
	{Name: "nickname", Value: "NAME", Help: "what applications are told"},
	{Name: "email", Value: "ADDRESS",
		Help: "what applications are told; a new one is not verified, and nobody signs in by the old one"},
	{Name: "email-verified", Help: "the address is known to be the user's, who can sign in by it"},
	{Name: secretFlag, Value: "PASSWORD", Help: "at least 8 characters; - reads a line of the standard input"},
}

func setUser(ctx context.Context, target Target, args cli.Args) (output, error) {
	if !slices.ContainsFunc(userChanges, func(f cli.Flag) bool { return len(args.Flags[f.Name]) > 0 }) {
		return nil, cli.Usage("user set changes nothing; name what to change")
	}
	u, err := userOf(ctx, target.Store, args.Words[0])
	if err != nil {
		return nil, err
	}
	done, err := target.users().Set(ctx, target.By, u.Sub, changeOf(args))
	if errors.Is(err, useracts.ErrNoPassword) {
		return nil, fmt.Errorf("%s does not sign in with a password", u.Username)
	}
	said := showUser(done.After)
	if done.SignedOut {
		said = append(said, signedOut(done.Sessions)...)
	}
	return said, err
}

// changeOf reads the flags: those that were given change something.
func changeOf(args cli.Args) useracts.Change {
	text := func(name string) *string {
		if len(args.Flags[name]) == 0 {
			return nil
		}
		value := args.Get(name)
		return &value
	}
	c := useracts.Change{
		Role: text("role"), Name: text("name"), Nickname: text("nickname"), Email: text("email"), Password: text(secretFlag),
	}
	if c.Role != nil && *c.Role == "none" {
		c.Role = new(string)
	}
	if len(args.Flags["email-verified"]) > 0 {
		on := args.On("email-verified")
		c.EmailVerified = &on
	}
	return c
}
