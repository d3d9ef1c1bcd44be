package admin

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/admin/toolacts"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
)

const (
	allowFlag    = "allow"
	denyFlag     = "deny"
	readOnlyFlag = "read-only"
	resetFlag    = "reset"
	whoFlag      = "who"
)

var accessCommands = []command{{
	name: "capability access", words: []string{"[MEMBER]"},
	summary: "Say who may use the tools of a capability, or show it", do: capabilityAccess, acts: true,
	details: "SUBJECT is everyone, role:admin, role:developer, role:auditor, user:USER (a username or a sub),\n" +
		"group:NAME, app:CLIENT_ID or tier:TIER.\n" +
		"Rules are added to those there are; what denies wins over what allows. The owner and administrators\n" +
		"need no rule that allows them. Without a rule that allows, the default holds: see setting list.\n" +
		"A token of an application itself is app:CLIENT_ID, and never its owner. What a caller may not use is\n" +
		"not listed for them, and answers as if it were not there. With --who, and without MEMBER, it shows\n" +
		"what a user (by username or sub), user:USER or app:CLIENT_ID may use, and what decides it; which\n" +
		"application a user will use is not known then, so rules about app: and tier: count for app:CLIENT_ID alone.",
	examples: []string{
		"keystile capability access shop",
		"keystile capability access shop --allow everyone --read-only",
		"keystile capability access shop --allow user:ada --deny app:ks1a2b3c \\\n    --tools cancelOrder,refund",
		"keystile capability access shop --reset",
		"keystile capability access --who ada",
	},
	flags: []cli.Flag{
		{Name: allowFlag, Value: "SUBJECT", Help: "who may use them", Many: true},
		{Name: denyFlag, Value: "SUBJECT", Help: "who may not", Many: true},
		{Name: toolsFlag, Value: "NAMES",
			Help: "of these tools alone, separated by commas, without the member (all, those to come included)"},
		{Name: readOnlyFlag, Help: "of those alone that change nothing: GET, and what an MCP endpoint says of its own"},
		{Name: resetFlag, Help: "take all rules away first"},
		{Name: whoFlag, Value: "SUBJECT", Help: "show what a user or an application may use"},
	},
}}

func changesAccess(args cli.Args) bool {
	return len(args.Flags[allowFlag])+len(args.Flags[denyFlag]) > 0 || args.On(resetFlag)
}

func capabilityAccess(ctx context.Context, target Target, args cli.Args) (output, error) {
	changes, who := changesAccess(args), args.Get(whoFlag)
	switch {
	case who != "" && (changes || len(args.Words) > 0):
		return nil, cli.Usage("--who stands alone: it shows every capability")
	case who != "":
		return whatSomebodyMayUse(ctx, target, who)
	case len(args.Words) == 0:
		return nil, cli.Usage("name the MEMBER, or a user or application with --who")
	case !changes && (args.Get(toolsFlag) != "" || args.On(readOnlyFlag)):
		return nil, cli.Usage("--tools and --read-only narrow what --allow or --deny says: add one")
	case args.Get(toolsFlag) != "" && args.On(readOnlyFlag):
		return nil, cli.Usage("give --tools or --read-only, not both")
	case changes:
		return changeAccess(ctx, target, args)
	}
	c, err := target.Store.Capability(ctx, args.Words[0])
	if err != nil {
		return nil, unknownMember(args.Words[0], err)
	}
	l, err := target.Store.Access(ctx, c.Member)
	if err != nil {
		return nil, err
	}
	return target.accessShown(ctx, l)
}

func unknownMember(member string, err error) error {
	return noSuch(err, "capability", member, "capability")
}

// changeAccess adds the rules that were typed.
func changeAccess(ctx context.Context, target Target, args cli.Args) (output, error) {
	typed, err := typedRules(ctx, target.Store, args)
	if err != nil {
		return nil, err
	}
	_, l, err := target.tools().SetAccess(ctx, target.By, args.Words[0],
		toolacts.AccessChange{Reset: args.On(resetFlag), Add: typed})
	shown, failed := target.accessShown(ctx, l)
	return shown, errors.Join(err, failed)
}

func typedRules(ctx context.Context, store *storage.Store, args cli.Args) (rules []access.Rule, err error) {
	tools := commaList(args.Get(toolsFlag))
	for _, flag := range []string{allowFlag, denyFlag} {
		for _, text := range args.Flags[flag] {
			subject, err := typedSubject(ctx, store, text)
			if err != nil {
				return nil, err
			}
			rules = append(rules, access.Rule{Subject: subject, Deny: flag == denyFlag, Tools: tools,
				ReadOnly: args.On(readOnlyFlag)})
		}
	}
	return rules, nil
}

// commaList splits a list, without what is empty or there twice.
func commaList(text string) (names []string) {
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// typedSubject is a subject as it is stored: a user by sub.
func typedSubject(ctx context.Context, store *storage.Store, text string) (string, error) {
	kind, name, _ := strings.Cut(text, ":")
	if kind != access.SubjectUser {
		return text, nil
	}
	u, err := userOf(ctx, store, name)
	return kind + ":" + u.Sub, err
}
