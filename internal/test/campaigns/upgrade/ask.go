package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/keystile/keystile/internal/test/released"
	"github.com/keystile/keystile/internal/test/serving"
)

// ask has a service answer for the data that it found, and reports all that it does not know any more. The
// refresh token is exchanged: f holds the next one afterwards.
func (n node) ask(ctx context.Context, c *serving.Client, f *released.Facts) error {
	var all []error
	for name, question := range map[string]func(context.Context, *serving.Client, *released.Facts) error{
		"users": n.askUsers, "tokens": n.askTokens, "tools": n.askTools, "usage": n.askUsage, "trail": n.askTrail,
	} {
		if err := question(ctx, c, f); err != nil {
			all = append(all, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(all...)
}

func (n node) askUsers(ctx context.Context, c *serving.Client, f *released.Facts) error {
	for _, p := range []released.Person{f.User, f.Admin} {
		c.FirstRun.Admin.Username, c.FirstRun.Admin.Password = p.Username, p.Password
		if err := c.SignIn(); err != nil {
			return fmt.Errorf("%s: %w", p.Username, err)
		}
	}
	for _, p := range []released.Person{f.Disabled, f.Guarded} {
		if p.Username == "" {
			continue
		}
		c.FirstRun.Admin.Username, c.FirstRun.Admin.Password = p.Username, p.Password
		if c.SignIn() == nil {
			return fmt.Errorf("%s is signed in by the password alone", p.Username)
		}
	}
	var people []struct{ Username, Role string }
	if err := n.run(ctx, &people, "user", "list"); err != nil {
		return err
	}
	roles := map[string]string{}
	for _, p := range people {
		roles[p.Username] = p.Role
	}
	if roles[f.User.Username] != "developer" || roles[f.Admin.Username] != "admin" {
		return fmt.Errorf("the roles of users are %v", roles)
	}
	c.Cookie = f.Session
	if _, _, err := c.Authorize(); err != nil {
		return fmt.Errorf("the session has ended: %w", err)
	}
	return nil
}

func (n node) askTokens(_ context.Context, c *serving.Client, f *released.Facts) error {
	c.FirstRun.App = serving.App(f.App)
	if a, err := c.Get("/oauth/userinfo", "Authorization", "Bearer "+f.Access); err != nil || a.Status != http.StatusOK {
		return fmt.Errorf("the access token is answered %v, %w", a, err)
	}
	if a, err := c.Get("/oauth/userinfo", "Authorization", "Bearer "+f.Revoked); err != nil ||
		a.Status != http.StatusUnauthorized {
		return fmt.Errorf("the revoked token is answered %v, %w", a, err)
	}
	next, err := c.Refresh(f.Refresh)
	if err != nil {
		return err
	}
	used := f.Refresh
	f.Access, f.Refresh = next.Reply().Access, next.Reply().Refresh
	// Within the leeway it is refused, and ends nothing.
	if a, err := c.Post("/oauth/token", c.Form("grant_type", "refresh_token", "refresh_token", used)); err != nil ||
		a.Status != http.StatusBadRequest {
		return fmt.Errorf("a refresh token that was exchanged is answered %v, %w", a, err)
	}
	return nil
}

func (n node) askTools(_ context.Context, c *serving.Client, f *released.Facts) error {
	a, err := c.Call("/api/mcp", f.APIKey, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`)
	if err != nil {
		return err
	}
	if a.Status != http.StatusOK || !strings.Contains(string(a.Body), `"`+f.Tool+`"`) {
		return fmt.Errorf("tools/list by an API key has no %s: %v", f.Tool, a)
	}
	a, err = c.Get("/api/v1/verify?product=ai", "Authorization", "Bearer "+f.Access)
	if err == nil && a.Status == http.StatusOK {
		f.Calls++
	}
	return err
}

func (n node) askUsage(_ context.Context, c *serving.Client, f *released.Facts) error {
	c.FirstRun.App = serving.App(f.App)
	machine, err := serving.Granted(c.Post("/oauth/token", c.Form("grant_type", "client_credentials")))
	if err != nil {
		return err
	}
	return eventually(func() error {
		is, err := calls(c, machine.Reply().Access, f.At)
		if err == nil && is < f.Calls {
			err = fmt.Errorf("%d calls were charged, and %d are counted", f.Calls, is)
		}
		return err
	})
}

func (n node) askTrail(ctx context.Context, _ *serving.Client, f *released.Facts) error {
	var trail struct {
		Whole  bool
		Lost   int
		Breaks []any
	}
	if err := n.run(ctx, &trail, "audit", "verify", "--head", f.Head); err != nil {
		return err
	}
	if !trail.Whole || trail.Lost != 0 || len(trail.Breaks) > 0 {
		return fmt.Errorf("the trail is %+v", trail)
	}
	return nil
}

// standing asks the commands about a store that nobody serves.
func (n node) standing(ctx context.Context, f released.Facts) error {
	var apps []struct {
		ID string `json:"client_id"`
	}
	if err := n.run(ctx, &apps, "app", "list"); err != nil {
		return err
	}
	for _, app := range apps {
		if app.ID == f.App.ID {
			return n.run(ctx, nil, "storage", "check", "--nodes", "1")
		}
	}
	return fmt.Errorf("app list does not have %s", f.App.ID)
}

// backupName is the backup in a data folder that a release left.
const backupName = "backup.db"

// restored puts the backup that a release left into a new folder, and returns a node on it.
func (n node) restored(ctx context.Context, dir string) (node, error) {
	other := n
	other.data = dir
	if err := os.Mkdir(dir, 0o700); err != nil {
		return other, err
	}
	for _, name := range []string{"master.key", "first-run.json"} {
		text, err := os.ReadFile(filepath.Join(n.data, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			return other, err
		}
	}
	return other, other.run(ctx, nil, "restore", filepath.Join(n.data, backupName))
}
