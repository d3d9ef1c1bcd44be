package console

import (
	"context"
	"errors"
	"strings"

	"github.com/keystile/keystile/gateway/console/internal/apps"
	"github.com/keystile/keystile/gateway/console/internal/billing"
	"github.com/keystile/keystile/gateway/console/internal/groups"
	"github.com/keystile/keystile/gateway/console/internal/overview"
	"github.com/keystile/keystile/gateway/console/internal/people"
	"github.com/keystile/keystile/gateway/console/internal/rules"
	"github.com/keystile/keystile/gateway/console/internal/tools"
	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/console/internal/usage"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/internal/admin/groupacts"
	"github.com/keystile/keystile/internal/admin/toolacts"
	"github.com/keystile/keystile/internal/admin/useracts"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// parts lists what is in the console, in the order of the navigation.
func (s *Console) parts() []ui.Part {
	audit := s.trail
	if audit == nil {
		audit = s.auditTrail()
	}
	records := withTable{s.c.Store, s.c.Table}
	acts := appacts.New(appacts.Config{Store: records, Billing: s.c.Billing, Revoke: s.revoke, Recorder: s.recorder,
		Forget: s.c.ForgetApp})
	clients := appacts.NewClients(appacts.ClientConfig{Store: s.c.Store, Revoke: s.revoke, Recorder: s.recorder,
		Forget: s.c.ForgetApp})
	toolActs := toolacts.New(toolacts.Config{Store: records, Recorder: s.recorder, Reload: s.reload()})
	users := s.users.Part()
	if s.elsewhere() {
		users = people.Elsewhere()
	}
	return []ui.Part{
		s.overview(),
		apps.New(apps.Config{BaseURL: s.c.BaseURL, Store: s.c.Store, Acts: acts, Clients: clients,
			Finder: s.finder}).Part(),
		tools.New(tools.Config{BaseURL: s.c.BaseURL, Store: s.c.Store, Registry: s.c.Registry, Bus: s.c.Bus,
			Acts: toolActs, Stash: s.stash, Sample: s.c.Sample}).Part(),
		rules.New(rules.Config{Store: s.c.Store, User: records.User, Finder: s.finder, Bus: s.c.Bus,
			Ways: s.c.Ways, Acts: toolActs}).Part(),
		users,
		groups.New(groups.Config{Store: s.c.Store, Names: s.names, Finder: s.finder,
			Acts: groupacts.New(groupacts.Config{Store: records, Recorder: s.recorder})}).Part(),
		usage.New(usage.Config{Store: s.c.Store, Reader: s.c.Usage, Finder: s.finder}).Part(),
		billing.New(billing.Config{Store: s.c.Store, Billing: s.c.Billing, Acts: acts, Finder: s.finder}).Part(),
		audit.Part(),
		s.system().Part(),
	}
}

// withTable is the Store, but for the users, who may be a host's own.
type withTable struct {
	*storage.Store
	table Table
}

func (w withTable) User(ctx context.Context, sub string) (storage.User, error) {
	return w.table.User(ctx, sub)
}

// AppsAndUsers asks a host's own table for each user.
func (w withTable) AppsAndUsers(ctx context.Context, ids, subs []string) ([]storage.App, []storage.User, error) {
	if w.table == Table(w.Store) {
		return w.Store.AppsAndUsers(ctx, ids, subs)
	}
	apps, _, err := w.Store.AppsAndUsers(ctx, ids, nil)
	if err != nil {
		return nil, nil, err
	}
	var users []storage.User
	for _, sub := range subs {
		u, err := w.table.User(ctx, sub)
		switch {
		case err == nil:
			users = append(users, u)
		case !errors.Is(err, storage.ErrNotFound):
			return nil, nil, err
		}
	}
	return apps, users, nil
}

// elsewhere reports whether the users are a host's own, and administered there.
func (s *Console) elsewhere() bool {
	return s.c.Users == nil && s.c.Table != nil && s.c.Table != Table(s.c.Store)
}

func (s *Console) revoke(ctx context.Context, rs ...driver.Revocation) error {
	return s.c.Revoker.Revoke(ctx, rs...)
}

// reload returns what makes the bus obey what was changed of its rules.
func (s *Console) reload() func(context.Context) error {
	if s.c.Bus == nil {
		return nil
	}
	return s.c.Bus.Reload
}

// mcp returns the address that agents connect to, "" without a bus.
func (s *Console) mcp() string {
	if s.c.Bus == nil {
		return ""
	}
	return strings.TrimSuffix(s.c.BaseURL, "/") + "/api/mcp"
}

// people makes the pages and endpoints of users.
func (s *Console) people() *people.People {
	c := people.Config{Store: s.c.Store, Names: s.names, Finder: s.finder, InvitationPage: s.c.InvitationPage}
	c.Acts = useracts.Config{Recorder: s.recorder, Ways: s.c.Ways, Revoke: s.revoke,
		Forget: func(sub string) { s.Forget(sub); s.c.ForgetUser(sub) }}
	if s.c.Users != nil {
		c.Acts.Create = s.c.Users.Create
	}
	if s.c.Passwords != nil {
		c.Acts.SetPassword = s.c.Passwords.SetPassword
	}
	if s.c.Lockout != nil {
		c.Acts.Unlock = s.c.Lockout.Unlock
	}
	if s.c.Delays != nil {
		c.WaitUntil, c.Acts.UnlockUser = s.c.Delays.WaitUntil, s.c.Delays.UnlockUser
	}
	return people.New(c)
}

// strangers reports whether somebody may be a user, or become one, whom no operator has made.
func (s *Console) strangers(ctx context.Context) bool {
	if len(s.c.Ways.Open()) > 0 {
		return true
	}
	maybe, err := s.c.Store.MayHaveStrangers(ctx)
	return maybe || err != nil
}

// overview returns the first page.
func (s *Console) overview() ui.Part {
	c := overview.Config{FactorsPath: s.c.FactorsPage, Store: s.c.Store, Reader: s.c.Usage, Nodes: s.c.Nodes,
		Keys: s.c.Keys, Vitals: s.vitals(), Agents: s.c.Bus != nil, Invites: s.c.Users != nil,
		Elsewhere: s.elsewhere()}
	if s.c.Registry != nil {
		c.WhyUnlisted = func(string) string { return "" }
	}
	if s.c.Registry != nil && s.c.Bus != nil {
		c.WhyUnlisted = s.c.Bus.WhyUnlisted
	}
	if s.c.Bus != nil {
		c.Unlisted, c.Strangers = s.c.Bus.Unlisted, s.strangers
	}
	return overview.New(c).Part()
}
