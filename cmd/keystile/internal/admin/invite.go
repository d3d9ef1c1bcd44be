package admin

import (
	"cmp"
	"context"
	"strconv"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/admin/useracts"
)

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
