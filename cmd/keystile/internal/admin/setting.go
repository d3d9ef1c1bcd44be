package admin

import (
	"cmp"
	"context"
	"strings"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/internal/switches"
	"github.com/keystile/keystile/storage"
)

var settingCommands = []command{
	{
		name: "setting set", words: []string{"KEY", "VALUE"}, summary: "Change a setting, at once and for good",
		do: setSetting, acts: true,
		details:  settingsHelp(),
		examples: []string{"keystile setting set " + storage.SettingForcePKCE + " 1"},
	},
	{
		name: "setting get", words: []string{"KEY"}, summary: "Show a setting", do: getSetting,
		details: settingsHelp(), examples: []string{"keystile setting get " + storage.SettingForcePKCE},
	},
	{name: "setting list", summary: "List the settings", do: listSettings,
		examples: []string{"keystile setting list"}},
}

func setSetting(ctx context.Context, target Target, args cli.Args) (output, error) {
	s, err := named(args.Words[0])
	if err != nil {
		return nil, err
	}
	_, value, err := target.service().Set(ctx, target.By, s.Name, args.Words[1])
	return answer{{"name", s.Name}, {"value", value}}, err
}

func getSetting(ctx context.Context, target Target, args cli.Args) (output, error) {
	s, err := named(args.Words[0])
	if err != nil {
		return nil, err
	}
	value, err := target.Store.Setting(ctx, s.Name)
	if err != nil {
		return nil, err
	}
	return answer{{"name", s.Name}, {"value", cmp.Or(value, s.Default)}}, nil
}

func listSettings(ctx context.Context, target Target, _ cli.Args) (output, error) {
	said := list{empty: "no settings"}
	for _, s := range switches.All() {
		value, err := target.Store.Setting(ctx, s.Name)
		if err != nil {
			return nil, err
		}
		said.rows = append(said.rows, answer{
			{"name", s.Name}, {"value", cmp.Or(value, s.Default)}, {"default", s.Default}, {"help", s.Help},
		})
	}
	return said, nil
}

// named finds a setting by its name or alias.
func named(name string) (switches.Switch, error) {
	var names []string
	for _, s := range switches.All() {
		if s.Name == name || s.Alias == name {
			return s, nil
		}
		names = append(names, s.Name, s.Alias)
	}
	for _, f := range config.Flags() {
		if f.Name == strings.NewReplacer(".", "-", "_", "-").Replace(name) {
			return switches.Switch{}, cli.Usage("%q is a setting of the start: --%s, or its line in the configuration file; "+
				"those that are changed while the service runs are listed by: keystile setting list", name, f.Name)
		}
	}
	return switches.Switch{}, cli.Usage("there is no setting %q%s; list them with: keystile setting list", name,
		cli.Hint("; the nearest one is %q", name, names))
}

// settingsHelp has a paragraph for each setting.
func settingsHelp() string {
	var all []string
	for _, s := range switches.All() {
		all = append(all, s.Name+", or "+s.Alias+": "+s.Help+".")
	}
	return strings.Join(all, "\n\n")
}
