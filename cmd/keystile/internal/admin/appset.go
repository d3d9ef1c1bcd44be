package admin

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/storage"
)

var appChanges = slices.Concat([]cli.Flag{
	{Name: "name", Value: "NAME", Help: "what people see at sign-in"},
	{Name: "domain", Value: "HOST", Help: "the hosts from now on, instead of those there are", Many: true},
	{Name: "add-domain", Value: "HOST", Help: "one more host", Many: true},
	{Name: "remove-domain", Value: "HOST", Help: "one host less", Many: true},
	{Name: "redirect-uri", Value: "URI",
		Help: "the exact addresses from now on; --redirect-uri= for none, so that the hosts decide. A public application " +
			"may have some of a private-use scheme: com.example.app:/callback", Many: true},
	{Name: "add-redirect-uri", Value: "URI", Help: "one more exact address", Many: true},
	{Name: "remove-redirect-uri", Value: "URI", Help: "one exact address less", Many: true},
	{Name: "backchannel-logout-uri", Value: "URI", Help: "where it is told of the end of sessions, an https address of " +
		"a domain; a private one has to be among logout.allow_private; --backchannel-logout-uri= for nowhere"},
	{Name: "tier", Value: "TIER", Help: "free, white_label or enterprise"},
	{Name: "brand-name", Value: "NAME",
		Help: "what its pages call it; --brand-name= for its own name. Shown while the tier is white_label or enterprise"},
	{Name: "brand-logo", Value: "URL",
		Help: "the picture on its pages, an https address or a path here; --brand-logo= for none. Likewise"},
	{Name: "brand-color", Value: "#RRGGBB", Help: "the colour of its pages; --brand-color= for ours. Likewise"},
	{Name: "id-token-alg", Value: "ALG", Help: "HS256, ES256, RS256 or EdDSA"},
	{Name: "allow-http-redirect", Help: "users may be sent back over http, where everybody on the way can read the code"},
	{Name: "forbid-plain", Help: "PKCE by S256 only"},
	{Name: "legacy-success-code", Value: "CODE",
		Help: "what the old endpoints answer a success with: 1, or 0 for clients that want that"},
	{Name: "legacy-nested", Help: "the old endpoints repeat what they answer under data"},
	{Name: "forbid-plain-key", Help: "the old endpoints want a signature, not the appkey"},
	{Name: "first-party", Help: "users are not asked for their consent"},
	{Name: "mfa", Value: "POLICY", Help: mfaHelp},
	{Name: "dpop", Value: "MODE", Help: dpopHelp},
	{Name: "held", Value: "FIELD", Help: "what its owner may not change, instead of what you have restricted before: " +
		strings.Join(appacts.Holdable(), ", ") + "; --held= for nothing", Many: true},
	{Name: "owner", Value: "OWNER", Help: "who manages it, beside administrators: a username, or group:NAME for the " +
		"managers of a group; --owner= for nobody. Its orders go with it"},
	{Name: "disabled", Help: "no user signs in to it, and everything it was granted ends"},
}, admissionChanges, proofChanges)

// setApp changes an application. A tier is another act: it is on the books.
func setApp(ctx context.Context, target Target, args cli.Args) (output, error) {
	sent := slices.DeleteFunc(slices.Clone(appChanges), func(f cli.Flag) bool { return len(args.Flags[f.Name]) == 0 })
	if len(sent) == 0 {
		return nil, cli.Usage("app set changes nothing; name what to change")
	}
	c, err := appChange(ctx, target, args)
	if err != nil {
		return nil, err
	}
	id, tier := args.Words[0], textOf(args, "tier")
	if tier != nil && !slices.ContainsFunc(target.Billing.Plans(), func(p billing.Plan) bool { return p.Tier == *tier }) {
		return nil, cli.Usage("tier: %q is none of free, white_label, enterprise", *tier)
	}
	var app storage.App
	if tier == nil || len(sent) > 1 {
		if _, app, err = target.apps().Set(ctx, target.By, id, c); err != nil {
			return nil, unknownApp(id, err)
		}
	}
	if tier != nil {
		_, app, err = target.apps().SetTier(ctx, target.By, id, *tier, time.Time{})
	}
	if err != nil {
		return nil, unknownApp(id, err)
	}
	return show(app), nil
}

// appChange reads flags of an application.
func appChange(ctx context.Context, target Target, args cli.Args) (c appacts.Change, err error) {
	for name, at := range map[string]**string{
		"name": &c.Name, "id-token-alg": &c.IDTokenAlg, "backchannel-logout-uri": &c.BackchannelLogoutURI, "mfa": &c.MFA,
		"dpop":       &c.DPoP,
		"brand-name": &c.Brand.Name, "brand-logo": &c.Brand.Logo, "brand-color": &c.Brand.Color, "owner": &c.Owner,
	} {
		*at = textOf(args, name)
	}
	for name, at := range map[string]**bool{
		"allow-http-redirect": &c.AllowHTTPRedirect, "forbid-plain": &c.ForbidPlain, "first-party": &c.FirstParty,
		"disabled": &c.Disabled, "legacy-nested": &c.LegacyNested, "forbid-plain-key": &c.ForbidPlainKey,
	} {
		if len(args.Flags[name]) > 0 {
			*at = new(args.On(name))
		}
	}
	for name, at := range map[string]*[]string{
		"held": &c.Held, "domain": &c.Domains.Instead, "add-domain": &c.Domains.Add, "remove-domain": &c.Domains.Remove,
		"redirect-uri": &c.RedirectURIs.Instead, "add-redirect-uri": &c.RedirectURIs.Add,
		"remove-redirect-uri": &c.RedirectURIs.Remove,
	} {
		if typed := args.Flags[name]; len(typed) > 0 {
			*at = slices.DeleteFunc(slices.Clone(typed), func(s string) bool { return s == "" }) // --held= is for nothing
		}
	}
	if len(args.Flags["legacy-success-code"]) > 0 {
		code, err := strconv.Atoi(args.Get("legacy-success-code"))
		if err != nil {
			return c, cli.Usage("--legacy-success-code is 0 or 1")
		}
		c.LegacySuccessCode = &code
	}
	if c.Owner != nil {
		if *c.Owner, err = ownerOf(ctx, target.Store, *c.Owner); err != nil {
			return c, err
		}
	}
	proofChange(args, &c)
	return c, admissionChange(ctx, target.Store, args, &c)
}

// textOf returns the value of a flag, nil for one that was not given.
func textOf(args cli.Args, name string) *string {
	if len(args.Flags[name]) == 0 {
		return nil
	}
	return new(args.Get(name))
}

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
