package firstrun

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/keystile/keystile/cmd/keystile/internal/admin"
	"github.com/keystile/keystile/cmd/keystile/internal/demo"
	"github.com/keystile/keystile/storage"
)

// settingDone is the setting that says that the first run is complete: the mark of what it made, a space and the
// name of the node that did. It is "1" where nothing was made, and where a version before made it.
const settingDone = "first_run.done"

// nothingMade is the value of settingDone in a store that commands have filled.
const nothingMade = "1"

// Users makes and knows users with a password; *users.StoreUsers does.
type Users interface {
	Authenticate(ctx context.Context, username, password string) (storage.User, error)
	CreateWith(ctx context.Context, u storage.User, password string,
		write func(storage.User, storage.Login) (storage.User, error)) (storage.User, error)
}

// Config configures Run.
type Config struct {
	Target  admin.Target
	Users   Users
	Path    string // of first-run.json
	BaseURL string
	Demo    bool
	Node    string // what other nodes call this one
	New     bool   // this node has not served from the store before
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
	done, err := c.Target.Store.Setting(ctx, settingDone)
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

// draft is the path of what is drawn until the store has taken it.
func (c Config) draft() string {
	return filepath.Join(filepath.Dir(c.Path), "."+filepath.Base(c.Path)+".draft")
}

// fill makes the draft, then all that it says, then first-run.json of it.
func (c Config) fill(ctx context.Context) (Result, error) {
	p, err := read(c.draft())
	if err == nil && p == nil {
		p, err = read(c.Path) // of a start of a version before, which was killed
	}
	if err != nil {
		return Result{}, err
	}
	if p == nil {
		p = new(Record)
	}
	p.draw(c.BaseURL, c.Demo)
	if err := p.write(c.draft()); err != nil {
		return Result{}, err
	}
	if err := c.create(ctx, p); !errors.Is(err, storage.ErrExists) {
		if err == nil {
			err = os.Rename(c.draft(), c.Path)
		}
		return Result{Made: p}, err
	}
	done, err := c.Target.Store.Setting(ctx, settingDone)
	if err == nil && done == "" { // a command has made a user of that name in this moment
		return Result{}, errors.Join(remove(c.draft()), c.filled(ctx))
	}
	if err != nil {
		return Result{}, err
	}
	return c.later(ctx, done)
}

// create makes everything in one step; storage.ErrExists: somebody else was first.
func (c Config) create(ctx context.Context, p *Record) error {
	var first *storage.App
	set := map[string]string{settingDone: p.mark() + " " + c.Node}
	if p.App != nil {
		app := demo.Draft(c.BaseURL, p.App.draft())
		first, set[demo.SettingClient] = &app, app.ID
	}
	u := storage.User{Username: p.Admin.Username, Role: storage.RoleAdmin, Name: "Administrator", Nickname: "Admin"}
	_, err := c.Users.CreateWith(ctx, u, p.Admin.Password, func(u storage.User, l storage.Login) (storage.User, error) {
		return c.Target.Store.CreateFirst(ctx, u, first, set, l)
	})
	return err
}

// later does what is left to do where the first run is done.
func (c Config) later(ctx context.Context, done string) (r Result, err error) {
	mark, by, _ := strings.Cut(done, " ")
	p, err := read(c.draft())
	switch {
	case p != nil && p.mark() == mark: // the start that made it was killed before it could say so
		if err := os.Rename(c.draft(), c.Path); err != nil {
			return Result{}, err
		}
		r.Made = p
	case p != nil || err != nil: // drawn in vain
		if err := remove(c.draft()); err != nil {
			return Result{}, err
		}
		r.By = by
	case c.New:
		r.By = by
	}
	kept, err := read(c.Path)
	if err != nil {
		kept = nil // it is the reader's own by now
	}
	return r, c.keepUp(ctx, kept)
}

// filled leaves a store as it is that was not filled by a first run. A version before made things one by one, and may
// have been killed in between: then the administrator of first-run.json signs in, and gets what is missing.
func (c Config) filled(ctx context.Context) error {
	if err := remove(c.draft()); err != nil {
		return err
	}
	mark, draft := nothingMade, storage.App{}
	p, err := read(c.Path)
	if err == nil && p != nil && c.signsIn(ctx, p.Admin) {
		p.draw(c.BaseURL, c.Demo)
		if err := p.write(c.Path); err != nil {
			return err
		}
		mark = p.mark() + " " + c.Node
		if p.App != nil {
			draft = p.App.draft()
		}
	}
	if err := c.demo(ctx, draft); err != nil {
		return err
	}
	if err := c.Target.Store.SetNew(ctx, settingDone, mark); !errors.Is(err, storage.ErrExists) {
		return err
	}
	return nil // another node has found the same
}

func (c Config) signsIn(ctx context.Context, a Admin) bool {
	u, err := c.Users.Authenticate(ctx, a.Username, a.Password)
	return err == nil && u.Role == storage.RoleAdmin
}

// demo has the demo's application follow the base_url, and makes it useless where there is no demo.
func (c Config) demo(ctx context.Context, draft storage.App) error {
	if !c.Demo {
		return demo.Suspend(ctx, c.Target.Store, func(id string) error { return c.Target.EndApp(ctx, id) })
	}
	_, err := demo.Register(ctx, c.Target.Store, c.BaseURL, draft)
	return err
}

// keepUp does what later starts do: the demo and first-run.json follow the base_url, and without
// the demo its application is suspended.
func (c Config) keepUp(ctx context.Context, p *Record) error {
	if err := c.demo(ctx, storage.App{}); err != nil {
		return err
	}
	if p == nil || p.BaseURL == c.BaseURL {
		return nil
	}
	p.draw(c.BaseURL, p.App != nil)
	return p.write(c.Path)
}

// empty reports whether there is neither an application nor a user.
func (c Config) empty(ctx context.Context) (bool, error) {
	apps, _, err := c.Target.Store.Apps(ctx, "", "", 1)
	if err != nil {
		return false, err
	}
	users, _, err := c.Target.Store.Users(ctx, "", 1)
	return len(apps)+len(users) == 0, err
}

// remove removes a file that may not be there.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
