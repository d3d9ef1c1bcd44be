package admin

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/storage"
)

// setting is one switch that may be changed while the service runs.
type setting struct {
	name     string
	alias    string
	values   []string
	fallback string // what an unset one means
	help     string
}

var settings = []setting{
	{storage.SettingForcePKCE, "oauth_force_pkce", []string{"0", "1"}, "0", "0: PKCE is optional; 1: every authorization needs it"},
	{storage.SettingDefaultAccess, "default_access", []string{storage.AccessAuto, storage.AccessEveryone, storage.AccessOwner}, storage.AccessAuto,
		"who may use the tools of a capability without an access list: everyone; owner (and administrators); auto: everyone while sign-up is closed, else owner"},
}

var settingCommands = []command{
	{
		name: "setting set", words: []string{"KEY", "VALUE"}, summary: "Change a setting, at once and for good", do: setSetting,
		details:  settingsHelp(),
		examples: []string{"keystile setting set " + storage.SettingForcePKCE + " 1"},
	},
	{
		name: "setting get", reads: true, words: []string{"KEY"}, summary: "Show a setting", do: getSetting,
		details: settingsHelp(), examples: []string{"keystile setting get " + storage.SettingForcePKCE},
	},
	{name: "setting list", reads: true, summary: "List the settings", do: listSettings, examples: []string{"keystile setting list"}},
}

func setSetting(ctx context.Context, target Target, args cli.Args) (output, error) {
	s, err := named(args.Words[0])
	if err != nil {
		return nil, err
	}
	value := args.Words[1]
	if !slices.Contains(s.values, value) {
		return nil, cli.Usage("%s cannot be %q; it is one of %s", s.name, value, strings.Join(s.values, ", "))
	}
	if err := target.Store.Set(ctx, s.name, value); err != nil {
		return nil, err
	}
	return answer{{"name", s.name}, {"value", value}}, nil
}

func getSetting(ctx context.Context, target Target, args cli.Args) (output, error) {
	s, err := named(args.Words[0])
	if err != nil {
		return nil, err
	}
	value, err := target.Store.Setting(ctx, s.name)
	if err != nil {
		return nil, err
	}
	return answer{{"name", s.name}, {"value", cmp.Or(value, s.fallback)}}, nil
}

func listSettings(ctx context.Context, target Target, _ cli.Args) (output, error) {
	said := list{empty: "no settings"}
	for _, s := range settings {
		value, err := target.Store.Setting(ctx, s.name)
		if err != nil {
			return nil, err
		}
		said.rows = append(said.rows, answer{
			{"name", s.name}, {"value", cmp.Or(value, s.fallback)}, {"default", s.fallback}, {"help", s.help},
		})
	}
	return said, nil
}

// named finds a setting by its name or alias.
func named(name string) (setting, error) {
	var names []string
	for _, s := range settings {
		if s.name == name || s.alias == name {
			return s, nil
		}
		names = append(names, s.name, s.alias)
	}
	return setting{}, cli.Usage("there is no setting %q%s; list them with: keystile setting list", name, cli.Hint("; the nearest one is %q", name, names))
}

// settingsHelp has a paragraph for each setting.
func settingsHelp() string {
	var all []string
	for _, s := range settings {
		all = append(all, s.name+", or "+s.alias+": "+s.help+".")
	}
	return strings.Join(all, "\n\n")
}
