package admin

import (
	"context"
	"errors"
	"net/netip"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
)

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
