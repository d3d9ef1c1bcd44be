package admin

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
)

const removeHeaderFlag = "remove-header"

var updateCommand = command{
	name: "capability update", words: []string{"MEMBER"}, summary: "Change a capability without touching its tools",
	do: updateCapability, acts: true,
	details: "What is not named stays as it is; --label= takes a label away, and the others likewise. Another " +
		"--auth-type\n" +
		"needs its --auth-secret, and another --webhook-url its --webhook-secret. For another upstream or document,\n" +
		"register the capability again.",
	examples: []string{
		"keystile capability update shop --timeout 90s --label Shop",
		"keystile capability update shop --auth-secret - < new-key.txt",
		"keystile capability update shop --header @tenant-key.txt \\\n    --remove-header X-Old-Key",
	},
	flags: []cli.Flag{
		{Name: "label", Value: "TEXT", Help: "what people call it"},
		{Name: "description", Value: "TEXT", Help: "what it is for"},
		{Name: "timeout", Value: "DURATION",
			Help: "how long one call of a tool may take, such as 90s; --timeout= for 30s"},
		{Name: "auth-type", Value: "TYPE", Help: "how calls prove themselves upstream: none, bearer, basic or api_key"},
		{Name: authFlag, Value: "SECRET",
			Help: "the new token, user:password or key; - reads a line of the standard input, which keeps it out of " +
				"the process list"},
		{Name: "auth-name", Value: "NAME", Help: "of api_key: the header or parameter that carries the key"},
		{Name: "auth-in", Value: "PLACE", Help: "of api_key: header or query"},
		{Name: headerFlag, Value: "'NAME: VALUE'", Help: headerHelp, Many: true},
		identityFlags[0], identityFlags[1], identityFlags[2],
		{Name: removeHeaderFlag, Value: "NAME", Help: "one header less", Many: true},
		{Name: "webhook-url", Value: "URL",
			Help: "what is told of changes, as Standard Webhooks have it; --webhook-url= for none"},
		{Name: "webhook-secret", Value: "SECRET", Help: "what its messages are signed with, such as whsec_..."},
		{Name: pinsFlag, Value: "on|off", Help: pinsHelp},
		{Name: "owner", Value: "OWNER", Help: "another owner: a username, or group:NAME for the managers of a group; " +
			"--owner= for nobody. What named it before does not open it any more"},
	},
}

func updateCapability(ctx context.Context, target Target, args cli.Args) (output, error) {
	who, err := operator(ctx, target)
	if err != nil {
		return nil, err
	}
	fields, err := changeTyped(args)
	if err != nil {
		return nil, err
	}
	owner := textOf(args, "owner")
	if len(fields) == 0 && owner == nil {
		return nil, cli.Usage("capability update changes nothing; name what to change")
	}
	if owner != nil { // before anything is changed
		if *owner, err = ownerOf(ctx, target.Store, *owner); err != nil {
			return nil, err
		}
	}
	var done registry.Registered
	if len(fields) > 0 {
		if done, err = updateFields(ctx, target, who, args.Words[0], fields); err != nil {
			return nil, err
		}
	}
	if owner == nil {
		return aboutCapability(done), nil
	}
	given, err := target.Registry.Give(target.By.In(ctx), who, args.Words[0], *owner)
	if err != nil {
		return nil, refused(err)
	}
	given.Warning = strings.Join(slices.DeleteFunc([]string{done.Warning, given.Warning},
		func(text string) bool { return text == "" }), "; ")
	return aboutCapability(given), nil
}

// updateFields changes fields of a capability.
func updateFields(ctx context.Context, target Target, who storage.User, member string,
	fields map[string]any) (done registry.Registered, err error) {
	body, err := json.Marshal(fields)
	if err != nil {
		return done, err
	}
	c, advice, err := registry.Forms{Registry: target.Registry}.UpdateBody(target.By.In(ctx), who, member, body)
	if err != nil {
		return done, refused(err)
	}
	return registry.Registered{Capability: c, Warning: strings.Join(advice, "; ")}, nil
}

// changeTyped returns the fields of the update that was typed.
func changeTyped(args cli.Args) (fields map[string]any, err error) {
	fields = map[string]any{}
	for _, flag := range []string{"label", "description", "auth-type", authFlag, "auth-name", "auth-in", "webhook-url",
		"webhook-secret", "identity", "identity-subject", "identity-jti"} {
		if _, given := args.Flags[flag]; given {
			text := args.Get(flag)
			if !utf8.ValidString(text) { // on its way it would become another
				return nil, cli.Usage("--%s is not UTF-8", flag)
			}
			fields[strings.ReplaceAll(flag, "-", "_")] = text
		}
	}
	if _, given := args.Flags["timeout"]; given {
		seconds, err := timeoutOf(args)
		if err != nil {
			return nil, err
		}
		if fields["timeout"] = seconds; seconds == 0 {
			fields["timeout"] = nil
		}
	}
	if _, given := args.Flags[pinsFlag]; given {
		off, err := typedPins(args)
		if err != nil {
			return nil, err
		}
		fields["pins"] = !off
	}
	headers := map[string]any{}
	for _, name := range args.Flags[removeHeaderFlag] {
		headers[name] = nil
	}
	typed, err := headersOf(args)
	for name, value := range typed {
		headers[name] = value.Reveal()
	}
	if len(headers) > 0 {
		fields["headers"] = headers
	}
	return fields, err
}

// aboutCapability returns the fields of a capability, without its tools and its secrets.
func aboutCapability(c registry.Registered) answer {
	about := answer{
		{"member", c.Member}, {"label", c.Label}, {"description", c.Description}, {"kind", c.Kind},
		{"upstream_url", c.UpstreamURL},
		{"timeout", int64(c.CallTimeout() / time.Second)}, {"auth_type", c.AuthType}, {"auth_name", c.AuthName},
		{"auth_in", c.AuthIn}, {"webhook_url", c.WebhookURL}, {"publish", c.Publish}, {"pins", c.Pins()},
		{"owner", c.Owner}, {"tool_count", int64(c.ToolCount)}, {"warning", c.Warning},
		{"created_at", c.CreatedAt.UTC().Format(time.RFC3339)}, {"updated_at", c.UpdatedAt.UTC().Format(time.RFC3339)},
	}
	told := c.Identity.Shown()
	about = append(about, field{"identity", told.Kind}, field{"identity_subject", told.Subject},
		field{"identity_jti", told.JTI})
	if names := c.HeaderNames(); len(names) > 0 {
		about = append(about, field{"header_names", names})
	}
	return about.filled()
}
