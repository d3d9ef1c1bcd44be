package admin

import (
	"context"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/admin/toolacts"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
)

var bundleCommands = []command{
	{
		name: "capability bundle create", words: []string{"NAME"},
		summary: "Put tools together for an agent, at an address of their own", do: createBundle, acts: true,
		details: "The bundle is at /api/mcp/b/NAME, for tokens with the scope tools:b:NAME, tools, or app of\n" +
			"client_credentials. It opens nothing by itself: who may not use a tool does not find it there.\n" +
			"What is registered under a MEMBER later, after it was removed, is not in it.",
		examples: []string{"keystile capability bundle create support --tools shop__getOrder,crm__* \\\n    --label Support"},
		flags: []cli.Flag{
			{Name: toolsFlag, Value: "NAMES", Help: "member__tool, or member__* for all of a capability, separated by commas",
				Need: true},
			{Name: "label", Value: "TEXT", Help: "what people call it"},
			{Name: "description", Value: "TEXT", Help: "what it is for"},
		},
	},
	{name: "capability bundle list", summary: "List the bundles", do: listBundles,
		examples: []string{"keystile capability bundle list"}},
	{name: "capability bundle show", words: []string{"NAME"}, summary: "Show a bundle", do: showBundle,
		examples: []string{"keystile capability bundle show support"}},
	{
		name: "capability bundle access", words: []string{"NAME"},
		summary: "Say who may use a bundle, or show it", do: bundleAccess, acts: true,
		details: "SUBJECT is what keystile capability access takes. Without a rule that allows, everybody may use the\n" +
			"bundle but those whom a rule denies it; what denies wins. To others it answers as if it were not there.\n" +
			"A bundle opens no tool by itself: see keystile capability access.",
		examples: []string{
			"keystile capability bundle access support",
			"keystile capability bundle access support \\\n    --allow group:support --deny user:eve",
			"keystile capability bundle access support --reset",
		},
		flags: []cli.Flag{
			{Name: allowFlag, Value: "SUBJECT", Help: "who may use it", Many: true},
			{Name: denyFlag, Value: "SUBJECT", Help: "who may not", Many: true},
			{Name: resetFlag, Help: "take all rules away first"},
		},
	},
	{
		name: "capability bundle delete", words: []string{"NAME"}, summary: "Delete a bundle", do: deleteBundle, acts: true,
		details:  "Its tools stay where they are; its address answers 404.",
		examples: []string{"keystile capability bundle delete support"},
	},
}

func createBundle(ctx context.Context, target Target, args cli.Args) (output, error) {
	b := access.Bundle{Name: args.Words[0], Tools: commaList(args.Get(toolsFlag)), Label: args.Get("label"),
		Description: args.Get("description")}
	b, err := target.tools().CreateBundle(ctx, target.By, b)
	return bundleShown(b), err
}

func bundleShown(b access.Bundle) answer {
	return answer{
		{"name", b.Name}, {"label", b.Label}, {"description", b.Description}, {"tools", listed(b.Tools)},
		{"path", "/api/mcp/b/" + b.Name}, {"scope", "tools:b:" + b.Name}, {"created_at", when(b.CreatedAt)},
	}
}

func listBundles(ctx context.Context, target Target, _ cli.Args) (output, error) {
	all, err := everything(func(from string) ([]access.Bundle, string, error) {
		return target.Store.Bundles(ctx, from, driver.Page)
	})
	return of(list{empty: "no bundles yet: keystile capability bundle create"}, all, bundleShown), err
}

func showBundle(ctx context.Context, target Target, args cli.Args) (output, error) {
	b, err := bundleOf(ctx, target.Store, args.Words[0])
	return bundleShown(b), err
}

// bundleAccess shows who may use a bundle, as it is after the change that was typed, if any was.
func bundleAccess(ctx context.Context, target Target, args cli.Args) (output, error) {
	if !changesAccess(args) {
		b, err := bundleOf(ctx, target.Store, args.Words[0])
		return bundleRules(b), err
	}
	typed, err := typedRules(ctx, target.Store, args)
	if err != nil {
		return nil, err
	}
	_, b, err := target.tools().SetBundleAccess(ctx, target.By, args.Words[0],
		toolacts.AccessChange{Reset: args.On(resetFlag), Add: typed})
	return bundleRules(b), err
}

func bundleRules(b access.Bundle) list {
	return of(list{empty: "no rules: everybody may use it"}, b.Rules, func(r access.Rule) answer {
		return answer{{"subject", r.Subject}, {"deny", r.Deny}}
	})
}

func deleteBundle(ctx context.Context, target Target, args cli.Args) (output, error) {
	err := target.tools().DeleteBundle(ctx, target.By, args.Words[0])
	return answer{{"deleted", args.Words[0]}}, err
}

func bundleOf(ctx context.Context, store *storage.Store, name string) (access.Bundle, error) {
	b, err := store.Bundle(ctx, name)
	return b, noSuch(err, "bundle", name, "capability bundle")
}
