package admin

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/handle"
)

// inviteUser answers with the end first: the audit trail keeps what an answer begins with,
// and must not keep the code.
func inviteUser(ctx context.Context, target Target, args cli.Args) (output, error) {
	days, err := strconv.Atoi(cmp.Or(args.Get("days"), "7"))
	if err != nil || days < 1 || days > int(storage.MaxInvitationLife/(24*time.Hour)) {
		return nil, cli.Usage("--days is a number from 1 to 90")
	}
	ways, page, err := target.ways()
	if err == nil {
		err = ways.CheckInvitation()
	}
	if err != nil {
		return nil, err
	}
	code, now := handle.NewInvitation(), time.Now().UTC()
	i, err := target.Store.SaveInvitation(ctx, storage.Invitation{
		ID: handle.HashInvitation(code), Role: args.Get("role"), CreatedAt: now, ExpiresAt: now.AddDate(0, 0, days),
	})
	if err != nil {
		return nil, err
	}
	return answer{{"expires_at", when(i.ExpiresAt)}, {"role", i.Role}, {"page", page}, {"invitation", code}}, nil
}
