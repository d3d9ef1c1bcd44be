package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
)

const dpopHelp = "whether its tokens are bound to a key of its own (RFC 9449): off, allowed where it sends a proof, " +
	"or required"

const mfaHelp = "whether its users need a second factor: required, or offered or off for what the service asks of them"

var appCommands = []command{
	{
		name: "app create", summary: "Register an application", do: createApp, acts: true,
		details: "It prints the client_secret once: it cannot be asked for again. Users are asked for their\n" +
			"consent, unless it is first-party.",
		examples: []string{
			"keystile app create --name Shop --domain shop.example.com --json",
			"keystile app create --name Desktop --domain localhost --public",
			"keystile app create --name Phone --public \\\n    --redirect-uri com.example.phone:/callback",
			"keystile app create --name Intranet --domain intranet.example.com \\\n    --first-party",
			"keystile app create --name Forum --domain forum.example.com --legacy",
		},
		flags: []cli.Flag{
			{Name: "name", Value: "NAME", Help: "what people see at sign-in", Need: true},
			{Name: "domain", Value: "HOST", Help: "a host that users may be sent back to, host[:port]", Many: true},
			{Name: "redirect-uri", Value: "URI",
				Help: "an exact address; if any is given, only these are allowed. With --public also of a private-use scheme: " +
					"com.example.app:/callback", Many: true},
			{Name: "backchannel-logout-uri", Value: "URI", Help: "where it is told of the end of sessions, an https address " +
				"of a domain; a private one has to be among logout.allow_private"},
			{Name: "public", Help: "it can keep no secret (browser, phone): PKCE instead"},
			{Name: "tier", Value: "TIER", Help: "free, white_label or enterprise (free)"},
			{Name: "id-token-alg", Value: "ALG", Help: "HS256, ES256, RS256 or EdDSA (HS256; ES256 if public)"},
			{Name: "first-party", Help: "it is your own: users are not asked for their consent"},
			{Name: "legacy", Help: "it was written for an aggregated login (connect.php), whose clients take code 0 for a " +
				"success; it is app set --legacy-success-code 0"},
			{Name: "mfa", Value: "POLICY", Help: mfaHelp},
			{Name: "dpop", Value: "MODE", Help: dpopHelp + " (off)"},
			{Name: "owner", Value: "OWNER",
				Help: "who manages it, beside administrators: a username, or group:NAME for the managers of a group (nobody)"},
		},
	},
	{name: "app list", summary: "List the applications", do: listApps,
		examples: []string{"keystile app list --json"}},
	{
		name: "app show", words: []string{"CLIENT_ID"}, summary: "Show an application, without its secrets",
		do:       showApp,
		examples: []string{"keystile app show ksabcdefghij0123456789"},
	},
	{
		name: "app set", words: []string{"CLIENT_ID"}, summary: "Change an application", do: setApp, acts: true,
		flags: appChanges,
		details: "What is not named stays as it is. A switch is turned off with =false.\n" +
			"What you restrict its owner does not take back: a second factor that is required, a domain or an\n" +
			"address less, another name or brand, an algorithm without the appkey. --held says what that is.\n" +
			"--allow names groups that are there: one that is deleted, and made again, is another group until you\n" +
			"say it once more. It goes for applications that registered themselves too, which then stay.",
		examples: []string{"keystile app set ksabcdefghij0123456789 --add-domain shop.example.org \\\n    --tier white_label",
			"keystile app set ksabcdefghij0123456789 --allow group:ops --deny user:eve",
			"keystile app set ksabcdefghij0123456789 --disabled=false"},
	},
	{
		name: "app rotate-secret", words: []string{"CLIENT_ID"}, summary: "Give an application a new secret",
		do: rotateSecret, acts: true,
		details: "It prints the new client_secret once. The one before stays valid for the overlap and not longer.\n" +
			"One that is older still ends at once; with --overlap 0 all do.",
		examples: []string{"keystile app rotate-secret ksabcdefghij0123456789 --json",
			"keystile app rotate-secret ksabcdefghij0123456789 --overlap 0  # it leaked"},
		flags: []cli.Flag{{Name: "overlap", Value: "DURATION",
			Help: "how long the old secret stays valid; 0: it ends at once (24h)"}},
	},
	{
		name: "app delete", words: []string{"CLIENT_ID"}, summary: "Remove an application and end everything it was granted",
		do: deleteApp, acts: true,
		asks:     "Remove application %s, and end everything it was granted?",
		details:  "There is no way back: a new application has another client_id. On a terminal it asks first.",
		examples: []string{"keystile app delete ksabcdefghij0123456789", "keystile app delete --yes ksabcdefghij0123456789"},
		flags:    []cli.Flag{{Name: yesFlag, Help: "do not ask"}},
	},
}

func createApp(ctx context.Context, target Target, args cli.Args) (output, error) {
	if len(args.Flags["domain"]) == 0 && len(args.Flags["redirect-uri"]) == 0 {
		return nil, cli.Usage("app create needs --domain, or with --public a --redirect-uri of a private-use scheme")
	}
	c, err := appChange(ctx, target, args)
	if err != nil {
		return nil, err
	}
	n := appacts.NewApp{Change: c, Public: args.On("public"), Tier: textOf(args, "tier")}
	if args.On("legacy") {
		if n.Public {
			return nil, cli.Usage("--legacy and --public go against each other: the old endpoints want an appkey, and a " +
				"public application has none")
		}
		n.LegacySuccessCode = new(0)
	}
	app, err := target.apps().Create(ctx, target.By, n)
	if app.ID == "" {
		return nil, err
	}
	return describe(app), err
}

// describe shows a new application, its secret included: this once.
func describe(app storage.App) answer {
	a := answer{{"client_id", app.ID}}
	if !app.Public {
		a = append(a, field{"client_secret", app.AppKey().Reveal()})
	}
	a = append(a, field{"name", app.Name}, field{"domains", app.Domains})
	if len(app.RedirectURIs) > 0 {
		a = append(a, field{"redirect_uris", app.RedirectURIs})
	}
	if app.BackchannelLogoutURI != "" {
		a = append(a, field{"backchannel_logout_uri", app.BackchannelLogoutURI})
	}
	if app.LegacySuccessCode != nil {
		a = append(a, field{"legacy_success_code", int64(app.SuccessCode())})
	}
	return append(a, field{"public", app.Public}, field{"first_party", app.FirstParty},
		field{"tier", app.TierAt(time.Now())}, field{"id_token_alg", app.SignsIDTokensWith()}, field{"owner", app.Owner})
}

func listApps(ctx context.Context, target Target, _ cli.Args) (output, error) {
	apps, err := everything(func(from string) ([]storage.App, string, error) {
		return target.Store.Apps(ctx, "", from, driver.Page)
	})
	return of(list{empty: "no applications yet: keystile app create", columns: []string{"client_id", "name", "domains",
		"public", "tier", "first_party", "disabled", "owner", "created_at"}}, apps, show), err
}

func showApp(ctx context.Context, target Target, args cli.Args) (output, error) {
	app, err := appOf(ctx, target.Store, args.Words[0])
	if err != nil {
		return nil, err
	}
	return show(app), nil
}

// show tells of an application what the API does, by the same names, and what only operators set.
func show(app storage.App) answer {
	now := time.Now()
	return slices.Concat(answer{
		{"client_id", app.ID}, {"name", app.Name}, {"domains", listed(app.Domains)},
		{"redirect_uris", listed(app.RedirectURIs)}, {"backchannel_logout_uri", app.BackchannelLogoutURI},
		{"public", app.Public}, {"id_token_alg", app.SignsIDTokensWith()}, {"legacy_success_code", int64(app.SuccessCode())},
		{"brand", brandOf(app)},
		{"tier", app.TierAt(now)}, {"tier_expires_at", when(app.TierUntil(now))}, {"first_party", app.FirstParty},
		{"mfa", app.MFA}, {"dpop", app.KeyBinding()}, {"disabled", app.Disabled},
		{"owner", app.Owner}, {"allow_http_redirect", app.AllowHTTPRedirect}, {"forbid_plain", app.ForbidPlain},
		{"legacy_nested", app.LegacyNested}, {"forbid_plain_key", app.ForbidPlainKey}, {"held", listed(app.Held)},
	}, admissionShown(app), proofShown(app), answer{
		{"secrets", secretsOf(app, now)}, {"created_at", when(app.CreatedAt)}, {"updated_at", when(app.UpdatedAt)},
	})
}

// brand describes the look of an application's pages; nil is Keystile's own look.
type brand struct {
	Name  string `json:"name"`
	Logo  string `json:"logo"`
	Color string `json:"color"`
}

func brandOf(app storage.App) *brand {
	if app.Brand == nil {
		return nil
	}
	return &brand{app.Brand.Name, app.Brand.Logo, app.Brand.Color}
}

func (b *brand) String() string {
	if b == nil {
		return ""
	}
	return strings.Join(slices.DeleteFunc([]string{b.Name, b.Logo, b.Color}, func(s string) bool { return s == "" }), ", ")
}

// secretSpans say since and until when secrets are valid, and nothing of what they are.
type secretSpans []secretSpan

type secretSpan struct {
	CreatedAt stamp `json:"created_at"`
	ExpiresAt stamp `json:"expires_at"` // null: it does not end
}

func secretsOf(app storage.App, now time.Time) secretSpans {
	spans := secretSpans{}
	for _, s := range app.Secrets {
		if s.ExpiresAt.IsZero() || now.Before(s.ExpiresAt) {
			spans = append(spans, secretSpan{when(s.CreatedAt), when(s.ExpiresAt)})
		}
	}
	return spans
}

func (spans secretSpans) String() string {
	var texts []string
	for _, s := range spans {
		text := "from " + string(s.CreatedAt)
		if s.ExpiresAt != "" {
			text += " until " + string(s.ExpiresAt)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// listed is [] and not null in JSON.
func listed(texts []string) []string { return append([]string{}, texts...) }

// appOf finds an application by its whole client_id.
func appOf(ctx context.Context, store *storage.Store, id string) (storage.App, error) {
	app, err := store.App(ctx, id)
	return app, unknownApp(id, err)
}

// unknownApp says of ErrNotFound what was not found.
func unknownApp(id string, err error) error { return noSuch(err, "application", id, "app") }

// noSuch says of ErrNotFound what was not found, and which command lists what there is.
func noSuch(err error, what, name, list string) error {
	if errors.Is(err, storage.ErrNotFound) {
		return fmt.Errorf("there is no %s %q; list them with: keystile %s list", what, name, list)
	}
	return err
}

// ownerOf returns an owner as records name it: the sub of a user, group:NAME, or "" for nobody.
func ownerOf(ctx context.Context, store *storage.Store, who string) (string, error) {
	if who == "" {
		return "", nil
	}
	if group, is := access.OwningGroup(who); is {
		_, err := store.Group(ctx, group)
		return who, noSuch(err, "group", group, "group")
	}
	u, err := userOf(ctx, store, who)
	return u.Sub, err
}
