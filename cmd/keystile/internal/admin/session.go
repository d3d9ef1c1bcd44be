package admin

import (
	"context"
	"errors"
	"net/netip"

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

var lockoutCommands = []command{
	{
		name: "lockout clear", words: []string{"ADDRESS"}, summary: "Let an address sign in again after too many failures",
		do: clearLockout, acts: true,
		details: "With redis_url all nodes know one lockout, and it ends for all of them. Without it lockouts are in\n" +
			"the memory of the running server: each node has its own, and a restart ends them. Of an IPv6\n" +
			"address it is the /64 that is locked.",
		examples: []string{"keystile lockout clear 192.0.2.7", "keystile lockout clear 2001:db8::7 --json"},
	},
}

func clearLockout(ctx context.Context, target Target, args cli.Args) (output, error) {
	address, err := netip.ParseAddr(args.Words[0])
	if err != nil {
		return nil, cli.Usage("%q is no address; write one such as 192.0.2.7 or 2001:db8::7", args.Words[0])
	}
	if target.Unlock == nil {
		return nil, errors.New("no server runs in this data folder, so nothing is locked")
	}
	cleared, err := target.users().UnlockAddress(ctx, target.By, address)
	return answer{{"address", address.Unmap().String()}, {"cleared", cleared}}, err
}
