package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/serving"
)

// kept is what an installation must not lose.
type kept struct {
	*serving.Client      // with the cookie of the administrator's session
	sub, access, refresh string
	ada                  string // a user's sub
	app                  serving.App
	bearer               string // of that application
	calls, records       int
}

// use does with a first start what people do.
func use(t *testing.T, d debian, address string) *kept {
	t.Helper()
	c, err := serving.NewClient(address, d.path("var/lib/keystile"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	k := &kept{Client: c}
	if err := c.SignIn(); err != nil {
		t.Fatal(err)
	}
	k.signedIn(t)
	k.sub = k.userinfo(t)
	var user struct{ Sub string }
	read(t, d.keystile(t, "user", "create", "--username", "ada", "--password", "the first program"), &user)
	k.ada = user.Sub
	read(t, d.keystile(t, "app", "create", "--name", "Shop", "--domain", "shop.example.com"), &k.app)
	a, err := serving.Granted(c.Post("/oauth/token", url.Values{"grant_type": {"client_credentials"},
		"client_id": {k.app.ID}, "client_secret": {k.app.Secret}}))
	if err != nil {
		t.Fatal(err)
	}
	k.bearer = a.Reply().Access
	k.call(t)
	if err := os.Remove(d.path("var/lib/keystile/first-run.json")); err != nil { // as INSTALL.md says
		t.Error(err)
	}
	return k
}

// signedIn has the session give the demo's application a code, and that its tokens.
func (k *kept) signedIn(t *testing.T) {
	t.Helper()
	code, verifier, err := k.Authorize()
	if err != nil {
		t.Fatalf("the session: %v", err)
	}
	a, err := k.Exchange(code, verifier)
	if err != nil {
		t.Fatal(err)
	}
	if k.access == "" { // the first one is asked for to the end
		k.access, k.refresh = a.Reply().Access, a.Reply().Refresh
	}
}

func (k *kept) userinfo(t *testing.T) string {
	t.Helper()
	a, err := k.Get("/oauth/userinfo", "Authorization", "Bearer "+k.access)
	var claims struct{ Sub string }
	if err == nil {
		err = a.JSON(&claims)
	}
	if err != nil || a.Status != http.StatusOK || claims.Sub == "" {
		t.Errorf("userinfo is answered %v, %v", a, err)
	}
	return claims.Sub
}

// call makes a call that is charged.
func (k *kept) call(t *testing.T) {
	t.Helper()
	a, err := k.Get("/api/v1/verify?product=ai", "Authorization", "Bearer "+k.bearer)
	if err != nil || a.Status != http.StatusOK {
		t.Errorf("a call is answered %v, %v", a, err)
	}
	k.calls++
}

// check holds a start to what was there before it.
func (k *kept) check(t *testing.T, d debian, when string) {
	t.Helper()
	k.signedIn(t)
	if sub := k.userinfo(t); sub != k.sub {
		t.Errorf("%s the token is of %s, want %s", when, sub, k.sub)
	}
	a, err := k.Refresh(k.refresh)
	if err != nil {
		t.Errorf("%s the refresh token: %v", when, err)
	}
	k.refresh = a.Reply().Refresh
	if users := d.keystile(t, "user", "list"); !strings.Contains(users, `"sub":"`+k.ada+`"`) {
		t.Errorf("%s the user is gone: %s", when, users)
	}
	a, err = k.Post("/oauth/signin", url.Values{"username": {"ada"}, "password": {"the first program"}})
	if err != nil || !strings.Contains(a.Header.Get("Set-Cookie"), "open_sso_token=") {
		t.Errorf("%s the user signs in: %v, %v", when, a, err)
	}
	if app := d.keystile(t, "app", "show", k.app.ID); !strings.Contains(app, `"name":"Shop"`) {
		t.Errorf("%s the application is gone: %s", when, app)
	}
	k.call(t)
	now := time.Now().UTC()
	span := url.Values{"from": {now.AddDate(0, 0, -2).Format(time.DateOnly)},
		"to": {now.AddDate(0, 0, 2).Format(time.DateOnly)}}
	var usage struct {
		Data struct{ Totals map[string]int }
	}
	if a, err = k.Get("/api/v1/usage?"+span.Encode(), "Authorization", "Bearer "+k.bearer); err == nil {
		err = a.JSON(&usage)
	}
	if err != nil || usage.Data.Totals["ai"] != k.calls {
		t.Errorf("%s %d calls were made, and usage is %v, %v", when, k.calls, a, err)
	}
	var trail struct {
		Whole         bool
		Records, Lost int
	}
	read(t, d.keystile(t, "audit", "verify"), &trail)
	if !trail.Whole || trail.Lost > 0 || trail.Records <= k.records {
		t.Errorf("%s the audit trail is %+v, and had %d records", when, trail, k.records)
	}
	k.records = trail.Records
}

func read(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}
