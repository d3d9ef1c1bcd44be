package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/admin/useracts"
	"github.com/keystile/keystile/storage"
)

var userChanges = []cli.Flag{
	{Name: "role", Value: "ROLE", Help: "admin, developer, auditor or none"},
	{Name: "name", Value: "NAME", Help: "the full name"},
	{Name: "nickname", Value: "NAME", Help: "what applications are told"},
	{Name: "email", Value: "ADDRESS",
		Help: "what applications are told; a new one is not verified, and nobody signs in by the old one"},
	{Name: "email-verified", Help: "the address is known to be the user's, who can sign in by it"},
	{Name: attributeFlag, Value: "NAME=VALUE", Many: true,
		Help: "what the organization says of the user, for claims of applications; they do not change it"},
	{Name: dropAttributeFlag, Value: "NAME", Help: "no longer says it", Many: true},
	{Name: secretFlag, Value: "PASSWORD", Help: "at least 8 characters; - reads a line of the standard input"},
}

const (
	attributeFlag     = "attribute"
	dropAttributeFlag = "drop-attribute"
)

func setUser(ctx context.Context, target Target, args cli.Args) (output, error) {
	if !slices.ContainsFunc(userChanges, func(f cli.Flag) bool { return len(args.Flags[f.Name]) > 0 }) {
		return nil, cli.Usage("user set changes nothing; name what to change")
	}
	u, err := userOf(ctx, target.Store, args.Words[0])
	if err != nil {
		return nil, err
	}
	change := changeOf(args)
	if change.Attributes, err = attributesOf(args); err != nil {
		return nil, err
	}
	done, err := target.users().Set(ctx, target.By, u.Sub, change)
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

// attributesOf reads the flags that change attributes; nil: none does.
func attributesOf(args cli.Args) (*map[string]*string, error) {
	set, drop := args.Flags[attributeFlag], args.Flags[dropAttributeFlag]
	if len(set)+len(drop) == 0 {
		return nil, nil
	}
	changes := map[string]*string{}
	for _, name := range drop {
		changes[name] = nil
	}
	for _, text := range set {
		name, value, ok := strings.Cut(text, "=")
		if _, twice := changes[name]; twice || !ok {
			return nil, cli.Usage("--%s %s: write NAME=VALUE, and each NAME once", attributeFlag, text)
		}
		changes[name] = &value
	}
	return &changes, nil
}

func eraseUser(ctx context.Context, target Target, args cli.Args) (output, error) {
	u, err := userOf(ctx, target.Store, args.Words[0])
	if err != nil {
		return nil, err
	}
	e, err := target.users().Erase(ctx, target.By, u.Sub)
	if errors.Is(err, storage.ErrInvalid) {
		return nil, errors.New(plain(err).Error()) // nothing was typed wrong
	}
	if err != nil {
		return nil, err
	}
	return answer{
		{"sub", u.Sub}, {"erased", true}, {"sessions_ended", e.Sessions}, {"logins", e.Logins}, {"api_keys", e.APIKeys},
		{"consents", e.Consents}, {"openids", e.OpenIDs},
	}, nil
}

// userFactors shows the second factors of a user, and removes them first where that is asked for.
func userFactors(ctx context.Context, target Target, args cli.Args) (output, error) {
	u, err := userOf(ctx, target.Store, args.Words[0])
	if err != nil {
		return nil, err
	}
	if !args.On("reset") {
		f, err := target.Store.Factors(ctx, u.Sub)
		return showFactors(u, f), err
	}
	_, after, err := target.users().ResetFactors(ctx, target.By, u.Sub)
	return append(showFactors(u, after), field{"reset", true}), err
}

// showFactors tells of factors what the API does, by the same names.
func showFactors(u storage.User, f storage.Factors) answer {
	return answer{
		{"sub", u.Sub}, {"username", u.Username}, {"authenticator", f.Authenticator != nil},
		{"passkeys", int64(len(f.Passkeys))},
		{"recovery_codes", int64(f.CodesLeft())}, {"wrong_codes", int64(f.WrongCodes)}, {"due_since", when(f.DueSince)},
	}
}

func inviteUser(ctx context.Context, target Target, args cli.Args) (output, error) {
	days, err := strconv.Atoi(cmp.Or(args.Get("days"), "7"))
	if err != nil {
		return nil, cli.Usage("--days is a number from 1 to 90")
	}
	c := target.userConfig()
	page := ""
	if c.Ways, page, err = target.ways(); err != nil {
		return nil, err
	}
	code, i, err := useracts.New(c).Invite(ctx, target.By, args.Get("role"), days)
	return answer{{"expires_at", when(i.ExpiresAt)}, {"role", i.Role}, {"page", page}, {"invitation", code}}, err
}
