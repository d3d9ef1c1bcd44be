package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/admin/useracts"
	"github.com/keystile/keystile/internal/confusable"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

const userHelp = "USER is a username or a sub, whole."

var userCommands = []command{
	{
		name: "user create", summary: "Create a user who signs in with a password", do: createUser, acts: true,
		examples: []string{"keystile user create --username ada --password - \\\n    --role developer < password.txt"},
		flags: []cli.Flag{
			{Name: "username", Value: "NAME", Help: "what the user types at sign-in", Need: true},
			{Name: secretFlag, Value: "PASSWORD", Help: "at least 8 characters; - reads a line of the standard input, which " +
				"keeps it out of the process list", Need: true},
			{Name: "role", Value: "ROLE", Help: "admin, developer or auditor, who reads all (none)"},
			{Name: "nickname", Value: "NAME", Help: "what applications are told"},
			{Name: "email", Value: "ADDRESS", Help: "what applications are told"},
		},
	},
	{
		name: "user invite", summary: "Invite a person to sign up", do: inviteUser, acts: true,
		details: "The code is shown this once and makes one user. Send it with the address of the page, where people\n" +
			"type it in. It is refused where no page takes a code, which is where signup is not invitation. A\n" +
			"server that runs knows that; without one the configuration says it, of which the command reads the\n" +
			"file and the environment.",
		examples: []string{"keystile user invite --role developer --days 3 --json"},
		flags: []cli.Flag{
			{Name: "role", Value: "ROLE", Help: "admin, developer or auditor, who reads all (none)"},
			{Name: "days", Value: "N", Help: "how long the code works, up to 90 (7)"},
		},
	},
	{name: "user list", summary: "List the users", do: listUsers,
		examples: []string{"keystile user list --json"}},
	{
		name: "user set", words: []string{"USER"}, summary: "Change a user", do: setUser, acts: true, flags: userChanges,
		details: userHelp + " What is not named stays as it is. A new password, and\n" +
			"another role, end the user's sessions and everything they granted, as session end does.",
		examples: []string{"keystile user set ada --role admin", "keystile user set ada --password - < password.txt",
			"keystile user set ada --attribute department=Sales --drop-attribute floor"},
	},
	{
		name: "user disable", words: []string{"USER"}, summary: "Lock a user out", do: disableUser, acts: true,
		details:  userHelp + " Their sessions and everything they granted end.",
		examples: []string{"keystile user disable ada"},
	},
	{
		name: "user enable", words: []string{"USER"}, summary: "Let a user sign in again", do: enableUser, acts: true,
		details: userHelp + " What was ended stays so.", examples: []string{"keystile user enable ada"},
	},
	{
		name: "user factors", words: []string{"USER"}, summary: "Show or remove the second factors of a user",
		do: userFactors, acts: true,
		details: userHelp + " With --reset the authenticator app, the passkeys and the recovery\n" +
			"codes are removed, for a user who has lost them: make sure that it is them, because from then on the first " +
			"factor\n" +
			"alone signs in. The user is told. Where a factor is required of them, the time to add one begins anew.",
		examples: []string{"keystile user factors ada", "keystile user factors ada --reset"},
		flags:    []cli.Flag{{Name: "reset", Help: "remove them"}},
	},
	{
		name: "user erase", words: []string{"USER"}, summary: "Erase a user and what belongs to them", do: eraseUser,
		acts: true, wait: 10 * time.Minute,
		asks: "Erase user %s, and all that belongs to them?",
		details: userHelp + " There is no way back. On a terminal it asks first.\n" +
			"They are signed out everywhere, and their account, ways in, sessions, consents, openids and API keys\n" +
			"are removed; the username is free then. Usage, orders and the audit trail keep the sub, for the\n" +
			"accounts. Who owns applications or capabilities hands them over first, or they are deleted. If it\n" +
			"breaks off, the user is disabled: run it again.",
		examples: []string{"keystile user erase ada", "keystile user erase --yes uabcdefghijklmnopqrstuvwxyz --json"},
		flags:    []cli.Flag{{Name: yesFlag, Help: "do not ask"}},
	},
}

func createUser(ctx context.Context, target Target, args cli.Args) (output, error) {
	u, err := target.users().Create(ctx, target.By, storage.User{
		Username: args.Get("username"), Role: args.Get("role"),
		Nickname: args.Get("nickname"), Email: args.Get("email"),
	}, args.Get(secretFlag))
	if errors.Is(err, storage.ErrExists) {
		if there, known := userOf(ctx, target.Store, args.Get("username")); known == nil &&
			loginName(there.Username) == loginName(args.Get("username")) {
			return nil, fmt.Errorf("there is a user named %s already", there.Username)
		}
	}
	a := answer{{"sub", u.Sub}, {"id", u.ID}, {"username", u.Username}}
	for _, f := range []field{{"role", u.Role}, {"nickname", u.Nickname}, {"email", u.Email}} {
		if f.value != "" {
			a = append(a, f)
		}
	}
	return a, err
}

func listUsers(ctx context.Context, target Target, _ cli.Args) (output, error) {
	users, err := allUsers(ctx, target.Store)
	return of(list{columns: []string{"sub", "id", "username", "role", "email", "disabled", "created_at"},
		empty: "no users yet: keystile user create"}, users, showUser), err
}

// showUser tells of a user what the API does, by the same names.
func showUser(u storage.User) answer {
	return answer{
		{"sub", u.Sub}, {"id", u.ID}, {"username", u.Username}, {"name", u.Name}, {"nickname", u.Nickname},
		{"email", u.Email}, {"email_verified", u.EmailVerified}, {"role", u.Role}, {"login_type", u.LoginType},
		{"disabled", u.Disabled}, {"attributes", attributes(u.Attributes)}, {"created_at", when(u.CreatedAt)},
		{"updated_at", when(u.UpdatedAt)},
	}
}

// attributes are those of a user: an object in JSON, and NAME=VALUE for people.
type attributes map[string]string

func (a attributes) String() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(a)) {
		all = append(all, name+"="+a[name])
	}
	return strings.Join(all, ", ")
}

// MarshalJSON writes an object, also where there are none.
func (a attributes) MarshalJSON() ([]byte, error) {
	all := map[string]string{}
	maps.Copy(all, a)
	return json.Marshal(all)
}

func allUsers(ctx context.Context, store *storage.Store) ([]storage.User, error) {
	return everything(func(from string) ([]storage.User, string, error) { return store.Users(ctx, from, driver.Page) })
}

func disableUser(ctx context.Context, target Target, args cli.Args) (output, error) {
	return target.setDisabled(ctx, args, true)
}

func enableUser(ctx context.Context, target Target, args cli.Args) (output, error) {
	return target.setDisabled(ctx, args, false)
}

func (r Target) setDisabled(ctx context.Context, args cli.Args, disabled bool) (output, error) {
	u, err := userOf(ctx, r.Store, args.Words[0])
	if err != nil {
		return nil, err
	}
	done, err := r.users().Set(ctx, r.By, u.Sub, useracts.Change{Disabled: &disabled})
	said := answer{{"sub", u.Sub}, {"username", u.Username}, {"disabled", done.After.Disabled}}
	if disabled {
		said = append(said, signedOut(done.Sessions)...)
	}
	return said, err
}

// userOf finds a user by sub or by username. The sub comes first, so that nobody can stand
// in for another user by a name.
func userOf(ctx context.Context, store *storage.Store, who string) (storage.User, error) {
	u, err := store.User(ctx, who)
	if !errors.Is(err, storage.ErrNotFound) {
		return u, err
	}
	login, err := store.Login(ctx, storage.LoginSelf, loginName(who))
	if errors.Is(err, storage.ErrNotFound) {
		login, err = store.Login(ctx, storage.LoginSelf, confusable.Key(who))
	}
	if errors.Is(err, storage.ErrNotFound) {
		return userWithName(ctx, store, who)
	}
	if err != nil {
		return u, err
	}
	return store.User(ctx, login.UserID)
}

// userWithName finds a user whose username is no way to sign in, such as one who came by a provider.
func userWithName(ctx context.Context, store *storage.Store, name string) (storage.User, error) {
	some, err := everything(func(from string) ([]storage.User, string, error) {
		return store.FindUsers(ctx, name, from, driver.Page)
	})
	if err != nil && !errors.Is(err, storage.ErrInvalid) { // no text to look for
		return storage.User{}, err
	}
	key := confusable.Key(name)
	some = slices.DeleteFunc(some, func(u storage.User) bool { return confusable.Key(u.Username) != key })
	switch len(some) {
	case 0:
		return storage.User{}, fmt.Errorf("there is no user %q; list them with: keystile user list", name)
	case 1:
		return some[0], nil
	}
	var subs []string
	for _, u := range some {
		subs = append(subs, u.Sub)
	}
	return storage.User{}, fmt.Errorf("%d users have the username %q; name one by its sub: %s", len(some), name,
		strings.Join(subs[:min(len(subs), 10)], ", "))
}

// loginName returns the text by which usernames were compared before look-alikes were.
func loginName(username string) string { return strings.ToLower(strings.TrimSpace(username)) }

// signedOut says that a user was signed out everywhere.
func signedOut(sessions int) answer {
	return answer{{"sessions_ended", sessions}, {"revoked_before", when(time.Now())}}
}
