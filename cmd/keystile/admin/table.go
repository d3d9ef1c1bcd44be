package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/storage"
)

// Rooms is what the commands work on.
type Rooms struct {
	Store *storage.Store
	Users Users
}

// Users makes users with a password; *signin.StoreUsers does.
type Users interface {
	Create(ctx context.Context, u storage.User, password string) (storage.User, error)
}

// command is one line of the table.
type command struct {
	name     string
	words    []string
	summary  string
	details  string
	examples []string
	flags    []cli.Flag
	do       func(context.Context, Rooms, cli.Args) (answer, error)
}

// table is everything an operator can do from the command line.
var table = []command{
	{
		name: "app create", summary: "Register an application", do: createApp,
		details:  "It prints the client_secret once: it can not be asked for again.",
		examples: []string{"keystile app create --name Shop --domain shop.example.com --json", "keystile app create --name Phone --domain localhost --public"},
		flags: []cli.Flag{
			{Name: "name", Value: "NAME", Help: "what people see at sign-in", Need: true},
			{Name: "domain", Value: "HOST", Help: "a host that users may be sent back to, host[:port]", Need: true, Many: true},
			{Name: "redirect-uri", Value: "URI", Help: "an exact address; if any is given, only these are allowed", Many: true},
			{Name: "public", Help: "it can keep no secret (browser, phone): PKCE instead"},
			{Name: "tier", Value: "TIER", Help: "free, white_label or enterprise (free)"},
			{Name: "id-token-alg", Value: "ALG", Help: "HS256, ES256, RS256 or EdDSA (HS256; ES256 if public)"},
			{Name: "owner", Value: "USERNAME", Help: "whose it is (the first administrator)"},
		},
	},
	{
		name: "user create", summary: "Create a user who signs in with a password", do: createUser,
		examples: []string{"keystile user create --username ada --password - --role developer < password.txt"},
		flags: []cli.Flag{
			{Name: "username", Value: "NAME", Help: "what the user types at sign-in", Need: true},
			{Name: secretFlag, Value: "PASSWORD", Help: "at least 8 characters; - reads a line of the standard input, which keeps it out of the process list", Need: true},
			{Name: "role", Value: "ROLE", Help: "admin or developer (neither)"},
			{Name: "nickname", Value: "NAME", Help: "what applications are told"},
			{Name: "email", Value: "ADDRESS", Help: "what applications are told"},
		},
	},
	{
		name: "setting set", words: []string{"KEY", "VALUE"}, summary: "Change a setting, at once and for good", do: setSetting,
		details:  settingsHelp(),
		examples: []string{"keystile setting set " + storage.SettingForcePKCE + " 1"},
	},
	{
		name: "setting get", words: []string{"KEY"}, summary: "Show a setting", do: getSetting,
		details: settingsHelp(), examples: []string{"keystile setting get " + storage.SettingForcePKCE},
	},
}

// secretFlag is the flag whose value "-" is read from the standard input.
const secretFlag = "password"

func find(name string) (command, bool) {
	i := slices.IndexFunc(table, func(c command) bool { return c.name == name })
	if i < 0 {
		return command{}, false
	}
	return table[i], true
}

// execute runs a command of the table and returns what it prints.
func execute(ctx context.Context, rooms Rooms, name string, args cli.Args) (string, error) {
	c, ok := find(name)
	if !ok {
		return "", fmt.Errorf("the running server does not know %q: it is of another version; restart it", name)
	}
	if err := c.line(nil).Check(args); err != nil {
		return "", &cli.UsageError{Err: err}
	}
	a, err := c.do(ctx, rooms, args)
	if err != nil {
		return "", plain(err)
	}
	return a.text(args.On("json"))
}

// plain says an error of the store in the words of the command line.
func plain(err error) error {
	text := strings.ReplaceAll(err.Error(), storage.ErrInvalid.Error()+": ", "")
	switch {
	case errors.Is(err, storage.ErrInvalid):
		return cli.Usage("%s", text)
	case errors.Is(err, storage.ErrExists):
		return errors.New(strings.TrimSuffix(text, ": "+storage.ErrExists.Error()))
	}
	return err
}
