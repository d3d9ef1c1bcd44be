package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/driver"
)

var clientCommands = []command{
	{
		name: "client list", summary: "List the applications that no user registered here", do: listClients,
		details: "Their client_id is the URL of a metadata document, or begins with ks- if they have registered\n" +
			"themselves. One that no user has consented to ends at expires_at. With --hosts it lists the hosts that\n" +
			"you have trusted or denied.",
		examples: []string{"keystile client list", "keystile client list --hosts --json"},
		flags:    []cli.Flag{{Name: "hosts", Help: "the hosts that you have trusted or denied"}},
	},
	{
		name: "client show", words: []string{"HOST|CLIENT_ID"},
		summary: "Show such an application, or a host and its applications", do: showClient,
		examples: []string{"keystile client show claude.ai", "keystile client show ks-abcdefghij0123456789"},
	},
	{
		name: "client trust", words: []string{"HOST|CLIENT_ID"},
		summary: "Admit the applications of a host, or one that was denied", do: judgeClient(client.Trusted), acts: true,
		details: "Users are asked for their consent as before. The client_id of a document stands for its host. With\n" +
			"mcp.clients off no document is admitted, whatever is trusted.",
		examples: []string{"keystile client trust agents.example.com", "keystile client trust ks-abcdefghij0123456789"},
	},
	{
		name: "client deny", words: []string{"HOST|CLIENT_ID"},
		summary: "Refuse applications of a host, or one, and end their tokens", do: judgeClient(client.Denied), acts: true,
		details: "Nothing is fetched from the host any more, whatever is on the list. The client_id of a document stands\n" +
			"for its host. What users have consented to stays known: after client trust they sign in again.",
		examples: []string{"keystile client deny agents.example.com", "keystile client deny ks-abcdefghij0123456789"},
	},
	{
		name: "client forget", words: []string{"HOST"}, summary: "Take back that a host is trusted or denied", do: forgetHost,
		acts:     true,
		details:  "From then on mcp.clients and mcp.client_hosts decide about it.",
		examples: []string{"keystile client forget agents.example.com"},
	},
	{
		name: "client refetch", words: []string{"HOST|CLIENT_ID"},
		summary: "Have metadata documents read again at the next sign-in", do: refetchClient, acts: true,
		details: "A document, and the keys that it leads to, are read again when their time in the cache is over. This\n" +
			"ends that time, of one document or of all of a host.",
		examples: []string{"keystile client refetch https://agents.example.com/client.json"},
	},
}

func listClients(ctx context.Context, target Target, args cli.Args) (output, error) {
	if args.On("hosts") {
		hosts, err := target.Store.ClientHosts(ctx)
		return of(list{empty: "no host is trusted or denied: keystile client trust, keystile client deny"}, hosts,
			hostShown), err
	}
	all, err := clientsOf(ctx, target.Store, "")
	return of(list{columns: []string{"client_id", "name", "kind", "disabled", "kept_at", "expires_at"},
		empty: "no application has signed users in that is not registered here"}, all, clientShown), err
}

// clientsOf returns the applications of a host that nobody registered; "" for all.
func clientsOf(ctx context.Context, store *storage.Store, host string) ([]storage.App, error) {
	all, err := everything(func(from string) ([]storage.App, string, error) {
		return store.Clients(ctx, from, driver.Page)
	})
	now := time.Now()
	return slices.DeleteFunc(all, func(a storage.App) bool { return host != "" && a.Host() != host || !a.Live(now) }), err
}

func hostShown(h client.Host) answer {
	return answer{{"host", h.Host}, {"word", h.Policy()}, {"updated_at", when(h.UpdatedAt)}}
}

func clientShown(a storage.App) answer {
	c := a.Client
	return answer{
		{"client_id", a.ID}, {"name", a.Name}, {"kind", c.Kind}, {"host", a.Host()},
		{"redirect_uris", listed(c.RedirectURIs)}, {"grant_types", listed(c.Grants)},
		{"token_endpoint_auth_method", c.AuthMethod}, {"jwks_uri", c.KeysURL}, {"disabled", a.Disabled}, {"from", c.From},
		{"fetched_at", when(c.FetchedAt)}, {"fresh_until", when(c.FreshUntil)}, {"kept_at", when(c.KeptAt)},
		{"expires_at", when(c.ExpiresAt)},
		{"created_at", when(a.CreatedAt)}, {"updated_at", when(a.UpdatedAt)},
	}
}

// subject holds what the word of a client command names: a host, or one application.
type subject struct {
	host string
	app  storage.App // zero for a host
}

// nameOf reads the word of a client command.
func nameOf(ctx context.Context, store *storage.Store, word string) (subject, error) {
	app, err := store.App(ctx, word)
	if !client.IsID(word) {
		switch {
		case err == nil:
			return subject{}, fmt.Errorf("%s was registered here: see keystile app --help", word)
		case !errors.Is(err, storage.ErrNotFound):
			return subject{}, err
		}
		return subject{host: word}, checkHost(word)
	}
	if errors.Is(err, storage.ErrNotFound) {
		return subject{}, fmt.Errorf("there is no application %q; list them with: keystile client list", word)
	}
	return subject{host: app.Host(), app: app}, err
}

// checkHost checks a host that is the word of a command.
func checkHost(host string) error {
	if err := client.CheckHost(host); err != nil {
		return cli.Usage("%q is neither a client_id nor a host such as claude.ai: %v", host, err)
	}
	return nil
}

func showClient(ctx context.Context, target Target, args cli.Args) (output, error) {
	n, err := nameOf(ctx, target.Store, args.Words[0])
	if err != nil {
		return nil, err
	}
	if n.app.ID != "" {
		return clientShown(n.app), nil
	}
	word := answer{{"host", n.host}, {"word", "none"}, {"updated_at", when(time.Time{})}}
	switch h, err := target.Store.ClientHost(ctx, n.host); {
	case err == nil:
		word = hostShown(h)
	case !errors.Is(err, storage.ErrNotFound):
		return nil, err
	}
	apps, err := clientsOf(ctx, target.Store, n.host)
	return append(word, field{"clients", idsOf(apps)}), err
}

func idsOf(apps []storage.App) []string {
	ids := []string{}
	for _, a := range apps {
		ids = append(ids, a.ID)
	}
	return ids
}

// clients returns the acts on applications that nobody registered.
func (r Target) clients() *appacts.Clients {
	return appacts.NewClients(appacts.ClientConfig{Store: r.Store, Revoke: r.revoke, Recorder: r.Recorder,
		Forget: r.ForgetApp})
}

// judgeClient trusts or denies what the word of a command names.
func judgeClient(policy string) func(context.Context, Target, cli.Args) (output, error) {
	return func(ctx context.Context, target Target, args cli.Args) (output, error) {
		n, err := nameOf(ctx, target.Store, args.Words[0])
		if err != nil {
			return nil, err
		}
		denied := policy == client.Denied
		if n.host == "" {
			_, err := target.clients().Disable(ctx, target.By, n.app.ID, denied)
			return answer{{"client_id", n.app.ID}, {"word", policy}}, err
		}
		h, ended, err := target.clients().SetHost(ctx, target.By, n.host, denied)
		said := hostShown(h)
		if denied {
			said = append(said, field{"clients", listed(ended)})
		}
		return said, err
	}
}

func forgetHost(ctx context.Context, target Target, args cli.Args) (output, error) {
	host := args.Words[0]
	if err := checkHost(host); err != nil {
		return nil, err
	}
	_, err := target.clients().ForgetHost(ctx, target.By, host)
	if errors.Is(err, storage.ErrNotFound) {
		err = fmt.Errorf("%s is neither trusted nor denied; list those that are with: keystile client list --hosts", host)
	}
	return answer{{"host", host}, {"word", "none"}}, err
}

func refetchClient(ctx context.Context, target Target, args cli.Args) (output, error) {
	n, err := nameOf(ctx, target.Store, args.Words[0])
	if err != nil {
		return nil, err
	}
	ids := []string{n.app.ID}
	if n.app.ID == "" {
		all, err := clientsOf(ctx, target.Store, n.host)
		if err != nil {
			return nil, err
		}
		ids = idsOf(all)
	}
	for _, id := range ids {
		if _, err := target.clients().Refetch(ctx, target.By, id); err != nil {
			return nil, err
		}
	}
	return answer{{"host", n.host}, {"clients", ids}}, nil
}
