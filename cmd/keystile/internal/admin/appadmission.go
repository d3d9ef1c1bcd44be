package admin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/claim"
	"github.com/keystile/keystile/storage/client"
)

const (
	claimsFlag = "claims"
	maxClaims  = 64 << 10 // bytes
)

// admissionChanges holds the flags that say which users an application admits, and what it learns of them.
var admissionChanges = []cli.Flag{
	{Name: allowFlag, Value: "SUBJECT", Help: "who may use it from now on, instead of those who may: group:NAME, " +
		"user:NAME, role:ROLE; everyone, alone, for all", Many: true},
	{Name: denyFlag, Value: "SUBJECT", Help: "who may not from now on, even if allowed, administrators too; --deny= for " +
		"nobody", Many: true},
	{Name: "group-filter", Value: "PATTERN", Help: "the groups that it learns of from now on, such as team-*; " +
		"--group-filter= for all", Many: true},
	{Name: "groups-in-access-token", Help: "its access tokens have the groups too, until they end"},
	{Name: claimsFlag, Value: "JSON|FILE", Help: "the claims of its own from now on, a list of {claim, from, scope, in} " +
		"or the file that has it, - for standard input; --claims= for none"},
}

const jwksFlag = "jwks"

// proofChanges holds the flags that say how an application proves itself, and which tokens it may exchange.
var proofChanges = []cli.Flag{
	{Name: jwksFlag, Value: "FILE|URL", Help: "its public keys, a JSON Web Key Set, or where they are: it proves itself " +
		"by private_key_jwt from now on, and its appkey is of no use; --jwks= for none"},
	{Name: "keep-secret", Help: "its appkey goes on beside the keys"},
	{Name: "exchange", Help: "it may exchange tokens: its own, and those of applications that name it"},
	{Name: "exchange-for", Value: "CLIENT_ID", Help: "who may exchange its tokens from now on; --exchange-for= for nobody",
		Many: true},
}

// proofChange reads those flags.
func proofChange(args cli.Args, c *appacts.Change) {
	if typed := args.Flags["exchange-for"]; len(typed) > 0 {
		c.Proves.ExchangeFor = slices.DeleteFunc(slices.Clone(typed), func(s string) bool { return s == "" })
	}
	for name, at := range map[string]**bool{"keep-secret": &c.Proves.KeepSecret, "exchange": &c.Proves.Exchange} {
		if len(args.Flags[name]) > 0 {
			*at = new(args.On(name))
		}
	}
	switch keys := textOf(args, jwksFlag); {
	case keys == nil:
	case isAddress(*keys):
		c.Proves.KeysURL = keys
	default:
		c.Proves.Keys = keys
	}
}

func isAddress(text string) bool {
	return strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")
}

// proofShown tells by what an application proves itself, by the names of the API.
func proofShown(app storage.App) answer {
	keys := client.Keys{}
	if app.Keys != nil {
		keys = *app.Keys
	}
	return answer{{"jwks", string(keys.Set)}, {"jwks_uri", keys.URL}, {"keep_secret", keys.KeepSecret},
		{"exchange", app.Exchange}, {"exchange_for", listed(app.ExchangeFor)}}
}

// admissionChange reads those flags.
func admissionChange(ctx context.Context, store *storage.Store, args cli.Args, c *appacts.Change) error {
	for flag, at := range map[string]*[]string{allowFlag: &c.Allow, denyFlag: &c.Deny,
		"group-filter": &c.Learns.GroupFilter} {
		if typed := args.Flags[flag]; len(typed) > 0 {
			*at = slices.DeleteFunc(slices.Clone(typed), func(s string) bool { return s == "" }) // --deny= is for nobody
		}
	}
	for _, list := range [][]string{c.Allow, c.Deny} {
		for i, text := range list {
			subject, err := typedSubject(ctx, store, strings.TrimSpace(text))
			if err != nil {
				return err
			}
			list[i] = subject
		}
	}
	if len(args.Flags["groups-in-access-token"]) > 0 {
		c.Learns.GroupsInAccessToken = new(args.On("groups-in-access-token"))
	}
	if text := textOf(args, claimsFlag); text != nil {
		c.Learns.Claims = []claim.Rule{}
		if *text != "" {
			var err error
			if c.Learns.Claims, err = claim.Parse([]byte(*text)); err != nil {
				return cli.Usage("--claims: %v", err)
			}
		}
	}
	return nil
}

// readClaims replaces the files of --claims, --rules and --jwks by what is in them.
func readClaims(call cli.Call) (args cli.Args, err error) {
	for _, flag := range []string{claimsFlag, rulesFlag} {
		if call.Args, err = readJSON(call, flag, "["); err != nil {
			return call.Args, err
		}
	}
	if isAddress(call.Args.Get(jwksFlag)) {
		return call.Args, nil
	}
	return readJSON(call, jwksFlag, "{")
}

// readJSON replaces the file that a flag names by what is in it, in the process of the caller: a server may have
// another view of the file system. A value that begins as JSON does is no file.
func readJSON(call cli.Call, flag, begins string) (cli.Args, error) {
	args := call.Args
	file := strings.TrimSpace(args.Get(flag))
	if file == "" || strings.HasPrefix(file, begins) {
		return args, nil
	}
	text, err := readUpTo(file, call.Stdin, maxClaims)
	switch {
	case err != nil:
		return args, fmt.Errorf("--%s: %w; JSON begins with %s", flag, err, begins)
	case len(text) > maxClaims:
		return args, fmt.Errorf("--%s: %s has more than %d bytes", flag, file, maxClaims)
	}
	args.Flags = maps.Clone(args.Flags)
	args.Flags[flag] = []string{string(text)}
	return args, nil
}

// admissionShown tells who may use an application, and what it learns of them, by the names of the API.
func admissionShown(app storage.App) answer {
	allow, deny := app.Admission.Lists()
	return answer{{"allow", allow}, {"deny", deny}, {"group_filter", listed(app.GroupFilter)},
		{"groups_in_access_token", app.GroupsInAccessToken}, {"claims", append(claimRules{}, app.Claims...)}}
}

// claimRules are the claims of an application's own. None are [] in JSON.
type claimRules []claim.Rule

func (rules claimRules) String() string {
	var texts []string
	for _, r := range rules {
		texts = append(texts, r.Claim+" from "+r.From)
	}
	return strings.Join(texts, ", ")
}
