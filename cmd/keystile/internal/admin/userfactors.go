package admin

import (
	"context"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/storage"
)

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
