package command

import (
	"context"
	"encoding/json"

	"github.com/keystile/keystile/cmd/keystile/internal/admin"
	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
)

var (
	asJSON    = cli.Flag{Name: "json", Help: "print JSON"}
	reference = cli.Flag{Name: "reference",
		Help: "print what each key is and its default instead, with --json for programs"}
	withModules = cli.Flag{Name: "modules", Help: "list the modules that are linked into it, with their versions"}
)

// headings are those of the help.
var headings = []cli.Group{
	{Title: "The service:", Topics: []cli.Topic{{Name: "serve"}, {Name: "config"},
		{Name: "setting", Summary: "Show and change what may change while the service runs"}, {Name: "health"},
		{Name: "version"}, {Name: "node", Summary: "List the servers that share a store"}}},
	{Title: "Applications and people:", Topics: []cli.Topic{
		{Name: "app", Summary: "Register, list, change and remove applications"},
		{Name: "billing", Summary: "Decide on orders, and show what applications owe"},
		{Name: "usage"},
		{Name: "tier", Summary: "Give an application a tier"},
		{Name: "user", Summary: "Create, invite, list, change, lock out and erase users"},
		{Name: "group", Summary: "Make groups of users, and say who is in them"},
		{Name: "lockout", Summary: "Let an address sign in again"},
		{Name: "apikey", Summary: "Make, list and end the API keys of users"},
		{Name: "webhook", Summary: "Choose where user events are sent, and see what waits"},
		{Name: "issuer", Summary: "Trust issuers whose assertions are redeemed for tokens"},
		{Name: "session", Summary: "List where a user is signed in, or sign the user out"},
	}},
	{Title: "Tools:", Topics: []cli.Topic{
		{Name: "capability", Summary: "Turn APIs into tools, and say who may use them"},
		{Name: "capability bundle", Summary: "Put tools together for an agent"},
		{Name: "client", Summary: "List, trust and deny agents that no user registered here"},
	}},
	{Title: "Keys, records and copies:", Topics: []cli.Topic{
		{Name: "key", Summary: "List, rotate and retire signing keys, and change the master key"},
		{Name: "audit", Summary: "Search, check, export and shorten the audit trail"},
		{Name: "report", Summary: "Show who still uses what is to be closed"},
		{Name: "backup"}, {Name: "restore"},
		{Name: "storage", Summary: "Check, copy, migrate and compact the store"},
		{Name: "node", Summary: "List the servers that share this store"},
	}},
}

// commands is the table of everything the program can do.
func (p program) commands() cli.Table {
	own := []cli.Command{
		{
			Name: "serve", Summary: "Run the service until it is told to stop", Run: p.serve, Flags: config.Flags(),
			Details: "Every flag is also a key of the configuration file (--listen is listen, --lifetimes-code is\n" +
				"lifetimes.code) and a variable of the environment (KEYSTILE_LISTEN, KEYSTILE_LIFETIMES_CODE).",
			Examples: []string{"keystile", "keystile serve --listen 0.0.0.0:8080 --base-url https://id.example.com \\\n" +
				"    --data /var/lib/keystile"},
		},
		{
			Name: "config", Summary: "Print the effective configuration and where each value comes from", Run: showConfig,
			Details: "What it prints is a configuration file. Secrets are not shown.",
			Flags:   append(config.Flags(), asJSON, reference),
			Examples: []string{"keystile config > keystile.yaml", "keystile config --config keystile.yaml --json",
				"keystile config --reference", "keystile config --reference --json"},
		},
		{
			Name: "health", Summary: "Ask the service of this machine whether it is ready", Run: askHealth,
			Details: "It reads the configuration as serve does, asks /healthz/ready at the address of listen, and exits 1\n" +
				"unless that answers 200 within five seconds: a health check for containers, which have no curl. Beside\n" +
				"that it names the tools without an access list which strangers may use, if there are any.",
			Flags:    append(config.Flags(), asJSON),
			Examples: []string{"keystile health", "keystile health --listen 0.0.0.0:8080"},
		},
		{
			Name: "version", Summary: "Print the version, and what the program is made of", Run: showVersion,
			Flags:    []cli.Flag{asJSON, withModules},
			Examples: []string{"keystile version", "keystile version --modules --json"},
		},
	}
	return cli.Table{
		Program: "keystile", Default: "serve", Commands: append(own, admin.Commands(admin.Opener{
			Open: p.openTarget, Read: p.readTarget, Try: p.openCopy, Scratch: scratchTarget, Kind: p.kind,
			At:        p.location,
			Addresses: p.addresses(),
			Check:     p.check, Belongs: p.belongs,
		})...),
		Summary: "Keystile is an identity provider, an API gateway and a tool bus in one program.", Groups: headings,
	}
}

func showConfig(_ context.Context, call cli.Call) error {
	if call.On(reference.Name) {
		if call.On(asJSON.Name) {
			return config.ReferenceJSON(call.Stdout)
		}
		return config.Reference(call.Stdout)
	}
	c, err := config.Load(call.Args, call.Env)
	if err != nil {
		return err
	}
	if call.On(asJSON.Name) {
		return json.NewEncoder(call.Stdout).Encode(c.Values)
	}
	return c.Print(call.Stdout)
}
