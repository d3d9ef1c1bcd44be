package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/admin/useracts"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/apikey"
)

var apiKeyCommands = []command{
	{
		name: "apikey create", words: []string{"USER"}, summary: "Make an API key of a user", do: createAPIKey, acts: true,
		details: userHelp + " The key is shown this once. Programs send it as a bearer\ntoken, and act as the user.",
		examples: []string{
			"keystile apikey create ada --name \"nightly build\" --scope tools/read",
			"keystile apikey create ada --name backup --scope tools:b:support --days 365",
		},
		flags: []cli.Flag{
			{Name: "name", Value: "NAME", Help: "what it is for", Need: true},
			{Name: "scope", Value: "SCOPE", Help: "tools, tools/read, tools:CAPABILITY, tools:CAPABILITY/TOOL, " +
				"tools:b:BUNDLE, openid, profile, email; several with spaces (tools)"},
			{Name: "days", Value: "N", Help: "how long it is valid, up to 365 (90)"},
		},
	},
	{
		name: "apikey list", words: []string{"USER"}, summary: "List the API keys of a user", do: listAPIKeys,
		details: userHelp + " When a key was last used is known to the hour.", examples: []string{"keystile apikey list ada"},
	},
	{
		name: "apikey revoke", words: []string{"ID"}, summary: "End an API key at once", do: revokeAPIKey, acts: true,
		details: "ID is the SHA-256 of the key, as apikey list and the audit trail show it.",
		examples: []string{"keystile apikey revoke \\\n" +
			"    9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
	},
}

func createAPIKey(ctx context.Context, target Target, args cli.Args) (output, error) {
	days, err := strconv.Atoi(cmp.Or(args.Get("days"), "90"))
	if err != nil || days < 1 || days > 365 {
		return nil, cli.Usage("--days is a number from 1 to 365")
	}
	u, err := userOf(ctx, target.Store, args.Words[0])
	if err != nil {
		return nil, err
	}
	text, k, err := target.users().CreateKey(ctx, target.By, u, args.Get("name"), cmp.Or(args.Get("scope"), "tools"),
		time.Duration(days)*24*time.Hour)
	if errors.Is(err, useracts.ErrDisabled) {
		return nil, fmt.Errorf("%s is locked out: keystile user enable %s", u.Username, u.Username)
	}
	return append(showAPIKey(k), field{"key", text}), err
}

func showAPIKey(k apikey.Key) answer {
	return answer{
		{"id", k.ID}, {"name", k.Name}, {"scope", k.Scope}, {"created_at", when(k.CreatedAt)}, {"used_at", when(k.UsedAt)},
		{"expires_at", when(k.ExpiresAt)},
	}
}

func listAPIKeys(ctx context.Context, target Target, args cli.Args) (output, error) {
	u, err := userOf(ctx, target.Store, args.Words[0])
	if err != nil {
		return nil, err
	}
	keys, err := target.Store.APIKeys(ctx, u.Sub)
	slices.SortFunc(keys, func(x, y apikey.Key) int {
		return cmp.Or(y.CreatedAt.Compare(x.CreatedAt), cmp.Compare(x.ID, y.ID))
	})
	live := slices.DeleteFunc(keys, func(k apikey.Key) bool { return !k.Live(time.Now()) })
	return of(list{empty: "no API keys: keystile apikey create " + args.Words[0]}, live, showAPIKey), err
}

func revokeAPIKey(ctx context.Context, target Target, args cli.Args) (output, error) {
	id := args.Words[0]
	k, err := target.Store.APIKey(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, fmt.Errorf("there is no API key %q; list those of a user with: keystile apikey list USER", shortened(id))
	}
	if err != nil {
		return nil, err
	}
	err = target.users().RevokeKeys(ctx, target.By, k)
	return answer{{"id", k.ID}, {"name", k.Name}, {"user", k.UserID}, {"revoked", true}}, err
}

// shortened returns what an error may repeat of a word that should be an id: somebody may have typed
// the key itself.
func shortened(word string) string {
	if len(word) > 8 {
		return word[:8] + "…"
	}
	return word
}
