package firstrun

import (
	"context"
	"errors"
	"time"

	"github.com/keystile/keystile/cmd/keystile/admin"
	"github.com/keystile/keystile/cmd/keystile/demo"
	"github.com/keystile/keystile/storage"
)

// settingDone is the setting that says that the first run is complete.
const settingDone = "first_run.done"

// Config configures Run.
type Config struct {
	Target  admin.Target
	Path    string // of first-run.json
	BaseURL string
	Demo    bool
}

// Run does at each start what is to do: the first run, the rest of one that was killed, or
// little. It returns the Record if the first run was completed now: show it, this once.
func Run(ctx context.Context, c Config) (*Record, error) {
	done, err := c.Target.Store.Setting(ctx, settingDone)
	if err != nil {
		return nil, err
	}
	record, err := read(c.Path)
	switch {
	case done != "" && err != nil:
		return nil, c.keepUp(ctx, nil) // first-run.json is the reader's own by now
	case err != nil:
		return nil, err
	case done != "":
		return nil, c.keepUp(ctx, record)
	case record == nil:
		empty, err := c.empty(ctx)
		if err != nil {
			return nil, err
		}
		if !empty {
			return nil, errors.Join(c.keepUp(ctx, nil), c.Target.Store.Set(ctx, settingDone, "1"))
		}
		record = new(Record)
	}
	return record, c.fill(ctx, record)
}

// fill makes what the Record says: first its file, last the mark that it is done.
func (c Config) fill(ctx context.Context, p *Record) error {
	p.draw(c.BaseURL, c.Demo)
	if err := p.write(c.Path); err != nil {
		return err
	}
	if err := c.admin(ctx, p.Admin); err != nil {
		return err
	}
	if p.App != nil {
		draft := storage.App{ID: p.App.ClientID}
		draft.Secrets = []storage.AppSecret{{Secret: storage.NewSecret(p.App.ClientSecret), CreatedAt: time.Now().UTC()}}
		if _, err := demo.Register(ctx, c.Target.Store, c.BaseURL, draft); err != nil {
			return err
		}
	}
	if err := c.suspend(ctx); err != nil { // a run that was killed had a demo, and this one has none
		return err
	}
	return c.Target.Store.Set(ctx, settingDone, "1")
}

// suspend makes the demo's application useless where there is no demo.
func (c Config) suspend(ctx context.Context) error {
	if c.Demo {
		return nil
	}
	return demo.Suspend(ctx, c.Target.Store, func(id string) error { return c.Target.EndApp(ctx, id) })
}

// admin makes the administrator.
func (c Config) admin(ctx context.Context, a Admin) error {
	_, err := c.Target.Users.Create(ctx, storage.User{
		Username: a.Username, Role: storage.RoleAdmin, Name: "Administrator", Nickname: "Admin",
	}, a.Password)
	if errors.Is(err, storage.ErrExists) { // made by the run that was killed
		return nil
	}
	return err
}

// keepUp does what later starts do: the demo and first-run.json follow the base_url, and without
// the demo its application is suspended.
func (c Config) keepUp(ctx context.Context, p *Record) error {
	if c.Demo {
		if _, err := demo.Register(ctx, c.Target.Store, c.BaseURL, storage.App{}); err != nil {
			return err
		}
	}
	if err := c.suspend(ctx); err != nil {
		return err
	}
	if p == nil || p.BaseURL == c.BaseURL {
		return nil
	}
	p.draw(c.BaseURL, false)
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
