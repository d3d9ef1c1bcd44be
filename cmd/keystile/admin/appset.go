package admin

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/apps"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

var appChanges = []cli.Flag{
	{Name: "name", Value: "NAME", Help: "what people see at sign-in"},
	{Name: "domain", Value: "HOST", Help: "the hosts from now on, instead of those there are", Many: true},
	{Name: "add-domain", Value: "HOST", Help: "one more host", Many: true},
	{Name: "remove-domain", Value: "HOST", Help: "one host less", Many: true},
	{Name: "redirect-uri", Value: "URI",
		Help: "the exact addresses from now on; --redirect-uri= for none, so that the hosts decide. A public application " +
			"may have some of a private-use scheme: com.example.app:/callback", Many: true},
	{Name: "add-redirect-uri", Value: "URI", Help: "one more exact address", Many: true},
	{Name: "remove-redirect-uri", Value: "URI", Help: "one exact address less", Many: true},
	{Name: "backchannel-logout-uri", Value: "URI", Help: "where it is told of the end of sessions, an https address of a domain; a private one has to be among logout.allow_private; --backchannel-logout-uri= for nowhere"},
	{Name: "tier", Value: "TIER", Help: "free, white_label or enterprise"},
	{Name: "brand-name", Value: "NAME", Help: "what its pages call it; --brand-name= for its own name. Shown while the tier is white_label or enterprise"},
	{Name: "brand-logo", Value: "URL", Help: "the picture on its pages, an https address or a path here; --brand-logo= for none. Likewise"},
	{Name: "brand-color", Value: "#RRGGBB", Help: "the colour of its pages; --brand-color= for ours. Likewise"},
	{Name: "id-token-alg", Value: "ALG", Help: "HS256, ES256, RS256 or EdDSA"},
	{Name: "allow-http-redirect", Help: "users may be sent back over http, where everybody on the way can read the code"},
	{Name: "forbid-plain", Help: "PKCE by S256 only"},
	{Name: "legacy-success-code", Value: "CODE", Help: "what the old endpoints answer a success with: 1, or 0 for clients that want that"},
	{Name: "legacy-nested", Help: "the old endpoints repeat what they answer under data"},
	{Name: "forbid-plain-key", Help: "the old endpoints want a signature, not the appkey"},
	{Name: "first-party", Help: "users are not asked for their consent"},
	{Name: "mfa", Value: "POLICY", Help: mfaHelp},
	{Name: "held", Value: "FIELD", Help: "what its owner may not change, instead of what you have restricted before: " + strings.Join(apps.Holdable(), ", ") + "; --held= for nothing", Many: true},
	{Name: "owner", Value: "USERNAME", Help: "who manages it, beside administrators; --owner= for nobody. Its orders go with it"},
	{Name: "disabled", Help: "nobody signs in to it, and everything it was granted ends"},
}

// setApp changes an application. Disabling one ends its tokens too: they would go on for
// days, and whoever disables an application means now.
func setApp(ctx context.Context, target Target, args cli.Args) (output, error) {
	if !slices.ContainsFunc(appChanges, func(f cli.Flag) bool { return len(args.Flags[f.Name]) > 0 }) {
		return nil, cli.Usage("app set changes nothing; name what to change")
	}
	var before storage.App
	give, owner := len(args.Flags["owner"]) > 0, ""
	if give {
		var err error
		if owner, err = ownerOf(ctx, target.Store, args.Get("owner")); err != nil {
			return nil, err
		}
	}
	change := func(a *storage.App) error {
		before = *a
		if give {
			a.Owner = owner
		}
		if err := apply(a, args); err != nil {
			return err
		}
		return hold(before, a, args)
	}
	write := changeApp
	if give {
		write = giveApp
	}
	app, err := write(ctx, target.Store, args.Words[0], change)
	if err != nil {
		return nil, err
	}
	if args.On("disabled") {
		err = target.EndApp(ctx, app.ID)
	}
	if what := apps.Grave(before, app); what != "" {
		target.tell(ctx, before.Owner, event.NoticeApp, app.Name, what)
	}
	return show(app), err
}

// hold writes down what the owner of an application does not take back.
func hold(before storage.App, a *storage.App, args cli.Args) error {
	var sent []string
	for _, name := range []string{"mfa", "backchannel-logout-uri"} {
		if len(args.Flags[name]) > 0 {
			sent = append(sent, strings.ReplaceAll(name, "-", "_"))
		}
	}
	apps.ByOperator(before, a, sent...)
	if len(args.Flags["held"]) == 0 {
		return nil
	}
	named := slices.DeleteFunc(slices.Clone(args.Flags["held"]), func(s string) bool { return s == "" })
	if err := apps.Hold(a, named); err != nil {
		return &cli.UsageError{Err: err}
	}
	return nil
}

// changeApp changes the newest state of an application.
func changeApp(ctx context.Context, store *storage.Store, id string, change func(*storage.App) error) (storage.App, error) {
	app, err := apps.Change(ctx, store, id, change)
	return app, unknownApp(id, err)
}

// giveApp changes an application and gives it to the owner that it then has, in one step.
func giveApp(ctx context.Context, store *storage.Store, id string, change func(*storage.App) error) (storage.App, error) {
	app, err := storage.RetryOnConflict(ctx, func() (storage.App, error) {
		app, err := store.App(ctx, id)
		if err == nil {
			err = change(&app)
		}
		if err != nil {
			return app, err
		}
		return store.GiveApp(ctx, app, app.Owner)
	})
	return app, unknownApp(id, err)
}

func apply(a *storage.App, args cli.Args) (err error) {
	for name, at := range map[string]*string{"name": &a.Name, "id-token-alg": &a.IDTokenAlg, "backchannel-logout-uri": &a.BackchannelLogoutURI} {
		if len(args.Flags[name]) > 0 {
			*at = args.Get(name)
		}
	}
	if len(args.Flags["tier"]) > 0 {
		a.SetTier(args.Get("tier"), time.Now(), time.Time{})
	}
	for name, at := range map[string]*bool{
		"allow-http-redirect": &a.AllowHTTPRedirect, "forbid-plain": &a.ForbidPlain,
		"first-party": &a.FirstParty, "disabled": &a.Disabled, "legacy-nested": &a.LegacyNested, "forbid-plain-key": &a.ForbidPlainKey,
	} {
		if len(args.Flags[name]) > 0 {
			*at = args.On(name)
		}
	}
	if len(args.Flags["mfa"]) > 0 {
		a.MFA = args.Get("mfa")
	}
	if len(args.Flags["legacy-success-code"]) > 0 {
		code, err := strconv.Atoi(args.Get("legacy-success-code"))
		if err != nil {
			return cli.Usage("--legacy-success-code is 0 or 1")
		}
		a.LegacySuccessCode = &code
	}
	paint(a, args)
	if a.Domains, err = rearrange(a.Domains, args, "domain", normalize); err != nil {
		return err
	}
	asTyped := func(typed []string) ([]string, error) { return typed, nil }
	a.RedirectURIs, err = rearrange(a.RedirectURIs, args, "redirect-uri", asTyped)
	return err
}

// paint changes how the application's pages look. A brand that says nothing is none.
func paint(a *storage.App, args cli.Args) {
	var b storage.Brand
	if a.Brand != nil {
		b = *a.Brand
	}
	for name, at := range map[string]*string{"brand-name": &b.Name, "brand-logo": &b.Logo, "brand-color": &b.Color} {
		if len(args.Flags[name]) > 0 {
			*at = args.Get(name)
		}
	}
	a.Brand = nil
	if b != (storage.Brand{}) {
		a.Brand = &b
	}
}

// rearrange replaces, adds to and takes from a list, in this order. Taking away what is not
// there is a mistake: most likely it is written in another way.
func rearrange(now []string, args cli.Args, name string, normal func([]string) ([]string, error)) ([]string, error) {
	given := func(flag string) ([]string, error) {
		typed := slices.DeleteFunc(slices.Clone(args.Flags[flag]), func(s string) bool { return s == "" })
		texts, err := normal(typed)
		if err != nil {
			return nil, &cli.UsageError{Err: err}
		}
		return texts, nil
	}
	instead, err := given(name)
	if err != nil {
		return nil, err
	}
	if len(args.Flags[name]) > 0 {
		now = instead
	}
	more, err := given("add-" + name)
	if err != nil {
		return nil, err
	}
	less, err := given("remove-" + name)
	if err != nil {
		return nil, err
	}
	rest := slices.Clone(now)
	for _, text := range more {
		if !slices.Contains(rest, text) {
			rest = append(rest, text)
		}
	}
	for _, text := range less {
		i := slices.Index(rest, text)
		if i < 0 {
			return nil, cli.Usage("--remove-%s %s: it is not there; there is: %q", name, text, rest)
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return rest, nil
}
