package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/users"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/registry/openapi"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/lasthop"
)

// Flags whose value is a file, and the contents of that file once it has been read.
const (
	openAPIFlag = "openapi"
	toolsFlag   = "tools"
	authFlag    = "auth-secret"
)

var documentFlags = []cli.Flag{
	{Name: openAPIFlag, Value: "FILE", Help: "an OpenAPI 2.0 or 3.x document in JSON or YAML; - reads the standard input"},
	{Name: toolsFlag, Value: "FILE",
		Help: "tools filled in by hand: [{name, httpMethod, path, inputSchema}]; - reads the standard input"},
	{Name: "resolve-refs", Help: "show what nested references lead to, where that stays small; " +
		"--resolve-refs=false shows their names (true)"},
}

// identityFlags say what an upstream learns of the caller of a tool.
var identityFlags = []cli.Flag{
	{Name: "identity", Value: "KIND", Help: "what the upstream learns of the caller: none, headers (X-Keystile-Client " +
		"and " +
		"its like) or signed (a JWT in Keystile-Caller) (none)"},
	{Name: "identity-subject", Value: "sub|openid", Help: "of signed: how it calls the user; openid is another one for " +
		"each application (sub)"},
	{Name: "identity-jti", Value: "on|off", Help: "of signed: off sends one statement again for 30 seconds, without jti " +
		"and the request's id (on)"},
}

var capabilityCommands = []command{
	{
		name: "capability register", words: []string{"MEMBER"}, summary: "Turn an API into tools of the bus",
		do: registerCapability, brings: true, acts: true,
		details: "With --openapi or --tools those become the tools; without, URL is an MCP endpoint that lists its own.\n" +
			"What was registered under MEMBER before is replaced, all of it, and stays whose it was; see capability " +
			"update\n" +
			"for less, and --replace where tools would go.",
		examples: []string{
			"keystile capability register shop --upstream https://api.shop.example/v1 \\\n    --openapi shop.json",
			"keystile capability register shop --upstream https://api.shop.example/v1 \\\n" +
				"    --openapi shop.yaml --auth-type bearer --auth-secret - < key.txt",
			"keystile capability register search --label Search \\\n    --upstream https://search.example.com/mcp",
		},
		flags: append([]cli.Flag{
			{Name: "upstream", Value: "URL", Help: "where calls go; what a document says of it is not read", Need: true},
			{Name: "label", Value: "TEXT", Help: "what people call it"},
			{Name: "description", Value: "TEXT", Help: "what it is for"},
			{Name: "auth-type", Value: "TYPE",
				Help: "how calls prove themselves upstream: none, bearer, basic or api_key (none)"},
			{Name: authFlag, Value: "SECRET", Help: "the token, user:password or key; - reads a line of the standard input, " +
				"which keeps it out of the process list"},
			{Name: "auth-name", Value: "NAME", Help: "of api_key: the header or parameter that carries the key"},
			{Name: "auth-in", Value: "PLACE", Help: "of api_key: header or query"},
			{Name: "timeout", Value: "DURATION",
				Help: "how long one call of a tool may take, such as 90s; whole seconds from 1s to 10m (30s)"},
			{Name: headerFlag, Value: "'NAME: VALUE'", Help: headerHelp, Many: true},
			identityFlags[0], identityFlags[1], identityFlags[2],
			{Name: "webhook-url", Value: "URL", Help: "what is told of changes, as Standard Webhooks have it"},
			{Name: "webhook-secret", Value: "SECRET", Help: "what its messages are signed with, such as whsec_..."},
			{Name: "replace", Help: "go on where this removes tools that are there: without it they are named, and " +
				"nothing is stored"},
			{Name: "private", Help: "keep it, and its tools off the bus"},
			{Name: pinsFlag, Value: "on|off", Help: pinsHelp},
			{Name: "owner", Value: "OWNER", Help: "a username, or group:NAME for the managers of a group (its owner before; " +
				"else the first administrator)"},
		}, documentFlags...),
	},
	{
		name: "capability preview", summary: "Show the tools of a document, and store nothing", do: previewCapability,
		brings: true, scratch: true,
		details: "It needs no data folder. Where there is one, names that are taken and limits are minded too.",
		examples: []string{"keystile capability preview --openapi shop.json --lint",
			"curl -s https://api.example.com/openapi.yaml |\n    keystile capability preview --openapi - --json"},
		flags: append([]cli.Flag{
			{Name: "member", Value: "MEMBER",
				Help: "the name it would have: a long one leaves less room for those of its tools"},
			{Name: "lint", Help: "add what a strict validator says of the document, and which tools strict model " +
				"APIs " +
				"cannot express"},
		}, documentFlags...),
	},
	updateCommand,
	{name: "capability list", summary: "List the capabilities", do: listCapabilities,
		examples: []string{"keystile capability list --json"}},
	{
		name: "capability show", words: []string{"MEMBER"},
		summary: "Show a capability and its tools, without its secrets", do: showCapability,
		examples: []string{"keystile capability show shop"},
	},
	{
		name: "capability remove", words: []string{"MEMBER"}, summary: "Take a capability and its tools off the bus",
		do: removeCapability, acts: true,
		details: "There is no way back but to register it again. The name is kept for its owner for 90 days: another\n" +
			"owner who is given it (register --owner) does not get what tokens, keys, consents and bundles allow.",
		examples: []string{"keystile capability remove shop"},
	},
}

// operator returns whose rights the command line has: what it makes belongs to the first administrator.
func operator(ctx context.Context, target Target) (storage.User, error) {
	sub, err := users.FirstAdmin(ctx, target.Store)
	return storage.User{Sub: sub, Role: storage.RoleAdmin}, err
}

// requested is the registration that was typed.
func requested(args cli.Args) registry.Request {
	q := registry.Request{
		UpstreamURL: args.Get("upstream"), Label: args.Get("label"), Description: args.Get("description"),
		AuthType: args.Get("auth-type"), AuthName: args.Get("auth-name"), AuthIn: args.Get("auth-in"),
		AuthSecret: storage.NewSecret(args.Get(authFlag)),
		WebhookURL: args.Get("webhook-url"), WebhookSecret: storage.NewSecret(args.Get("webhook-secret")),
		Private: args.On("private"), Advise: args.On("lint"),
		Identity: lasthop.Identity{Kind: args.Get("identity"), Subject: args.Get("identity-subject"),
			JTI: args.Get("identity-jti")},
	}
	if document, given := args.Flags[openAPIFlag]; given {
		q.OpenAPI = []byte(document[0])
	}
	if list, given := args.Flags[toolsFlag]; given {
		q.StaticTools = []byte(list[0])
	}
	if q.OpenAPI != nil {
		_, given := args.Flags["resolve-refs"]
		on := !given || args.On("resolve-refs")
		q.ResolveRefs = &on
	}
	return q
}

// timeoutOf is --timeout in seconds, 0 if it is not given.
func timeoutOf(args cli.Args) (seconds int, err error) {
	text := args.Get("timeout")
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second || d > storage.MaxTimeout || d%time.Second != 0 {
		return 0, cli.Usage("--timeout %q is not whole seconds from 1s to 10m, such as 90s", text)
	}
	return int(d / time.Second), nil
}

func registerCapability(ctx context.Context, target Target, args cli.Args) (output, error) {
	who, err := operator(ctx, target)
	if err != nil {
		return nil, err
	}
	q := requested(args)
	q.Member = args.Words[0]
	if q.Timeout, err = timeoutOf(args); err != nil {
		return nil, err
	}
	if q.Headers, err = headersOf(args); err != nil {
		return nil, err
	}
	q.KeepTools = !args.On("replace")
	if q.PinsOff, err = typedPins(args); err != nil {
		return nil, err
	}
	if args.Get("owner") != "" {
		if q.Owner, err = ownerOf(ctx, target.Store, args.Get("owner")); err != nil {
			return nil, err
		}
	}
	done, err := target.Registry.Register(target.By.In(ctx), who, q)
	done.Skipped = append(done.Skipped, done.Usual...)
	if err != nil {
		return nil, refused(err)
	}
	about := answer{{"member", done.Member}, {"kind", done.Kind}, {"owner", done.Owner},
		{"tool_count", int64(done.ToolCount)}, {"warning", done.Warning}}
	if len(done.Removed) > 0 {
		about = append(about, field{"removed", done.Removed})
	}
	return toolbox{about, done}, nil
}

func previewCapability(ctx context.Context, target Target, args cli.Args) (output, error) {
	who, err := operator(ctx, target)
	if err != nil {
		return nil, err
	}
	q := requested(args)
	q.Member = args.Get("member")
	if q.OpenAPI == nil && q.StaticTools == nil {
		return nil, cli.Usage("there is nothing to show: name a document with --openapi or --tools")
	}
	done, err := target.Registry.Preview(ctx, who, q)
	if err != nil {
		return nil, refused(err)
	}
	return toolbox{answer{{"kind", done.Kind}, {"tool_count", int64(done.ToolCount)}, {"warning", done.Warning}}, done},
		nil
}

func listCapabilities(ctx context.Context, target Target, _ cli.Args) (output, error) {
	who, err := operator(ctx, target)
	if err != nil {
		return nil, err
	}
	all, err := target.Registry.List(ctx, who)
	said := list{empty: "no capabilities yet: keystile capability register"}
	for _, c := range all {
		said.rows = append(said.rows, answer{
			{"member", c.Member}, {"label", c.Label}, {"kind", c.Kind}, {"tool_count", int64(c.ToolCount)},
			{"publish", c.Publish},
			{"upstream_url", c.UpstreamURL}, {"owner", c.Owner}, {"updated_at", when(c.UpdatedAt)},
			{"warning", c.Warning},
		})
	}
	return said, err
}

func showCapability(ctx context.Context, target Target, args cli.Args) (output, error) {
	who, err := operator(ctx, target)
	if err != nil {
		return nil, err
	}
	c, err := target.Registry.Show(ctx, who, args.Words[0])
	if err != nil {
		return nil, refused(err)
	}
	return toolbox{aboutCapability(c), c}, nil
}

func removeCapability(ctx context.Context, target Target, args cli.Args) (output, error) {
	who, err := operator(ctx, target)
	if err != nil {
		return nil, err
	}
	if err := target.Registry.Remove(target.By.In(ctx), who, args.Words[0]); err != nil {
		return nil, refused(err)
	}
	return answer{{"removed", args.Words[0]}}, nil
}

// maxReasons bounds how many left-out operations an error lists.
const maxReasons = 10

// refused says an error of the registrar in the words of the command line.
func refused(err error) error {
	var no *openapi.Rejection
	var failure *reply.Failure
	switch {
	case errors.As(err, &no):
		text := fmt.Sprintf("%s (errcode %d)", no.Msg, no.Errcode)
		for i, s := range no.Skipped {
			if i == maxReasons {
				text += fmt.Sprintf("\n  and %d more", len(no.Skipped)-i)
				break
			}
			text += "\n  left out: " + field{value: s.Pointer + ": " + s.Reason}.shown()
		}
		return errors.New(text)
	case errors.As(err, &failure) && failure.Status < 500:
		return errors.New(failure.Msg)
	}
	return err
}
