package admin

import (
	"context"
	"errors"
	"strings"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// eraseUser notes what it does before anything is removed, by the sub: the trail is not to keep the name
// that was typed.
func eraseUser(ctx context.Context, target Target, args cli.Args) (output, error) {
	u, err := userOf(ctx, target.Store, args.Words[0])
	if err != nil {
		return nil, err
	}
	revoke := target.revoke
	note := func(ctx context.Context, e users.Erased) error {
		target.tell(ctx, u.Sub, event.NoticeAccount, "", "your account was erased")
		return target.Recorder.Trail.NoteNow(ctx, event.Event{Kind: event.Admin, User: u.Sub, Detail: "user erase " + u.Sub + ": " + strings.Join(e.Changes(), "; ")})
	}
	e, err := users.Erase(ctx, target.Store, revoke, note, u.Sub)
	if errors.Is(err, storage.ErrInvalid) {
		return nil, errors.New(plain(err).Error()) // nothing was typed wrong
	}
	if err != nil {
		return nil, err
	}
	if target.Forget != nil {
		target.Forget(u.Sub)
	}
	return answer{
		{"sub", u.Sub}, {"erased", true}, {"sessions_ended", e.Sessions}, {"logins", e.Logins}, {"api_keys", e.APIKeys},
		{"consents", e.Consents}, {"openids", e.OpenIDs},
	}, nil
}
