package admin

import (
	"context"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/record/notify"
)

var webhookCommands = []command{
	{
		name: "webhook set", summary: "Choose where user events are sent", do: setWebhook, acts: true,
		details: "Events are user.created, user.linked, user.unlinked, user.locked, user.enabled, user.changed and\n" +
			"user.deleted. They name a user by sub alone and are signed as Standard Webhooks are, with a\n" +
			"secret that is printed when it is drawn: with the first URL, and by --new-secret.\n" +
			"A private address has to be among user_events.allow_private.",
		examples: []string{"keystile webhook set --url https://hooks.example.com/users", "keystile webhook set --url="},
		flags: []cli.Flag{
			{Name: "url", Value: "URL", Help: "an https address; --url= for none, and nothing is sent"},
			{Name: "new-secret", Help: "draw another secret; the one before is of no use from now on"},
		},
	},
	{name: "webhook show", summary: "Show where user events are sent", do: showWebhook,
		examples: []string{"keystile webhook show"}},
	{
		name: "webhook list", summary: "List what waits to be sent, and what was given up", do: listWebhooks,
		details:  "Without a flag these are user events; of an application, what it is told of the end of sessions.",
		examples: []string{"keystile webhook list", "keystile webhook list --app ksabcdefghij0123456789"},
		flags:    []cli.Flag{{Name: "app", Value: "CLIENT_ID", Help: "an application with a backchannel_logout_uri"}},
	},
}

func setWebhook(ctx context.Context, target Target, args cli.Args) (output, error) {
	if len(args.Flags["url"]) == 0 {
		return nil, cli.Usage("name where events are sent: --url URL, or --url= for nowhere")
	}
	to := args.Get("url")
	drawn, err := target.service().SetUserWebhook(ctx, target.By, to, args.On("new-secret"))
	said := answer{{"url", to}}
	if !drawn.IsZero() {
		said = append(said, field{"secret", drawn.Reveal()})
	}
	return said, err
}

func showWebhook(ctx context.Context, target Target, _ cli.Args) (output, error) {
	to, _, err := target.Store.UserWebhook(ctx)
	return answer{{"url", to}}, err
}

func listWebhooks(ctx context.Context, target Target, args cli.Args) (output, error) {
	queue := notify.Users
	if id := args.Get("app"); id != "" {
		if _, err := appOf(ctx, target.Store, id); err != nil {
			return nil, err
		}
		queue = notify.App(id)
	}
	all, err := target.Store.Deliveries(ctx, queue)
	said := list{empty: "nothing waits, and nothing was given up"}
	for _, d := range all {
		said.rows = append(said.rows, answer{
			{"id", d.ID}, {"event", d.Event}, {"created_at", when(d.CreatedAt)}, {"waiting", d.Waiting()},
			{"next_at", when(d.NextAt)},
			{"attempts", int64(d.Attempts)}, {"last_status", int64(d.LastStatus)}, {"last_error", d.LastError},
			{"dropped", int64(d.Dropped)},
		})
	}
	return said, err
}
