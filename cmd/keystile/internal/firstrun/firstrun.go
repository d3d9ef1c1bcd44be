package firstrun

import (
	"context"

	"github.com/keystile/keystile/cmd/keystile/internal/admin"
	"github.com/keystile/keystile/cmd/keystile/internal/demo"
	"github.com/keystile/keystile/internal/firstrun"
	"github.com/keystile/keystile/storage"
)

// Users makes and knows users with a password; *users.StoreUsers does.
type Users interface {
	firstrun.Users
	Authenticate(ctx context.Context, username, password string) (storage.User, error)
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

// Record is first-run.json.
type Record = firstrun.Record

// Result says what became of a first run.
type Result = firstrun.Result

// Run does at each start what is to do: the first run, the rest of one that was killed, or
// little.
func Run(ctx context.Context, c Config) (Result, error) {
	return firstrun.Run(ctx, firstrun.Config{
		Store: c.Target.Store, Users: c.Users, Path: c.Path, BaseURL: c.BaseURL, Node: c.Node, New: c.New,
		App: c.application(), NoApp: !c.Demo, Filled: c.filled,
		Later: func(ctx context.Context) error { return c.demo(ctx, storage.App{}) },
	})
}

// application is the demo's.
func (c Config) application() firstrun.Application {
	return firstrun.Application{
		Domains: demo.Domains(c.BaseURL), RedirectURI: demo.RedirectURI(c.BaseURL), Setting: demo.SettingClient,
		Complete: func(a storage.App) storage.App { return demo.Draft(c.BaseURL, a) },
	}
}

// filled leaves a store as it is that was not filled by a first run. A version before made things one by one, and may
// have been killed in between: then the administrator of first-run.json signs in, and gets what is missing.
func (c Config) filled(ctx context.Context) (*Record, error) {
	draft := storage.App{}
	p, err := firstrun.Read(c.Path)
	if err != nil || p == nil || !c.signsIn(ctx, p.Admin) {
		return nil, c.demo(ctx, draft)
	}
	a := c.application()
	p.Draw(c.BaseURL, &a)
	if !c.Demo {
		p.App = nil
	}
	if err := p.Write(c.Path); err != nil {
		return nil, err
	}
	if p.App != nil {
		draft = p.App.Draft()
	}
	return p, c.demo(ctx, draft)
}

func (c Config) signsIn(ctx context.Context, a firstrun.Admin) bool {
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
