package keystile

import (
	"context"
	"errors"
	"net/url"

	"github.com/keystile/keystile/internal/firstrun"
	"github.com/keystile/keystile/internal/landing"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

// firstRun fills an empty store, if the Config says where the secrets go.
func (s *Service) firstRun(ctx context.Context, c *Config) error {
	if c.FirstRun == "" {
		return nil
	}
	if !c.Users.In(s.Store) {
		return errors.New("keystile: FirstRun makes an administrator in the Store, and the Users are not those of " +
			"the Store: leave it empty")
	}
	host := c.BaseURL
	if origin, err := url.Parse(c.BaseURL); err == nil {
		host = origin.Hostname()
	}
	r, err := firstrun.Run(ctx, firstrun.Config{
		Store: s.Store, Users: users.New(s.Store, c.SignIn.Passwords), Path: c.FirstRun, BaseURL: c.BaseURL,
		Node: s.Nodes.Name(),
		App: firstrun.Application{Domains: []string{host}, Complete: func(a storage.App) storage.App {
			a.Name = "First application"
			return a
		}},
	})
	if err != nil {
		return err
	}
	if r.Made != nil {
		c.Log.InfoContext(ctx, "the first run has made an administrator and an application: their password and secret "+
			"are in a file that only this user can read", "file", c.FirstRun)
	}
	if r.By != "" {
		c.Log.InfoContext(ctx, "another node was first and has made what there is: its file has the password and the "+
			"secret", "node", r.By)
	}
	return nil
}

// places returns what a person opens, in the order of the page that says what is here.
func places(base string) []landing.Link {
	return []landing.Link{
		{Name: "sign_in", Label: "Sign in", URL: base + "/oauth/signin"},
		{Name: "console", Label: "Console", URL: base + "/console/"},
		{Name: "account", Label: "Your account at this service", URL: base + "/oauth/account"},
		{Name: "discovery", Label: "Discovery document", URL: base + "/.well-known/openid-configuration"},
	}
}

// sayWhatIsServed answers at "/", unless the host does, and says in the log what is where.
func (s *Service) sayWhatIsServed(ctx context.Context, c *Config) {
	to := places(c.BaseURL)
	nobodys := reply.NewMux(c.Log, landing.Route(to))
	nobodys.Unknown = landing.NothingHere
	s.routes.Unknown = nobodys
	said := []any{"base_url", c.BaseURL}
	for _, place := range to {
		said = append(said, place.Name, place.URL[len(c.BaseURL):])
	}
	said = append(said, "tools", mcpbus.Path, "gateway", "/api/v1/", "aggregated_login", "/connect.php")
	switch {
	case c.Users.Creator != nil:
	case c.Users.In(s.Store):
		said = append(said, "left_out", "the console makes no users with a password: Users has no Creator")
	default:
		said = append(said, "left_out", "the console has no pages of users: they are the host's own, without a Creator")
	}
	c.Log.InfoContext(ctx, "the service is made", said...)
}
