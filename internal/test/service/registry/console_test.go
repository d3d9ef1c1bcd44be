package registry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/registry/openapi"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Decision 18.
func TestBodyIsReadOnlyOnceTheCallerIsKnown(t *testing.T) {
	h := newFixture(t)
	mina := h.developer("mina")
	eve := h.visitor(h.user("eve", ""))
	for _, c := range []struct {
		name, cookie string
		headers      []string
		status       int
	}{
		{"nobody", "", nil, 401},
		{"nobody, from another site, without a type", "", []string{"Origin", "https://evil.example.com", "Content-Type", ""},
			401},
		{"who has no role, from another site, without a type", eve,
			[]string{"Origin", "https://evil.example.com", "Content-Type", ""}, 403},
		{"another site, with a form", mina, []string{"Sec-Fetch-Site", "cross-site", "Content-Type", "text/plain"}, 403},
		{"a form", mina, []string{"Content-Type", "application/x-www-form-urlencoded"}, 400},
		{"no type", mina, []string{"Content-Type", ""}, 400},
		{"a type that is none", mina, []string{"Content-Type", "application/json; charset"}, 400},
		{"another JSON", mina, []string{"Content-Type", "application/json5"}, 400},
	} {
		for _, path := range []string{"/register", "/preview"} {
			body := &untouched{}
			a := h.request("POST", all+path, c.cookie, body, c.headers...)
			if a.status != c.status || body.read.Load() {
				t.Errorf("%s at %s = %d, body read: %t, want %d before it is", c.name, path, a.status, body.read.Load(), c.status)
			}
		}
	}
}

// untouched is a body that knows whether somebody has read it.
type untouched struct{ read atomic.Bool }

func (u *untouched) Read([]byte) (int, error) { u.read.Store(true); return 0, io.EOF }

func TestRoleThatWasTakenAwayIsGoneAtOnce(t *testing.T) {
	h := newFixture(t)
	mina := h.user("mina", storage.RoleDeveloper)
	cookie := h.visitor(mina)
	h.want(h.register(cookie, standard("shop", "a")), 200, 1, "a developer")
	mina = must(h.store.User(t.Context(), mina.Sub))(t)
	mina.Role = ""
	mina = must(h.store.SaveUser(t.Context(), mina))(t)
	h.want(h.register(cookie, standard("shop", "b")), 403, 403, "a developer no more")
	mina.Role, mina.Disabled = storage.RoleAdmin, true
	must(h.store.SaveUser(t.Context(), mina))(t)
	h.want(h.request("GET", all, cookie, nil), 401, 401, "a disabled user")
}

func TestVisitorOfAHostWithItsOwnUsers(t *testing.T) {
	userTable := hosts{"u1": {Sub: "u1", Role: storage.RoleDeveloper},
		"u2": {Sub: "u2", Role: storage.RoleAdmin, Disabled: true}}
	h := newFixture(t, func(c *registry.Config) { c.Users, c.Visitors = userTable, userTable })
	h.want(h.register("u1", standard("shop", "a")), 200, 1, "a developer of the host")
	h.want(h.register("u2", standard("shop", "a")), 401, 401, "one the host has disabled")
	h.want(h.register("u3", standard("shop", "a")), 401, 401, "one the host has forgotten")
	h.want(h.register("broken", standard("shop", "a")), 500, 500, "one of whom nothing is known")
}

// hosts takes the cookie for the sub.
type hosts map[string]storage.User

func (h hosts) Visitor(r *http.Request) (storage.Session, error) {
	if r.Header.Get("Cookie") == "broken" {
		return storage.Session{}, errors.New("no answer")
	}
	return storage.Session{UserID: r.Header.Get("Cookie")}, nil
}

func (hosts) Proved(context.Context, storage.Session) (bool, error) { return true, nil }

func (h hosts) User(_ context.Context, sub string) (storage.User, error) {
	if u, known := h[sub]; known {
		return u, nil
	}
	return storage.User{}, fmt.Errorf("sub %s: %w", sub, storage.ErrNotFound)
}

func TestFieldsOfACapabilityAreValidated(t *testing.T) {
	h := newFixture(t)
	mina := h.developer("mina")
	long := strings.Repeat("é", 201)
	for fields, errcode := range map[string]int{
		`"label":"` + long[:400] + `"`: 1, `"label":"` + long + `"`: 4006,
		`"description":"` + strings.Repeat("字", 1024) + `"`: 1, `"description":"` + strings.Repeat("字", 1025) + `"`: 4006,
		`"auth_type":"none"`: 1, `"auth_type":""`: 1, `"auth_type":null`: 1, `"auth_type":"digest"`: 4006, `"auth_type":7`: 4006,
		`"auth_type":"bearer"`: 4006, `"auth_type":"bearer","auth_secret":""`: 4006, `"auth_type":"bearer","auth_secret":"k"`: 1,
		`"auth_type":"bearer","auth_secret":"a\r\nHost: x"`: 4006, `"auth_type":"bearer","auth_secret":"` + strings.Repeat("k", 8<<10+1) + `"`: 4006,
		`"auth_type":"bearer","auth_secret":"\ud800"`: 4006, `"auth_type":"bearer","auth_secret":"` + "\xff" + `"`: 4006, `"auth_type":"bearer","auth_secret":["k"]`: 4006,
		`"auth_type":"basic","auth_secret":"user:pass"`: 1, `"auth_type":"basic","auth_secret":"user"`: 4006,
		`"auth_type":"api_key","auth_secret":"k","auth_in":"query","auth_name":"key"`: 1, `"auth_type":"api_key","auth_secret":"k","auth_in":"header","auth_name":"X-Key"`: 1,
		`"auth_type":"api_key","auth_secret":"k","auth_in":"cookie","auth_name":"k"`: 4006, `"auth_type":"api_key","auth_secret":"k"`: 4006,
		`"auth_type":"api_key","auth_secret":"k","auth_in":"header","auth_name":"Host"`:        4006,
		`"auth_type":"api_key","auth_secret":"k","auth_in":"query","auth_name":"` + long + `"`: 4006,
		`"webhook_url":"https://hooks.example.com"`:                                            1, `"webhook_url":"ftp://hooks.example.com"`: 4006, `"webhook_secret":"x"`: 4006,
		`"webhook_url":"https://hooks.example.com","webhook_secret":"` + strings.Repeat("k", 8<<10+1) + `"`: 4006,
		`"identity":"none"`: 1, `"identity":null`: 1, `"identity":""`: 1, `"identity":"signed"`: 1, `"identity":"Signed"`: 4006,
		`"identity":"signed","identity_subject":"openid","identity_jti":"off"`: 1, `"identity":"headers"`: 403,
		`"identity":"bearer"`: 4006, `"identity":true`: 4006, `"identity":"signed","identity_subject":"email"`: 4006,
		`"identity":"signed","identity_jti":true`: 4006, `"identity_jti":"off"`: 4006, `"identity":"none","identity_subject":"sub"`: 4006,
		`"auth_type":"api_key","auth_secret":"k","auth_in":"header","auth_name":"Keystile_Caller"`: 4006,
		`"publish":true`: 1, `"publish":null`: 1, `"publish":0`: 4006, `"publish":"true"`: 4006, `"resolve_refs":"x"`: 4006, `"lint":1`: 4006,
		`"openapi":null,"tools_static":null`: 1, `"tools_static":{}`: 4006, `"tools_static":"x"`: 4006, `"openapi":[]`: 4002,
		`"label":"x","label":"x"`: 4006, `"x":{"a":1,"b":"\":{,"},"y":[{"c":1}]`: 1, `"lab\u0065l":"x","label":"x"`: 4006,
	} {
		a := h.register(mina, `{"member":"shop","upstream_url":"https://api.example.com",`+fields+`}`)
		if a.body.Code != errcode || (a.status == 200) != (errcode == 1) || a.status != 200 && a.body.Errcode != errcode {
			t.Errorf("%.80s = %d %.200s, want code %d", fields, a.status, a.text, errcode)
		}
	}
}

func TestConsoleRefusesWhatIsNoBody(t *testing.T) {
	h := newFixture(t)
	mina := h.developer("mina")
	for _, body := range []string{"", "null", "7", `"x"`, "[]", "{", `{"member":"shop"}{}`, `{"member":"shop",}`, "{'member':'shop'}", "member=shop", strings.Repeat(`{"a":`, 20_000)} {
		h.want(h.register(mina, body), 400, openapi.ErrcodeBadField, fmt.Sprintf("body %.20q", body))
	}
	h.want(h.register(mina, "\ufeff"+standard("shop", "a")), 200, 1, "a byte order mark")
	h.want(h.request("POST", all+"/register", mina, io.MultiReader(strings.NewReader(standard("shop", "b")), torn{})), 400,
		openapi.ErrcodeBadField, "a body that breaks off")
	if got := h.stored("shop"); !strings.HasSuffix(got, " a") {
		t.Errorf("stored is %s, want what came whole", got)
	}
}

// torn is a connection that breaks.
type torn struct{}

func (torn) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestBodyOverTheLimitIsNotReadToItsEnd(t *testing.T) {
	h := newFixture(t)
	mina := h.developer("mina")
	body := &endless{}
	h.want(h.request("POST", all+"/register", mina, io.MultiReader(strings.NewReader(`{"x":"`), body)), 400, openapi.ErrcodeTooMuch, "an endless body")
	// A document of 16 MiB may come as a string in which each of its bytes is escaped.
	if n := body.read.Load(); n < 32<<20 || n > 34<<20 {
		t.Errorf("%d bytes were read, want what the largest document may take and not much more", n)
	}
}

type endless struct{ read atomic.Int64 }

var blank = bytes.Repeat([]byte("x"), 64<<10)

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, blank)
	e.read.Add(int64(n))
	return n, nil
}

func TestNamesThatAreNames(t *testing.T) {
	h := newFixture(t)
	mina := h.developer("mina")
	for name, good := range map[string]bool{
		"a": true, "A9": true, "9": true, "a-b_c": true, "b-": true, strings.Repeat("a", 48): true, "Register": true,
		"registers": true,
		"":          false, "-a": false, "_a": false, "a_": false, "a__b": false, "a.b": false, "a b": false, "a/b": false,
		"ä":                     false,
		"a\n":                   false,
		strings.Repeat("a", 49): false, "register": false, "preview": false, "..": false, "%2e": false,
	} {
		want, code := 200, 1
		if !good {
			want, code = 400, openapi.ErrcodeBadMember
		}
		body := must(json.Marshal(map[string]any{"member": name, "upstream_url": "https://api.example.com"}))(t)
		h.want(h.register(mina, string(body)), want, code, fmt.Sprintf("member %q", name))
		if !good {
			continue
		}
		h.want(h.request("GET", all+"/"+name, mina, nil), 200, 1, "show "+name)
	}
}

// Decision 35.
func TestCapabilitySecretsAreNeverReturned(t *testing.T) {
	const secret, hook = "sesame-0123456789", "hook-9876543210"
	h := newFixture(t, func(c *registry.Config) { c.Discoverer = leaky{} })
	mina, ada := h.developer("mina"), h.developer("ada")
	body := func(more string) string {
		return fmt.Sprintf(`{"member":"shop","upstream_url":"https://api.example.com","auth_type":"bearer","auth_secret":%q,"webhook_url":"https://hooks.example.com","webhook_secret":%q%s}`, secret, hook, more)
	}
	var text strings.Builder
	for _, more := range []string{"", `,"openapi":` + document("a"), `,"openapi":{}`, `,"auth_in":7`, `,"publish":"` + secret + `"`, `,"label":"x","label":"y"`} {
		for _, cookie := range []string{mina, ada, ""} {
			text.WriteString(h.register(cookie, body(more)).text)
			text.WriteString(h.request("POST", all+"/preview", cookie, strings.NewReader(body(more))).text)
		}
	}
	text.WriteString(h.request("GET", all+"/shop", mina, nil).text + h.request("GET", all, mina, nil).text)
	h.backend.before(func([]driver.Doc) error { return errors.New("disk full") }, nil)
	text.WriteString(h.register(mina, body("")).text + h.request("DELETE", all+"/shop", mina, nil).text)
	fmt.Fprintf(&text, "%s%+v", h.log, h.events)
	for _, s := range []string{secret, hook} {
		if strings.Contains(text.String(), s) {
			t.Errorf("%q is in %s", s, text.String())
		}
	}
	c := must(h.store.Capability(t.Context(), "shop"))(t)
	if c.AuthSecret.Reveal() != secret || c.WebhookSecret.Reveal() != hook {
		t.Errorf("kept are %q and %q, want what calls and events are signed with", c.AuthSecret.Reveal(),
			c.WebhookSecret.Reveal())
	}
}

func TestCredentialThatIsNotUsedIsNotKept(t *testing.T) {
	h := newFixture(t)
	mina := h.developer("mina")
	a := h.register(mina, `{"member":"shop","upstream_url":"https://api.example.com","auth_secret":"sesame","auth_name":"X-Key","auth_in":"header","openapi":`+document("a")+`}`)
	h.want(a, 200, 1, "a secret without a type")
	if !strings.Contains(a.body.Data.Warning, "auth_secret is not kept") {
		t.Errorf("warning = %q, want one", a.body.Data.Warning)
	}
	c := must(h.store.Capability(t.Context(), "shop"))(t)
	if !c.AuthSecret.IsZero() || c.AuthName != "" || c.AuthIn != "" {
		t.Errorf("kept is %q in %q of %q, want nothing", c.AuthSecret.Reveal(), c.AuthName, c.AuthIn)
	}
}

func TestUnknownFieldsAreListedUpToTen(t *testing.T) {
	h := newFixture(t)
	var more strings.Builder
	for i := range 50 {
		fmt.Fprintf(&more, `"z%02d":1,`, i)
	}
	a := h.register(h.developer("mina"), `{`+more.String()+`"member":"shop","upstream_url":"https://api.example.com"}`)
	if s := a.body.Data.Skipped; len(s) != 10 || s[0].Pointer != "/z00" || s[9].Pointer != "/z09" {
		t.Errorf("skipped = %v, want the first ten", s)
	}
}

func TestTextsForUsersHaveNoHiddenCharacters(t *testing.T) {
	h := newFixture(t)
	h.want(h.register(h.developer("mina"), `{"member":"shop","label":" a\u202eb\u0007 ","description":"c\nd\u2066","upstream_url":"https://api.example.com"}`), 200, 1, "odd texts")
	c := must(h.store.Capability(t.Context(), "shop"))(t)
	if c.Label != "ab" || c.Description != "c d" {
		t.Errorf("kept are %q and %q", c.Label, c.Description)
	}
}
