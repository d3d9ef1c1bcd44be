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

// readClaims replaces the file of --claims by what is in it, in the process of the caller: a server may have another
// view of the file system.
func readClaims(call cli.Call) (cli.Args, error) {
	args := call.Args
	file := strings.TrimSpace(args.Get(claimsFlag))
	if file == "" || strings.HasPrefix(file, "[") {
		return args, nil
	}
	text, err := readUpTo(file, call.Stdin, maxClaims)
	switch {
	case err != nil:
		return args, fmt.Errorf("--claims: %w; a list in JSON begins with [", err)
	case len(text) > maxClaims:
		return args, fmt.Errorf("--claims: %s has more than %d bytes", file, maxClaims)
	}
	args.Flags = maps.Clone(args.Flags)
	args.Flags[claimsFlag] = []string{string(text)}
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
