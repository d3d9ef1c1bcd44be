package admin

import (
	"context"
	"errors"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/storage"
)

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
