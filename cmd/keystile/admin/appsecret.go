package admin

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/storage"
)

// rotateSecret gives an application a new secret. All that were valid stay so for the
// overlap, not only the newest: whoever rotates a second time because the first new secret
// went astray still has the oldest one in use.
func rotateSecret(ctx context.Context, rooms Rooms, args cli.Args) (output, error) {
	overlap, err := time.ParseDuration(cmp.Or(args.Get("overlap"), "24h"))
	if err != nil || overlap < 0 {
		return nil, cli.Usage("--overlap %s: it is 0 or a duration, a number and a unit, such as 24h or 30m", args.Get("overlap"))
	}
	now := time.Now().UTC()
	app, err := changeApp(ctx, rooms.Store, args.Words[0], func(a *storage.App) error {
		if a.Public {
			return cli.Usage("%s is public: it has no secret", a.ID)
		}
		a.Secrets = renewed(a.Secrets, now, overlap)
		return nil
	})
	if err != nil {
		return nil, err
	}
	until := "ended"
	if len(app.Secrets) > 1 {
		until = when(app.Secrets[1].ExpiresAt)
	}
	return answer{{"client_id", app.ID}, {"client_secret", app.AppKey().Reveal()}, {"old_secret_until", until}}, nil
}

// renewed is a new secret and those of before that are still valid, none for longer than
// the overlap.
func renewed(old []storage.AppSecret, now time.Time, overlap time.Duration) []storage.AppSecret {
	secrets := []storage.AppSecret{{Secret: storage.DrawSecret(), CreatedAt: now}}
	for _, s := range old {
		if end := now.Add(overlap); s.ExpiresAt.IsZero() || end.Before(s.ExpiresAt) {
			s.ExpiresAt = end
		}
		if now.Before(s.ExpiresAt) {
			secrets = append(secrets, s)
		}
	}
	return secrets
}

// deleteApp disables an application before it revokes, so that nothing is granted in
// between. A request that is on its way may have read it before: the revocation reaches a
// minute ahead, which costs nothing, because the client_id is never given again.
func deleteApp(ctx context.Context, rooms Rooms, args cli.Args) (output, error) {
	app, err := changeApp(ctx, rooms.Store, args.Words[0], func(a *storage.App) error {
		a.Disabled = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := rooms.revoke(ctx, storage.RevokeApp, app.ID, time.Now().Add(skew)); err != nil {
		return nil, err
	}
	_, err = again(func() (storage.App, error) {
		now, err := rooms.Store.App(ctx, app.ID)
		if err != nil {
			return now, err
		}
		return now, rooms.Store.DeleteApp(ctx, now)
	})
	if err != nil && !errors.Is(err, storage.ErrNotFound) { // somebody else has removed it meanwhile
		return nil, err
	}
	return answer{{"client_id", app.ID}, {"name", app.Name}, {"deleted", true}}, nil
}
