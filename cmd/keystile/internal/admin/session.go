package admin

import (
	"context"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
)

var sessionCommands = []command{
	{
		name: "session list", words: []string{"USER"}, summary: "List where a user is signed in",
		do:      listSessions,
		details: userHelp, examples: []string{"keystile session list ada"},
	},
	{
		name: "session end", words: []string{"USER"}, summary: "Sign a user out everywhere", do: endSessions, acts: true,
		details: userHelp + " All their sessions end, and what they granted to applications\n" +
			"before now is revoked. They can sign in again.",
		examples: []string{"keystile session end ada"},
	},
}

func listSessions(ctx context.Context, target Target, args cli.Args) (output, error) {
	u, err := userOf(ctx, target.Store, args.Words[0])
	if err != nil {
		return nil, err
	}
	sessions, err := target.Store.Sessions(ctx, u.Sub)
	said := list{empty: "not signed in anywhere"}
	for _, s := range sessions {
		said.rows = append(said.rows, answer{
			{"id", s.ID}, {"login_type", s.LoginType}, {"auth_time", when(s.AuthTime)},
			{"expires_at", when(s.ExpiresAt)}, {"ends_at", when(s.EndsAt)},
		})
	}
	return said, err
}

func endSessions(ctx context.Context, target Target, args cli.Args) (output, error) {
	u, err := userOf(ctx, target.Store, args.Words[0])
	if err != nil {
		return nil, err
	}
	n, err := target.users().SignOut(ctx, target.By, u.Sub)
	return append(answer{{"sub", u.Sub}, {"username", u.Username}}, signedOut(n)...), err
}
