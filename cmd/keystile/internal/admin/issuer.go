package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/trust"
)

const rulesFlag = "rules"

var issuerCommands = []command{
	{
		name: "issuer add", words: []string{"[ISSUER]"}, summary: "Trust an issuer: what it asserts is redeemed for tokens",
		do: addIssuer, acts: true,
		details: "An identity provider of your organization asserts who a user is (id-jag), so that its assistants\n" +
			"need no consent of each. CI or Kubernetes asserts which job or program runs (workload), so that it\n" +
			"needs no secret: the first rule that matches says which application it is. An issuer of\n" +
			"assertions.issuers counts before one that is stored.",
		examples: []string{
			"keystile issuer add https://idp.example.com --use id-jag --create \\\n    --scopes openid --scopes tools",
			"keystile issuer add https://token.actions.githubusercontent.com \\\n    --use workload --rules rules.json",
		},
		flags: []cli.Flag{
			{Name: "issuer", Value: "URL", Help: "its iss, exactly, in place of the word"},
			{Name: "use", Value: "USE", Help: "id-jag, for users, or workload, for programs", Need: true},
			{Name: "jwks-uri", Value: "URL", Help: "where its keys are (as its discovery document says)"},
			{Name: "audience", Value: "TEXT", Help: "what aud of a workload is, alone (the issuer of this service)"},
			{Name: "create", Help: "a person whom nobody knows here becomes a user"},
			{Name: "scopes", Value: "SCOPE", Help: "what its assertions can grant at most (all but apps)", Many: true},
			{Name: rulesFlag, Value: "JSON|FILE", Help: "which application a workload is, a list of {subject, claims, " +
				"client_id} or the file that has it; * in subject is any text"},
			{Name: "allow-private", Value: "ADDRESS", Help: "where its keys may be read although it is private, by http " +
				"too: a network, an address or host:port", Many: true},
		},
	},
	{name: "issuer list", summary: "List the issuers that were added", do: listIssuers,
		details: "Those of the configuration are in assertions.issuers.", examples: []string{"keystile issuer list --json"}},
	{name: "issuer show", words: []string{"ISSUER"}, summary: "Show an issuer that was added", do: showIssuer,
		examples: []string{"keystile issuer show https://idp.example.com"}},
	{
		name: "issuer remove", words: []string{"ISSUER"}, summary: "Refuse what an issuer asserts from now on",
		do: removeIssuer, acts: true,
		details:  "Tokens that its assertions were redeemed for end within an hour. The users stay.",
		examples: []string{"keystile issuer remove https://idp.example.com"},
	},
}

func addIssuer(ctx context.Context, target Target, args cli.Args) (output, error) {
	word := ""
	if len(args.Words) > 0 {
		word = args.Words[0]
	}
	i := trust.Issuer{
		Issuer: cmp.Or(word, args.Get("issuer")), Use: args.Get("use"), JWKSURI: args.Get("jwks-uri"),
		Audience: args.Get("audience"), Create: args.On("create"), Scopes: separate(args.Flags["scopes"]),
		AllowPrivate: separate(args.Flags["allow-private"]),
	}
	if i.Issuer == "" || word != "" && args.Get("issuer") != "" {
		return nil, cli.Usage("name one issuer: keystile issuer add https://idp.example.com --use id-jag")
	}
	if text := args.Get(rulesFlag); text != "" {
		var err error
		if i.Rules, err = trust.ParseRules([]byte(text)); err != nil {
			return nil, cli.Usage("--%s: %v", rulesFlag, err)
		}
	}
	for n, r := range i.Rules {
		if _, err := appOf(ctx, target.Store, r.ClientID); err != nil {
			return nil, fmt.Errorf("--%s: rule %d: %w", rulesFlag, n+1, err)
		}
	}
	added, err := target.service().AddIssuer(ctx, target.By, i)
	if err != nil {
		return nil, err
	}
	return issuerShown(added), nil
}

// separate returns the words of a flag that is given several times, or once with commas or blanks.
func separate(typed []string) (all []string) {
	for _, text := range typed {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' }) {
			if !slices.Contains(all, word) {
				all = append(all, word)
			}
		}
	}
	return all
}

func issuerShown(i trust.Issuer) answer {
	return answer{{"issuer", i.Issuer}, {"use", i.Use}, {"jwks_uri", i.JWKSURI}, {"audience", i.Audience},
		{"create", i.Create}, {"scopes", listed(i.Scopes)}, {"rules", append(issuerRules{}, i.Rules...)},
		{"allow_private", listed(i.AllowPrivate)}, {"created_at", when(i.CreatedAt)}}
}

// issuerRules are the rules of an issuer. None are [] in JSON.
type issuerRules []trust.Rule

func (rules issuerRules) String() string {
	var text string
	for n, r := range rules {
		if n > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s is %s", r.Subject, r.ClientID)
	}
	return text
}

func listIssuers(ctx context.Context, target Target, _ cli.Args) (output, error) {
	all, err := everything(func(from string) ([]trust.Issuer, string, error) {
		return target.Store.Issuers(ctx, from, driver.Page)
	})
	return of(list{empty: "no issuer was added: keystile issuer add", columns: []string{"issuer", "use", "create",
		"created_at"}}, all, issuerShown), err
}

func showIssuer(ctx context.Context, target Target, args cli.Args) (output, error) {
	i, err := target.Store.Issuer(ctx, args.Words[0])
	if err != nil {
		return nil, unknownIssuer(args.Words[0], err)
	}
	return issuerShown(i), nil
}

func removeIssuer(ctx context.Context, target Target, args cli.Args) (output, error) {
	i, err := target.service().RemoveIssuer(ctx, target.By, args.Words[0])
	if err != nil {
		return nil, unknownIssuer(args.Words[0], err)
	}
	return answer{{"issuer", i.Issuer}, {"removed", true}}, nil
}

func unknownIssuer(issuer string, err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return fmt.Errorf("%s was not added; list those that were with: keystile issuer list", issuer)
	}
	return err
}
