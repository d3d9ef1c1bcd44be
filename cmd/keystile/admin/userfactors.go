package admin

import (
	"context"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
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
	before, after, err := users.ResetFactors(ctx, target.Store, u.Sub)
	if err != nil {
		return nil, err
	}
	target.tell(ctx, u.Sub, event.NoticeAccount, "", "second factors removed")
	err = target.Note(ctx, event.Event{Kind: event.Admin, User: u.Sub, Detail: "user factors reset " + u.Sub + ": second factors " + before.Summary() + " -> " + after.Summary()})
	return append(showFactors(u, after), field{"reset", true}), err
}

// showFactors tells of factors what the API does, by the same names.
func showFactors(u storage.User, f storage.Factors) answer {
	return answer{
		{"sub", u.Sub}, {"username", u.Username}, {"authenticator", f.Authenticator != nil}, {"passkeys", int64(len(f.Passkeys))},
		{"recovery_codes", int64(f.CodesLeft())}, {"wrong_codes", int64(f.WrongCodes)}, {"due_since", when(f.DueSince)},
	}
}
