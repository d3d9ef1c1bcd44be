package legacy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/md5sign"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/legacy"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// Decision 19.
func TestGuessingKeysIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		address := "203.0.113.7"
		h := newFixture(t, from(&address))
		guess := func() answer { return h.connect("query", "appkey", "wrong", "social_uid", "x") }
		for range 15 {
			guess().refuses(t, "a wrong key", 103)
			h.call(request("GET", "/check_token", form("appid", "1000", "timestamp", unix(time.Now()), "sign", "x", "token",
				"x"))).refuses(t, "a wrong sign", 103)
		}
		for what, a := range map[string]answer{"a guess": guess(), "the right key": h.connect("query", "social_uid", "x")} {
			if a.status != 429 || a.number("errcode") != 429 || a.number("code") != -1 || a.header.Get("Retry-After") != "60" {
				t.Errorf("%s after 30 wrong ones = %d %s, Retry-After %q, want 429 and 60 s", what, a.status, a.raw,
					a.header.Get("Retry-After"))
			}
		}
		address = "203.0.113.8"
		h.connect("query", "social_uid", "x").refuses(t, "the right key from elsewhere", 106)
		address = "203.0.113.7"
		time.Sleep(time.Minute)
		h.connect("query", "social_uid", "x").refuses(t, "the right key a minute later", 106)
	})
}

// Decision 19: names that somebody makes up have one count by address, and none
// of the applications that there are.
func TestGuessesAtMadeUpApplicationsCountTogether(t *testing.T) {
	h := newFixture(t)
	for i := range 62 {
		a := h.call(request("GET", "/connect.php", form("act", "query", "appid", fmt.Sprint("made up ", i), "appkey", "wrong",
			"type", "qq", "social_uid", "x")))
		if (a.status == 429) != (i >= 60) {
			t.Errorf("guess %d = %d %s, want 429 from the 61st on", i+1, a.status, a.raw)
		}
	}
	h.connect("query", "social_uid", "x").refuses(t, "an application from there", 106)
}

func TestIPv6LineCountsAsOneGuesser(t *testing.T) {
	address := ""
	h := newFixture(t, from(&address))
	for i := range 31 {
		address = fmt.Sprintf("2001:db8::%x", i+1)
		if a := h.connect("query", "appkey", "wrong"); (a.status == 429) != (i == 30) {
			t.Errorf("guess %d from one /64 = %d %s", i+1, a.status, a.raw)
		}
	}
}

func TestEventHasTheOutcome(t *testing.T) {
	h := newFixture(t)
	h.connect("query", "social_uid", "x").refuses(t, "query", 106)
	if e := h.trail.last(); e.Status != 404 || e.Detail != "query plain" || e.App != "1000" || e.Kind != event.Legacy ||
		e.Path != "/connect.php" {
		t.Errorf("event = %+v, want a plain query with status 404", e)
	}
	h.connect("query", "appkey", "wrong")
	if e := h.trail.last(); e.Status != 401 || e.Detail != "query" || e.App != "" {
		t.Errorf("event = %+v, want a query by nobody", e)
	}
}

func TestApplicationMayRequestCodeOneExplicitly(t *testing.T) {
	h := newFixture(t)
	h.change(func(a *storage.App) { a.LegacySuccessCode = new(1) })
	h.connect("login", "redirect_uri", redirect).wants(t, "login", 1)
}

func TestSecretThatAWrongClockRefusesIsNoGuess(t *testing.T) {
	h := newFixture(t)
	for range 40 {
		h.connect("login", "timestamp", "1", "sign", "x").refuses(t, "a wrong clock", 105)
		h.connect("login", "appkey", "-").refuses(t, "no appkey", 101)
	}
	h.connect("login", "redirect_uri", redirect).wants(t, "login", 1)
}

// movedTo is a count that moves to applications.
type movedTo func(app storage.App) error

func (m movedTo) Move(_ context.Context, app storage.App) error     { return m(app) }
func (m movedTo) MoveTo(context.Context, bool, ...reqctx.Key) error { return nil }

// Decision 24.
func TestApplicationThatProvesItselfIsCounted(t *testing.T) {
	h := newFixture(t)
	over := &reply.Failure{Status: 429, Msg: "too many requests", Header: http.Header{"Retry-After": {"7"}}}
	var moved []string
	send := func(v url.Values, path string, err error) answer {
		r := request("GET", path, v)
		seen := &reqctx.Visit{Context: r.Context(),
			Mover: movedTo(func(app storage.App) error { moved = append(moved, app.ID); return err })}
		return h.call(r.WithContext(seen))
	}
	for what, c := range map[string]struct {
		v    url.Values
		path string
		want []string
	}{
		"login":           {form("act", "login", "appid", "1000", "appkey", appKey), "/connect.php", []string{"1000"}},
		"a signed login":  {h.signed(form("act", "login", "appid", "1000")), "/connect.php", []string{"1000"}},
		"check_token":     {form("appid", "1000", "appkey", appKey), "/check_token.php", []string{"1000"}},
		"a wrong key":     {form("act", "login", "appid", "1000", "appkey", "x"), "/connect.php", nil},
		"an unknown app":  {form("act", "login", "appid", "9", "appkey", "x"), "/connect.php", nil},
		"an open check":   {form("act", "check_sso", "appid", "1000"), "/connect.php", nil},
		"a token alone":   {form("token", "x"), "/check_token.php", nil},
		"a proven check":  {form("act", "check_sso", "appid", "1000", "appkey", appKey), "/connect.php", []string{"1000"}},
		"a proven lookup": {form("act", "query", "appid", "1000", "appkey", appKey), "/connect.php", []string{"1000"}},
	} {
		moved = nil
		send(c.v, c.path, nil)
		if !slices.Equal(moved, c.want) {
			t.Errorf("%s: counted against %v, want %v", what, moved, c.want)
		}
	}
	a := send(form("act", "login", "appid", "1000", "appkey", appKey, "redirect_uri", redirect), "/connect.php", over)
	if a.status != 429 || a.number("code") != -1 || a.number("errcode") != 429 || a.header.Get("Retry-After") != "7" {
		t.Errorf("over its rate = %d %s, want 429 with code -1", a.status, a.raw)
	}
}

func TestPublicApplicationOpensNothingHere(t *testing.T) {
	h := newFixture(t)
	public := h.register(storage.App{ID: "3000", Public: true})
	for _, key := range []string{"", "x"} {
		h.connect("login", "appid", public.ID, "appkey", key, "redirect_uri", redirect).refuses(t, "login", 103)
	}
	v := form("act", "callback", "appid", public.ID, "code", "x", "timestamp", unix(time.Now()))
	v.Set("sign", md5sign.Of(storage.App{Secrets: []storage.AppSecret{{Secret: storage.NewSecret(" ")}}}, v))
	h.call(request("GET", "/connect.php", v)).refuses(t, "a signed callback", 103)
	r := request("GET", "/connect.php", form("act", "check_sso", "appid", public.ID, "redirect_uri", redirect))
	r.AddCookie(&http.Cookie{Name: "open_sso_token", Value: h.session})
	h.call(r).refuses(t, "check_sso by redirect", 103)
}

func TestGuardOpensWithBothKeysDuringARotation(t *testing.T) {
	h := newFixture(t)
	h.change(func(a *storage.App) {
		a.Secrets = append([]storage.AppSecret{{Secret: storage.DrawSecret()}}, a.Secrets...)
		a.Secrets[1].ExpiresAt = time.Now().Add(time.Hour)
	})
	h.connect("login", "redirect_uri", redirect).wants(t, "login with the old key", 1)
	h.connect("login", "redirect_uri", redirect, "appkey", h.app.AppKey().Reveal()).wants(t, "login with the new key", 1)
}

func TestSecretsAreInNeitherAddressesNorTheLog(t *testing.T) {
	var log bytes.Buffer
	h := newFixture(t, func(c *legacy.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	signed := h.signed(form("act", "login", "appid", "1000", "redirect_uri", redirect))
	code := h.code()
	token := h.callback(code).text("access_token")
	h.backend.fail = errors.New("disk on fire")
	h.callback(code)
	h.call(request("GET", "/check_token.php", form("token", token, "appid", "1000", "appkey", appKey)))
	h.backend.fail = nil
	if !strings.Contains(log.String(), "disk on fire") {
		t.Fatal("the log holds nothing: nothing is tested")
	}
	to := h.call(request("GET", "/connect.php", signed)).wants(t, "login", 1).text("url")
	for name, secret := range map[string]string{"appkey": appKey, "sign": signed.Get("sign"), "code": code,
		"token": token} {
		if strings.Contains(log.String(), secret) || strings.Contains(to, secret) {
			t.Errorf("the %s is in the log or in the sign-in address", name)
		}
		for _, e := range h.trail.events {
			if strings.Contains(fmt.Sprint(e), secret) {
				t.Errorf("the %s is in an event: %+v", name, e)
			}
		}
	}
}

func TestNewReportsEveryMistakeInTheConfig(t *testing.T) {
	_, err := legacy.New(t.Context(), legacy.Config{BaseURL: "https://id.example.com/", Types: []string{"self", "Sina!"},
		ErrorStatus: "never"})
	for _, want := range []string{"BaseURL", "Store", "Users", "Provider", "Verifier", "Visitors", `"Sina!"`,
		`"never"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New = %v, want a complaint about %s", err, want)
		}
	}
}

func TestTypesAreThoseThatAreOffered(t *testing.T) {
	types := []string{"wx", "email"}
	h := newFixture(t, func(c *legacy.Config) { c.Types = types })
	types[0] = "qq" // the caller's list is the caller's
	for requests, want := range map[string]string{"": "wx", "wx": "wx", "email": "email"} {
		if got := h.connect("login", "redirect_uri", redirect, "type", requests).wants(t, "login",
			1).text("type"); got != want {
			t.Errorf("login with type %q: type = %q, want %q", requests, got, want)
		}
	}
	h.connect("login", "redirect_uri", redirect, "type", "self").refuses(t, "a type that is off", 104)
}

func TestEndpointWhoseBackendFailsReportsIt(t *testing.T) {
	h := newFixture(t, func(c *legacy.Config) { c.Provider = broken{c.Provider} })
	a := h.callback(h.code())
	if a.status != 500 || a.number("code") != -1 || a.number("errcode") != 301 ||
		strings.Contains(a.raw, "secret detail") {
		t.Errorf("callback = %d %s, want 500 with errcode 301 and no detail", a.status, a.raw)
	}
}

type broken struct{ legacy.Provider }

func (broken) Access(context.Context, driver.Token) (string, error) {
	return "", errors.New("secret detail")
}

// Decision 95: it came after these endpoints, and anybody can make one.
func TestApplicationThatNobodyRegisteredIsUnknownHere(t *testing.T) {
	h := newFixture(t)
	id := client.DynamicPrefix + "stranger"
	must(h.store.SaveApp(t.Context(), storage.App{ID: id, Name: "Stranger", Public: true, Client: &client.Description{
		Kind: client.Dynamic, AuthMethod: client.AuthNone, RedirectURIs: []string{"https://evil.example/cb"},
	}}))(t)
	for _, pairs := range [][]string{{"redirect_uri", "https://evil.example/cb"}, nil} {
		w := h.serve(request("GET", "/connect.php", form(append([]string{"act", "check_sso", "appid", id}, pairs...)...)))
		unknown := h.serve(request("GET", "/connect.php",
			form(append([]string{"act", "check_sso", "appid", "3000"}, pairs...)...)))
		if w.Header().Get("Location") != "" || w.Body.String() != unknown.Body.String() {
			t.Errorf("check_sso with %q = %d to %q: %s, want what an unknown one is answered: %s", pairs, w.Code,
				w.Header().Get("Location"), w.Body, unknown.Body)
		}
	}
}
