package admin

import (
	"cmp"
	"context"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// rotateSecret gives an application a new secret (see storage.App.RotateSecret).
func rotateSecret(ctx context.Context, target Target, args cli.Args) (output, error) {
	overlap, err := time.ParseDuration(cmp.Or(args.Get("overlap"), "24h"))
	if err != nil || overlap < 0 {
		return nil, cli.Usage("--overlap %s: it is 0 or a duration, a number and a unit, such as 24h or 30m", args.Get("overlap"))
	}
	now := time.Now().UTC()
	app, err := changeApp(ctx, target.Store, args.Words[0], func(a *storage.App) error { return a.RotateSecret(now, overlap) })
	if err != nil {
		return nil, err
	}
	target.tell(ctx, app.Owner, event.NoticeSecret, app.Name, "secret rotated")
	until := stamp("ended")
	if len(app.Secrets) > 1 {
		until = when(app.Secrets[1].ExpiresAt)
	}
	return answer{{"client_id", app.ID}, {"client_secret", app.AppKey().Reveal()}, {"old_secret_until", until}}, nil
}

// deleteApp removes an application and ends everything it was granted.
func deleteApp(ctx context.Context, target Target, args cli.Args) (output, error) {
	app, err := target.Billing.RemoveApp(ctx, args.Words[0], func(ctx context.Context, end driver.Revocation) error { return target.revoke(ctx, end) }, nil)
	if err != nil {
		return nil, unknownApp(args.Words[0], err)
	}
	target.tell(ctx, app.Owner, event.NoticeApp, app.Name, "application deleted")
	return answer{{"client_id", app.ID}, {"name", app.Name}, {"deleted", true}}, nil
}
