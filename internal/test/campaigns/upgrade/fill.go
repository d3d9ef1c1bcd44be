package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/keystile/keystile/internal/test/released"
	"github.com/keystile/keystile/internal/test/serving"
)

const document = `{"openapi":"3.0.3","info":{"title":"Weather","version":"1"},"paths":{"/forecast":{"get":{
	"operationId":"forecast","parameters":[{"name":"city","in":"query","required":true,"schema":{"type":"string"}}],"responses":{"200":{"description":"ok"}}}}}}`

const charges = 7

// fill has a service make something of everything that outlives it, from outside, and says what. Each round has
// names of its own.
func (n node) fill(ctx context.Context, c *serving.Client, round string) (f released.Facts, err error) {
	f.At = time.Now().UTC().Truncate(time.Second)
	f.Admin = released.Person(c.FirstRun.Admin)
	f.App = released.App(c.FirstRun.App)
	f.User = released.Person{Username: "ada" + round, Password: "Weather-in-June-" + round}
	f.Disabled = released.Person{Username: "bob" + round, Password: "Weather-in-May-" + round}
	for _, step := range []func(context.Context, *serving.Client, *released.Facts, string) error{n.people, n.tools,
		n.tokens, n.others} {
		if err := step(ctx, c, &f, round); err != nil {
			return f, err
		}
	}
	return f, nil
}

func (n node) people(ctx context.Context, c *serving.Client, f *released.Facts, round string) error {
	for _, p := range []released.Person{f.User, f.Disabled} {
		if err := n.run(ctx, nil, "user", "create", "--username", p.Username, "--password", p.Password, "--role", "developer",
			"--email", p.Username+"@example.com"); err != nil {
			return err
		}
	}
	if err := n.run(ctx, nil, "user", "disable", f.Disabled.Username); err != nil {
		return err
	}
	var key struct{ Key string }
	if err := n.run(ctx, &key, "apikey", "create", f.User.Username, "--name", "build", "--scope", "tools"); err != nil {
		return err
	}
	f.APIKey = key.Key
	if err := c.SignIn(); err != nil {
		return err
	}
	f.Session = c.Cookie
	return nil
}

func (n node) tools(ctx context.Context, c *serving.Client, f *released.Facts, round string) error {
	file := filepath.Join(n.data, "weather.json")
	if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
		return err
	}
	defer os.Remove(file)
	member := "weather" + round
	f.Tool = member + "__forecast"
	if err := n.run(ctx, nil, "capability", "register", member, "--upstream", "https://weather.example.com/v1",
		"--openapi", file,
		"--auth-type", "bearer", "--auth-secret", "the upstream's secret", "--webhook-url",
		"https://weather.example.com/hook"); err != nil {
		return err
	}
	return n.run(ctx, nil, "capability", "access", member, "--allow", "user:"+f.User.Username)
}

func (n node) tokens(ctx context.Context, c *serving.Client, f *released.Facts, round string) error {
	if err := n.run(ctx, nil, "tier", "set", f.App.ID, "enterprise"); err != nil { // whose rate nothing here reaches
		return err
	}
	code, verifier, err := c.Authorize()
	if err != nil {
		return err
	}
	first, err := c.Exchange(code, verifier)
	if err != nil {
		return err
	}
	f.Used = first.Reply().Refresh
	second, err := c.Refresh(f.Used)
	if err != nil {
		return err
	}
	f.Access, f.Refresh = second.Reply().Access, second.Reply().Refresh
	if code, verifier, err = c.Authorize(); err != nil {
		return err
	}
	other, err := c.Exchange(code, verifier)
	if err != nil {
		return err
	}
	f.Revoked = other.Reply().Access
	if _, err := c.Revoke(f.Revoked); err != nil {
		return err
	}
	machine, err := serving.Granted(c.Post("/oauth/token", c.Form("grant_type", "client_credentials")))
	if err != nil {
		return err
	}
	for range charges {
		a, err := c.Get("/api/v1/verify?product=ai", "Authorization", "Bearer "+machine.Reply().Access)
		if err != nil || a.Status != http.StatusOK {
			return fmt.Errorf("a charged call is answered %v, %v", a, err)
		}
	}
	return eventually(func() (err error) {
		f.Calls, err = calls(c, machine.Reply().Access, f.At)
		if err == nil && f.Calls < charges {
			err = fmt.Errorf("%d of %d calls are counted", f.Calls, charges)
		}
		return err
	})
}

// calls returns what the application of a token was charged with in the days around a time.
func calls(c *serving.Client, token string, at time.Time) (int64, error) {
	span := url.Values{"from": {at.AddDate(0, 0, -3).Format(time.DateOnly)},
		"to": {at.AddDate(0, 0, 3).Format(time.DateOnly)}}
	a, err := c.Get("/api/v1/usage?"+span.Encode(), "Authorization", "Bearer "+token)
	var usage struct {
		Data struct{ Totals map[string]int64 }
	}
	if err == nil {
		err = a.JSON(&usage)
	}
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("usage is answered %v", a)
	}
	return usage.Data.Totals["ai"], err
}

// others are records that nothing asks for again but storage check and the typed reader.
func (n node) others(ctx context.Context, c *serving.Client, f *released.Facts, round string) error {
	for _, args := range [][]string{
		{"key", "rotate"},
		{"user", "invite", "--role", "developer"},
		{"client", "trust", "agents" + round + ".example.com"},
		{"app", "create", "--name", "Shop" + round, "--domain", "shop.example.com", "--owner", f.User.Username},
		{"setting", "set", "mcp.default_access", "owner"},
		{"webhook", "set", "--url", "https://hooks.example.com/users"},
		{"capability", "bundle", "create", "b" + round, "--tools", "weather" + round + "__forecast"},
		{"user", "create", "--username", "eve" + round, "--password", "Weather-in-July"},
		{"user", "erase", "eve" + round, "--yes"},
	} {
		if err := n.run(ctx, nil, args...); err != nil {
			return err
		}
	}
	if err := n.run(ctx, nil, "audit", "prune", "--before",
		time.Now().UTC().Add(-time.Millisecond).Format(time.RFC3339Nano)); err != nil {
		return err
	}
	var trail struct{ Heads []string }
	if err := n.run(ctx, &trail, "audit", "verify"); err != nil {
		return err
	}
	f.Head = trail.Heads[0]
	return nil
}
