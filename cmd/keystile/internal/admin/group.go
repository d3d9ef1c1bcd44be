package admin

import (
	"context"
	"encoding/base64"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/admin/groupacts"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/groups"
)

const groupHelp = "USER is a username or a sub, whole."

var groupCommands = []command{
	{
		name: "group create", words: []string{"NAME"}, summary: "Make a group of users", do: createGroup, acts: true,
		details: "NAME is 1 to 63 of a-z 0-9 . _ -, and never changes. Managers add and remove members, need no role\n" +
			"for it, and change nothing else. " + groupHelp,
		examples: []string{"keystile group create ops --label Operations --manager ada"},
		flags: []cli.Flag{
			{Name: "label", Value: "LABEL", Help: "what people call it"},
			{Name: "manager", Value: "USER", Help: "who changes its members", Many: true},
		},
	},
	{
		name: "group list", summary: "List the groups", do: listGroups,
		examples: []string{"keystile group list", "keystile group list --q team- --json"},
		flags:    []cli.Flag{{Name: "q", Value: "PREFIX", Help: "those whose name or label begins with it"}},
	},
	{
		name: "group show", words: []string{"NAME"}, summary: "Show a group and its members", do: showGroup,
		details:  "It shows 100 members, and where there are more the flag that shows those.",
		examples: []string{"keystile group show ops", "keystile group show ops --json"},
		flags: []cli.Flag{{Name: "after", Value: "NEXT",
			Help: "the members behind those, as the command before has said"}},
	},
	{
		name: "group set", words: []string{"NAME"}, summary: "Change a group", do: setGroup, acts: true,
		details:  "What is not named stays as it is. " + groupHelp,
		examples: []string{"keystile group set ops --label \"Operations\" --manager bob --drop-manager ada"},
		flags: []cli.Flag{
			{Name: "label", Value: "LABEL", Help: "what people call it"},
			{Name: "manager", Value: "USER", Help: "who changes its members, beside those who do", Many: true},
			{Name: "drop-manager", Value: "USER", Help: "who no longer does", Many: true},
		},
	},
	{
		name: "group add", words: []string{"NAME", "USER"}, summary: "Add a member to a group", do: addMember, acts: true,
		details: groupHelp + " A user is in 200 groups at most.", examples: []string{"keystile group add ops ada"},
	},
	{
		name: "group remove", words: []string{"NAME", "USER"}, summary: "Remove a member from a group", do: removeMember,
		acts: true, details: groupHelp, examples: []string{"keystile group remove ops ada"},
	},
	{
		name: "group delete", words: []string{"NAME"}, summary: "Delete a group", do: deleteGroup, acts: true,
		asks: "Delete group %s, and end all its memberships?",
		details: "Every membership ends at once. Rules that name the group match nobody from then on, also if a group\n" +
			"of this name is made again. On a terminal it asks first.",
		examples: []string{"keystile group delete ops"}, flags: []cli.Flag{{Name: yesFlag, Help: "do not ask"}},
	},
}

// groups returns the acts on groups.
func (r Target) groups() *groupacts.Acts {
	return groupacts.New(groupacts.Config{Store: r.Store, Recorder: r.Recorder})
}

func createGroup(ctx context.Context, target Target, args cli.Args) (output, error) {
	g := groups.Group{Name: args.Words[0], Label: args.Get("label")}
	var err error
	if g.Managers, err = subsOf(ctx, target.Store, args.Flags["manager"]); err != nil {
		return nil, err
	}
	g, err = target.groups().Create(ctx, target.By, g)
	return groupShown(g), err
}

// groupShown tells of a group what the API does, by the same names.
func groupShown(g groups.Group) answer {
	return answer{{"name", g.Name}, {"label", g.Label}, {"managers", listed(g.Managers)},
		{"created_at", when(g.CreatedAt)}, {"updated_at", when(g.UpdatedAt)}}
}

func listGroups(ctx context.Context, target Target, args cli.Args) (output, error) {
	all, err := everything(func(from string) ([]groups.Group, string, error) {
		return target.Store.FindGroups(ctx, args.Get("q"), from, driver.Page)
	})
	empty := "no groups yet: keystile group create"
	if args.Get("q") != "" {
		empty = "no group begins with " + args.Get("q")
	}
	return of(list{columns: []string{"name", "label", "managers", "created_at"}, empty: empty}, all, groupShown), err
}

// membersShown bounds the members that group show lists at once.
const membersShown = 100

func showGroup(ctx context.Context, target Target, args cli.Args) (output, error) {
	g, err := groupOf(ctx, target.Store, args.Words[0])
	if err != nil {
		return nil, err
	}
	from, err := base64.RawURLEncoding.DecodeString(args.Get("after"))
	if err != nil {
		return nil, cli.Usage("--after is the next of the command before, as it was printed")
	}
	page, next, err := target.Store.Members(ctx, g, string(from), membersShown)
	subs := []string{}
	for _, m := range page {
		subs = append(subs, m.Sub)
	}
	shown := append(groupShown(g), field{"members", subs})
	return append(shown, field{"next", base64.RawURLEncoding.EncodeToString([]byte(next))}), err
}

func setGroup(ctx context.Context, target Target, args cli.Args) (output, error) {
	var c groupacts.Change
	if len(args.Flags["label"]) > 0 {
		label := args.Get("label")
		c.Label = &label
	}
	if len(args.Flags["label"])+len(args.Flags["manager"])+len(args.Flags["drop-manager"]) == 0 {
		return nil, cli.Usage("group set changes nothing; name what to change")
	}
	if _, err := groupOf(ctx, target.Store, args.Words[0]); err != nil {
		return nil, err
	}
	var err error
	if c.Managers.Add, err = subsOf(ctx, target.Store, args.Flags["manager"]); err != nil {
		return nil, err
	}
	if c.Managers.Drop, err = subsOf(ctx, target.Store, args.Flags["drop-manager"]); err != nil {
		return nil, err
	}
	_, g, err := target.groups().Set(ctx, target.By, args.Words[0], c)
	return groupShown(g), noGroup(err, args.Words[0])
}

func addMember(ctx context.Context, target Target, args cli.Args) (output, error) {
	g, u, err := memberOf(ctx, target.Store, args)
	if err != nil {
		return nil, err
	}
	added, err := target.groups().AddMember(ctx, target.By, g.Name, u.Sub)
	return answer{{"group", g.Name}, {"sub", u.Sub}, {"username", u.Username}, {"added", added}}, noGroup(err, g.Name)
}

func removeMember(ctx context.Context, target Target, args cli.Args) (output, error) {
	g, u, err := memberOf(ctx, target.Store, args)
	if err != nil {
		return nil, err
	}
	removed, err := target.groups().RemoveMember(ctx, target.By, g.Name, u.Sub)
	return answer{{"group", g.Name}, {"sub", u.Sub}, {"username", u.Username}, {"removed", removed}}, noGroup(err, g.Name)
}

// memberOf returns the group and the user whom a command names.
func memberOf(ctx context.Context, store *storage.Store, args cli.Args) (g groups.Group, u storage.User, err error) {
	if g, err = groupOf(ctx, store, args.Words[0]); err == nil {
		u, err = userOf(ctx, store, args.Words[1])
	}
	return g, u, err
}

func deleteGroup(ctx context.Context, target Target, args cli.Args) (output, error) {
	err := target.groups().Delete(ctx, target.By, args.Words[0])
	return answer{{"name", args.Words[0]}, {"deleted", true}}, noGroup(err, args.Words[0])
}

func groupOf(ctx context.Context, store *storage.Store, name string) (groups.Group, error) {
	g, err := store.Group(ctx, name)
	return g, noGroup(err, name)
}

func noGroup(err error, name string) error { return noSuch(err, "group", name, "group") }

// subsOf returns the subs of users who are named by sub or by username.
func subsOf(ctx context.Context, store *storage.Store, typed []string) (subs []string, err error) {
	for _, who := range typed {
		u, err := userOf(ctx, store, who)
		if err != nil {
			return nil, err
		}
		subs = append(subs, u.Sub)
	}
	return subs, nil
}
