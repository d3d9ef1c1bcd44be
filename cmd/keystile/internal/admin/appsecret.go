package admin

import (
	"cmp"
	"context"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/admin/appacts"
)

// apps returns the acts on applications.
func (r Target) apps() *appacts.Acts {
	return appacts.New(appacts.Config{Store: r.Store, Billing: r.Billing, Revoke: r.revoke, Recorder: r.Recorder,
		Forget: r.ForgetApp})
}

// rotateSecret gives an application a new secret (see storage.App.RotateSecret).
func rotateSecret(ctx context.Context, target Target, args cli.Args) (output, error) {
	overlap, err := time.ParseDuration(cmp.Or(args.Get("overlap"), "24h"))
	if err != nil || overlap < 0 {
		return nil, cli.Usage("--overlap %s: it is 0 or a duration, a number and a unit, such as 24h or 30m",
			args.Get("overlap"))
	}
	_, app, err := target.apps().RotateSecret(ctx, target.By, args.Words[0], overlap)
	if app.ID == "" {
		return nil, unknownApp(args.Words[0], err)
	}
	until := stamp("ended")
	if len(app.Secrets) > 1 {
		until = when(app.Secrets[1].ExpiresAt)
	}
	return answer{{"client_id", app.ID}, {"client_secret", app.AppKey().Reveal()}, {"old_secret_until", until}}, err
}

// deleteApp removes an application and ends everything it was granted.
func deleteApp(ctx context.Context, target Target, args cli.Args) (output, error) {
	app, err := target.apps().Delete(ctx, target.By, args.Words[0])
	if err != nil {
		return nil, unknownApp(args.Words[0], err)
	}
	return answer{{"client_id", app.ID}, {"name", app.Name}, {"deleted", true}}, nil
}
