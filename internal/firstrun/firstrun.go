package firstrun

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/keystile/keystile/storage"
)

// SettingDone is the setting that says that the first run is complete: the mark of what it made, a space and the
// name of the node that did. It is "1" where nothing was made, and where a version before made it.
const SettingDone = "first_run.done"

// nothingMade is the value of SettingDone in a store that somebody has filled.
const nothingMade = "1"

// Users makes users with a password; *users.StoreUsers does.
type Users interface {
	CreateWith(ctx context.Context, u storage.User, password string,
		write func(storage.User, storage.Login) (storage.User, error)) (storage.User, error)
}

// Store has the methods of storage that Run needs.
type Store interface {
	Apps(ctx context.Context, owner, after string, n int) ([]storage.App, string, error)
	Users(ctx context.Context, after string, n int) ([]storage.User, string, error)
	Setting(ctx context.Context, name string) (string, error)
	SetNew(ctx context.Context, name, value string) error
	CreateFirst(ctx context.Context, u storage.User, app *storage.App, set map[string]string,
		by ...storage.Login) (storage.User, error)
}

// Application says what the application is like.
type Application struct {
	Domains     []string
	RedirectURI string                        // for the Record; it may be ""
	Setting     string                        // gets the client_id; "": none does
	Complete    func(storage.App) storage.App // adds the rest to the id, the secret and the domains
}

// Config configures Run.
type Config struct {
	Store   Store
	Users   Users
	Path    string // of the file that gets the secrets
	BaseURL string
	Node    string // what other nodes call this one
	New     bool   // this node has not served from the store before
	App     Application
	NoApp   bool // none is made

	// Filled is called where somebody has filled the store before the first run. It returns the Record of what a
	// version before has made, if that is what the store was filled with. nil: there is nothing to do.
	Filled func(ctx context.Context) (*Record, error)
	Later  func(ctx context.Context) error // called at each start after the first; nil: there is nothing to do
}

// Result says what became of a first run.
type Result struct {
	Made *Record // the first run was completed now: show it, this once
	By   string  // another node has completed it, and this one has just come: its name
}

// Run does at each start what is to do: the first run, the rest of one that was killed, or
// little.
func Run(ctx context.Context, c Config) (Result, error) {
	empty, err := c.empty(ctx) // before the setting, which comes in the same step as what would be found here
	if err != nil {
		return Result{}, err
	}
	done, err := c.Store.Setting(ctx, SettingDone)
	if err != nil {
		return Result{}, err
	}
	if done != "" {
		return c.later(ctx, done)
	}
	if !empty {
		return Result{}, c.filled(ctx)
	}
	return c.fill(ctx)
}

// DraftOf returns the path of what is drawn for a file until the store has taken it.
func DraftOf(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".draft")
}

// application returns what is made; nil: none.
func (c Config) application() *Application {
	if c.NoApp {
		return nil
	}
	return &c.App
}

// fill makes the draft, then all that it says, then the file of it.
func (c Config) fill(ctx context.Context) (Result, error) {
	draft := DraftOf(c.Path)
	p, err := Read(draft)
	if err == nil && p == nil {
		p, err = Read(c.Path) // of a start of a version before, which was killed
	}
	if err != nil {
		return Result{}, err
	}
	if p == nil {
		p = new(Record)
	}
	p.Draw(c.BaseURL, c.application())
	if err := p.Write(draft); err != nil {
		return Result{}, err
	}
	if err := c.create(ctx, p); !errors.Is(err, storage.ErrExists) {
		if err == nil {
			err = os.Rename(draft, c.Path)
		}
		return Result{Made: p}, err
	}
	done, err := c.Store.Setting(ctx, SettingDone)
	if err == nil && done == "" { // a command has made a user of that name in this moment
		return Result{}, c.filled(ctx)
	}
	if err != nil {
		return Result{}, err
	}
	return c.later(ctx, done)
}

// create makes everything in one step; storage.ErrExists: somebody else was first.
func (c Config) create(ctx context.Context, p *Record) error {
	var first *storage.App
	set := map[string]string{SettingDone: p.mark() + " " + c.Node}
	if p.App != nil {
		app := c.App.Complete(p.App.Draft())
		first = &app
		if c.App.Setting != "" {
			set[c.App.Setting] = app.ID
		}
	}
	u := storage.User{Username: p.Admin.Username, Role: storage.RoleAdmin, Name: "Administrator", Nickname: "Admin"}
	_, err := c.Users.CreateWith(ctx, u, p.Admin.Password, func(u storage.User, l storage.Login) (storage.User, error) {
		return c.Store.CreateFirst(ctx, u, first, set, l)
	})
	return err
}

// later does what is left to do where the first run is done.
func (c Config) later(ctx context.Context, done string) (r Result, err error) {
	draft := DraftOf(c.Path)
	mark, by, _ := strings.Cut(done, " ")
	p, err := Read(draft)
	switch {
	case p != nil && p.mark() == mark: // the start that made it was killed before it could say so
		if err := os.Rename(draft, c.Path); err != nil {
			return Result{}, err
		}
		r.Made = p
	case p != nil || err != nil: // drawn in vain
		if err := remove(draft); err != nil {
			return Result{}, err
		}
		r.By = by
	case c.New:
		r.By = by
	}
	kept, err := Read(c.Path)
	if err != nil {
		kept = nil // it is the reader's own by now
	}
	return r, c.keepUp(ctx, kept)
}

// keepUp does what later starts do: the addresses in the file follow the base_url.
func (c Config) keepUp(ctx context.Context, p *Record) error {
	if c.Later != nil {
		if err := c.Later(ctx); err != nil {
			return err
		}
	}
	if p == nil || p.BaseURL == c.BaseURL {
		return nil
	}
	a := &c.App
	if p.App == nil {
		a = nil
	}
	p.Draw(c.BaseURL, a)
	return p.Write(c.Path)
}

// filled leaves a store as it is that was not filled by a first run.
func (c Config) filled(ctx context.Context) error {
	if err := remove(DraftOf(c.Path)); err != nil {
		return err
	}
	mark := nothingMade
	if c.Filled != nil {
		p, err := c.Filled(ctx)
		if err != nil {
			return err
		}
		if p != nil {
			mark = p.mark() + " " + c.Node
		}
	}
	if err := c.Store.SetNew(ctx, SettingDone, mark); !errors.Is(err, storage.ErrExists) {
		return err
	}
	return nil // another node has found the same
}

// empty reports whether there is neither an application nor a user.
func (c Config) empty(ctx context.Context) (bool, error) {
	apps, _, err := c.Store.Apps(ctx, "", "", 1)
	if err != nil {
		return false, err
	}
	users, _, err := c.Store.Users(ctx, "", 1)
	return len(apps)+len(users) == 0, err
}

// remove removes a file that may not be there.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
