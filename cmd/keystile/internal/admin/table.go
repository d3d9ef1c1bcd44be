package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/usage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/toolacts"
	"github.com/keystile/keystile/internal/admin/useracts"
	"github.com/keystile/keystile/internal/logout"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/nodes"
)

// Target holds what the commands work on: the store and the parts of the service.
type Target struct {
	Store      *storage.Store
	Users      Users
	Provider   Provider                       // nil: nobody serves here
	Copy       func(io.Writer) (int64, error) // writes a consistent copy of the database
	Backend    driver.Backend                 // the Store's
	Address    string                         // where the running server listens
	Signed     time.Duration                  // the longest that what a key has signed is valid
	Granted    time.Duration                  // the longest that what was granted is valid
	SigningAlg string                         // of access tokens
	// make the running server read an application or a user anew; nil: no server runs here
	ForgetApp  func(clientID string)
	ForgetUser func(sub string)
	Billing    *billing.Billing // of applications; the running server's, if one serves here
	// of applications and of the whole service; the running server's, if one serves here
	Usage    *usage.Reader
	Registry *registry.Registry // of capabilities
	Keys     *Keyring           // the master keys
	By       admin.Actor        // who acts: execute is given it with each command
	// writes acts on the audit trail; without a Notifier nobody serves here, and nobody is told by mail
	Recorder admin.Recorder

	Unlock func(context.Context, netip.Addr) bool // ends the lockout of an address; nil: nobody serves here
	// makes the running bus read who may use what anew; nil: nobody serves here
	Reload func(context.Context) error
	Nodes  func(context.Context) ([]nodes.Info, error) // that serve from the store
	// the names of the connectors of OpenID Connect that are configured, by issuer
	Issuers map[string]string
	// the names of the connectors that may have a mapping of groups
	Connectors []string
	// Ways returns every way in, and the page that takes invitations; nil: nothing is known of them.
	Ways func() (ways access.Ways, invitationPage string, err error)
	// Unlisted names tools of the running bus that everybody may use only because no list says otherwise, the first
	// n, and counts them; nil: nobody serves here.
	Unlisted func(n int) (names []string, count int)
}

// Users makes users with a password; *users.StoreUsers does.
type Users interface {
	Adopt(ctx context.Context, u storage.User, hash string) (storage.User, storage.Login, error)
	Create(ctx context.Context, u storage.User, password string) (storage.User, error)
	LinkEmail(ctx context.Context, sub, address string) error
	SetPassword(ctx context.Context, sub, password string) error // ErrNotFound: they do not sign in with one
}

// Provider is the running server's, which remembers some of the store; *oauth.Tokens.
type Provider interface {
	Revoke(ctx context.Context, rs ...driver.Revocation) error
	ReloadKeys(ctx context.Context) error
}

// revoke ends what an application (kind app) or a user (kind user) was granted: in a running server at once,
// else in the store, where the next one reads it.
func (r Target) revoke(ctx context.Context, ends ...driver.Revocation) error {
	if r.Provider != nil {
		return r.Provider.Revoke(ctx, ends...)
	}
	for i := range ends {
		if ends[i].Until.IsZero() {
			ends[i].Until = token.Outlives(time.Now(), r.Granted)
		}
	}
	return logout.By(r.Store)(ctx, ends...)
}

// users returns the acts on users.
func (r Target) users() *useracts.Acts { return useracts.New(r.userConfig()) }

func (r Target) userConfig() useracts.Config {
	return useracts.Config{
		Store: r.Store, Create: r.Users.Create, SetPassword: r.Users.SetPassword, CheckPassword: passwords.Check,
		LinkEmail: r.Users.LinkEmail, Mailbox: users.NormalizeEmail,
		Revoke: r.revoke, Recorder: r.Recorder, Forget: r.ForgetUser, Unlock: r.Unlock,
	}
}

// by returns the target for an actor.
func (r Target) by(who admin.Actor) Target {
	r.By = who
	return r
}

// EndApp ends everything that an application was granted until now.
func (r Target) EndApp(ctx context.Context, clientID string) error {
	return r.revoke(ctx, driver.Revocation{Kind: driver.RevokeApp, ID: clientID})
}

// command is one line of the table.
type command struct {
	name     string
	words    []string
	summary  string
	details  string
	examples []string
	flags    []cli.Flag
	acts     bool          // it changes something, by an act of internal/admin; any other command only reads
	hidden   bool          // other commands use it
	brings   bool          // it brings a document, of up to 16 MiB
	scratch  bool          // it needs no data folder: see Opener.Scratch
	asks     string        // what a person is asked before it is done, with a verb for its words
	wait     time.Duration // for the server's answer; 0: half a minute

	// what the process of the caller does, whose files and terminal they are: it reads what flags name, and it shows what
	// was answered; nil: nothing beyond what every command does
	reads func(context.Context, cli.Call) (cli.Args, error)
	shows func(call cli.Call, said string) (string, error)

	do func(context.Context, Target, cli.Args) (output, error)
}

// table is everything an operator can do from the command line, in the server's process or
// in the command's own. Copies of the whole database go other ways: backup.go, restore.go.
var table = slices.Concat(movedCommands, appCommands, billingCommands, usageCommands, userCommands, groupCommands,
	apiKeyCommands, sessionCommands,
	lockoutCommands, nodeCommands, settingCommands, webhookCommands, keyCommands, masterKeyCommands, auditCommands,
	searchCommands, countCommands, pruneCommands, capabilityCommands, pinCommands, accessCommands, bundleCommands,
	applyCommands, clientCommands, issuerCommands, openToolsCommands, importCommands)

// secretFlag is the flag whose value "-" is read from the standard input; so is authFlag.
const secretFlag = "password"

func find(name string) (command, bool) {
	i := slices.IndexFunc(table, func(c command) bool { return c.name == name })
	if i < 0 {
		return command{}, false
	}
	return table[i], true
}

// execute runs a command of the table and returns what it prints.
func execute(ctx context.Context, target Target, name string, args cli.Args) (string, error) {
	c, ok := find(name)
	if !ok {
		return "", fmt.Errorf("the running server does not know %q: it is of another version; restart it", name)
	}
	if err := c.line(Opener{}).Check(args); err != nil {
		return "", &cli.UsageError{Err: err}
	}
	return c.execute(ctx, target, args)
}

// execute runs the command. One that only reads is run by the zero Actor, whom every act refuses.
func (c command) execute(ctx context.Context, target Target, args cli.Args) (string, error) {
	if !c.acts {
		target.By = admin.Actor{}
	}
	said, err := c.do(ctx, target, args)
	unrecorded, untold := (*admin.Unrecorded)(nil), (*admin.Untold)(nil)
	if err != nil && (said == nil || !errors.As(err, &unrecorded) && !errors.As(err, &untold)) {
		return "", plain(err)
	}
	text, failed := said.text(args.On("json"))
	return text, errors.Join(err, failed)
}

// plain says an error of the store in the words of the command line.
func plain(err error) error {
	text := strings.ReplaceAll(err.Error(), storage.ErrInvalid.Error()+": ", "")
	missing := (*toolacts.Missing)(nil)
	switch {
	case errors.As(err, &missing):
		return unknown(missing)
	case errors.Is(err, storage.ErrInvalid):
		return cli.Usage("%s", text)
	case errors.Is(err, storage.ErrExists):
		// what stands behind it are names of the store's own
		before, _, _ := strings.Cut(text, ": "+storage.ErrExists.Error())
		return errors.New(before)
	}
	return err
}

// everything walks the pages of a list.
func everything[T any](page func(from string) ([]T, string, error)) ([]T, error) {
	var all []T
	for from := ""; ; {
		some, next, err := page(from)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		if from = next; next == "" {
			return all, nil
		}
	}
}
