package gateway_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// owned makes an application of an owner's, by the operator.
func (h *fixture) owned(name, owner string) storage.App {
	h.Helper()
	return must(h.store.SaveApp(h.Context(), storage.App{
		Name: name, Domains: []string{strings.ToLower(name) + ".example.com"}, Owner: owner, FirstParty: true,
	}))(h)
}

// acts are the operations on an application and an order.
var acts = []struct{ method, path, body string }{
	{"GET", "/api/v1/apps/APP", ""},
	{"PATCH", "/api/v1/apps/APP", `{"domains":["evil.example.net"]}`},
	{"DELETE", "/api/v1/apps/APP", ""},
	{"POST", "/api/v1/apps/APP/secret", `{"overlap_seconds":0}`},
	{"POST", "/api/v1/billing/upgrade", `{"client_id":"APP","tier":"enterprise"}`},
	{"GET", "/api/v1/billing/settlements?client_id=APP", ""},
	{"GET", "/api/v1/billing/orders/ORDER", ""},
	{"DELETE", "/api/v1/billing/orders/ORDER", ""},
	{"PATCH", "/api/v1/apps/APP", `{"backchannel_logout_uri":"https://shop.example.com/out"}`},
}

// act does one of the acts.
func (h *fixture) act(i int, bearer, app, order string) answer {
	fill := strings.NewReplacer("APP", app, "ORDER", order)
	return h.do(acts[i].method, fill.Replace(acts[i].path), bearer, fill.Replace(acts[i].body))
}

// wantUntouched fails if anything was done to an application.
func (h *fixture) wantUntouched(before storage.App) {
	h.Helper()
	now, err := h.store.App(h.Context(), before.ID)
	if err != nil || now.Version != before.Version {
		h.Errorf("%s was changed: %v", before.Name, err)
	}
}

// waits makes an order that waits for an application.
func (h *fixture) waits(app storage.App) (storage.App, string) {
	h.Helper()
	order := storage.Order{ID: handle.NewOrderID(time.Now()), AppID: app.ID, Owner: app.Owner, By: app.Owner, From: "free",
		Tier: "enterprise", CreatedAt: time.Now()}
	order.Status, app.Order = storage.OrderContact, order.ID
	order, app, err := h.store.SaveOrder(h.Context(), order, app)
	if err != nil {
		h.Fatal(err)
	}
	return app, order.ID
}

// Decision 52.
func TestSecretOfOneApplicationOpensNoOtherOfTheSameOwner(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) { c.Plans = unlimited() })
	root, ada := h.testUser("root", storage.RoleAdmin), h.testUser("ada", "")
	for name, owner := range map[string]string{"an administrator's": root.Sub, "a user's": ada.Sub, "nobody's": ""} {
		t.Run(name, func(t *testing.T) {
			one := h.owned("One", owner)
			two, order := h.waits(h.owned("Two", owner))
			bearer := h.bearer(one)
			for i, c := range acts {
				foreign, absent := h.act(i, bearer, two.ID, order), h.act(i, bearer, "ksnobody", "ornone")
				if foreign.status != 404 || foreign.text != absent.text {
					t.Errorf("%s %s of another application: %d %s, absent %d %s", c.method, c.path, foreign.status, foreign.text,
						absent.status, absent.text)
				}
			}
			for _, list := range []string{"/api/v1/apps", "/api/v1/apps?after=0", "/api/v1/billing/orders",
				"/api/v1/billing/orders?client_id=" + two.ID, "/api/v1/billing/settlements"} {
				if a := h.want(h.call("GET", list, bearer), 200, list); strings.Contains(a.text, two.ID) {
					t.Errorf("%s shows another application: %s", list, a.text)
				}
			}
			h.wantUntouched(two)
		})
	}
}

// Decision 52.
func TestApplicationMayDoLittleForItself(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) { c.Plans = unlimited() })
	ada := h.testUser("ada", "")
	disabled := h.testUser("carol", "")
	disabled.Disabled = true
	must(h.store.SaveUser(t.Context(), disabled.User))(t)
	for name, owner := range map[string]string{"with an owner": ada.Sub, "without one": "",
		"with one who is disabled": disabled.Sub} {
		t.Run(name, func(t *testing.T) {
			app := h.owned("Own", owner)
			bearer, mine := h.bearer(app), "/api/v1/apps/"+app.ID
			if a := h.want(h.call("GET", "/api/v1/apps", bearer), 200, "list"); strings.Count(a.text, "client_id") != 1 ||
				!strings.Contains(a.text, app.ID) || a.member("data.next") != "" {
				t.Errorf("it lists %s", a.text)
			}
			if a := h.want(h.call("GET", "/api/v1/apps?after="+app.ID, bearer), 200, "the next page"); strings.Contains(a.text,
				app.ID) {
				t.Errorf("behind itself it lists %s", a.text)
			}
			h.want(h.call("GET", mine, bearer), 200, "GET")
			for _, path := range []string{"/api/v1/quota", "/api/v1/usage", "/api/v1/billing/settlements",
				"/api/v1/billing/settlements?client_id=" + app.ID, "/api/v1/billing/orders"} {
				h.want(h.call("GET", path, bearer), 200, path)
			}
			for _, no := range []struct{ method, path, body string }{
				{"POST", "/api/v1/apps", shop}, {"PATCH", mine, `{"domains":["evil.example.net"]}`}, {"PATCH", mine, `{`}, {"DELETE", mine, ""},
			} {
				a := h.want(h.do(no.method, no.path, bearer, no.body), 403, no.method+" "+no.path+" "+no.body)
				if !strings.Contains(a.member("msg"), "scope apps") || !strings.Contains(a.member("msg"), "console") ||
					a.number("code") != 403 {
					t.Errorf("%s %s says %s", no.method, no.path, a.text)
				}
			}
			h.wantUntouched(app)

			order := h.want(h.do("POST", "/api/v1/billing/upgrade", bearer, `{"tier":"white_label"}`), 200, "upgrade").member("data.order_id")
			h.want(h.call("GET", "/api/v1/billing/orders/"+order, bearer), 200, "its order")
			if a := h.call("GET", "/api/v1/billing/orders?client_id="+app.ID, bearer); !strings.Contains(a.text, order) {
				t.Errorf("its orders are %s", a.text)
			}
			h.want(h.do("DELETE", "/api/v1/billing/orders/"+order, bearer, ""), 200, "taking its open order back")

			secret := h.want(h.do("POST", mine+"/secret", bearer, `{"overlap_seconds":0}`), 200, "secret").member("data.client_secret")
			if now := must(h.store.App(t.Context(), app.ID))(t); !now.Authenticates(secret, time.Now()) ||
				len(now.Secrets) != 1 {
				t.Error("the new secret is not its only one")
			}
		})
	}
}

// A decided order binds more than the application: only users cancel it.
func TestApplicationTakesBackNoDecidedOrder(t *testing.T) {
	h := newFixture(t)
	app := h.owned("Own", "")
	app, err := h.gateway.Billing().SetTier(t.Context(), app.ID, "enterprise", "root", time.Time{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	bearer := h.bearer(app)
	order := h.want(h.do("POST", "/api/v1/billing/upgrade", bearer, `{"tier":"free"}`), 200, "downgrade").member("data.order_id")
	h.want(h.do("DELETE", "/api/v1/billing/orders/"+order, bearer, ""), 403, "taking back what is agreed on")
	if o := must(h.store.Order(t.Context(), order))(t); o.Status != storage.OrderApproved {
		t.Errorf("it is %s", o.Status)
	}
}

// Decision 52.
func TestUsersTokenWithoutTheScopeAppsManagesNothing(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) { c.Plans = unlimited() })
	for _, role := range []string{"", storage.RoleDeveloper, storage.RoleAdmin} {
		ada := h.testUser("ada"+role, role)
		own, order := h.waits(h.owned("Own", ada.Sub))
		for _, through := range []storage.App{h.app, own} { // and for any user's application
			for _, scope := range []string{"openid", "openid profile email app tools", "openid App apps:x application"} {
				bearer := h.granted(through, ada.Sub, scope)
				all := []answer{h.do("POST", "/api/v1/apps", bearer, shop), h.call("GET", "/api/v1/apps", bearer),
					h.call("GET", "/api/v1/billing/orders", bearer), h.call("GET", "/api/v1/billing/settlements", bearer)}
				for i := range acts {
					all = append(all, h.act(i, bearer, own.ID, order), h.act(i, bearer, "ksnobody", "ornone"))
				}
				for _, a := range all {
					if a.status != 403 || a.header.Get("WWW-Authenticate") != `Bearer error="insufficient_scope", scope="apps"` || a.number("code") != 403 || a.number("errcode") != 403 || !strings.Contains(a.member("msg"), "scope apps") {
						t.Errorf("role %q, scope %q: %d %v %s", role, scope, a.status, a.header, a.text)
					}
				}
				for _, open := range []string{"/api/v1/quota", "/api/v1/usage", "/api/v1/billing/plans", "/api/v1/verify"} {
					h.want(h.call("GET", open, bearer), 200, open)
				}
			}
		}
		h.wantUntouched(own)
		if all, _, _ := h.store.Apps(t.Context(), ada.Sub, "", 10); len(all) != 1 {
			t.Errorf("%d applications", len(all))
		}
	}
}

// Decision 52: an administrator's powers are in the console and the CLI.
func TestBearerTokenNeverCarriesAdministratorPowers(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) { c.Plans = unlimited() })
	root := h.testUser("root", storage.RoleAdmin)
	carols, order := h.waits(h.owned("Carols", h.testUser("carol", "").Sub))
	nobodys := h.owned("Nobodys", "")
	through := h.owned("Through", root.Sub)
	for name, bearer := range map[string]string{
		"with the scope apps": root.bearer, "through their own application": h.granted(through, root.Sub, "apps"),
		"of their application": h.bearer(through),
	} {
		for i, c := range acts {
			for _, app := range []storage.App{carols, nobodys} {
				if a := h.act(i, bearer, app.ID, order); a.status != 404 {
					t.Errorf("%s: %s %s of %s = %d %s", name, c.method, c.path, app.Name, a.status, a.text)
				}
			}
		}
	}
	h.wantUntouched(carols)
	h.wantUntouched(nobodys)
	if a := h.want(h.do("POST", "/api/v1/apps", root.bearer, shop), 200, "an application of the administrator's"); !strings.Contains(a.text, `"first_party":false`) {
		t.Errorf("made by a bearer token it is asked for no consent: %s", a.text)
	}
	h.want(h.call("GET", "/api/v1/apps/"+through.ID, root.bearer), 200, "an application of their own")
}

// The consent to the scope apps lets any application manage.
func TestAppsScopeLetsAnApplicationManageForItsUser(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) { c.Plans = unlimited() })
	ada, bob := h.testUser("ada", ""), h.testUser("bob", "")
	own := h.owned("Own", ada.Sub)
	bobs := h.owned("Bobs", bob.Sub)
	h.want(h.call("GET", "/api/v1/apps/"+own.ID, h.granted(bobs, ada.Sub, "openid apps")), 200,
		"through an application of somebody else's")
	h.want(h.call("GET", "/api/v1/apps/"+bobs.ID, h.granted(bobs, ada.Sub, "openid apps")), 404, "that application itself")
	h.want(h.do("POST", "/api/v1/billing/upgrade", h.granted(bobs, ada.Sub, "openid apps"), `{"tier":"white_label"}`), 404, "an order for that application, which is the default")
	ada.Disabled = true
	must(h.store.SaveUser(t.Context(), ada.User))(t)
	h.want(h.call("GET", "/api/v1/apps", ada.bearer), 403, "a disabled user")
}

// A request without permission is refused before its body is read.
func TestPermissionsAreCheckedBeforeTheBodyIsRead(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) { c.Plans = unlimited() })
	ada := h.testUser("ada", "")
	own := h.owned("Own", ada.Sub)
	for _, c := range []struct {
		bearer string
		status int
	}{{"", 401}, {h.granted(h.app, ada.Sub, "openid"), 403}} {
		for _, at := range []string{"POST /api/v1/apps", "PATCH /api/v1/apps/" + own.ID,
			"POST /api/v1/apps/" + own.ID + "/secret", "POST /api/v1/billing/upgrade", "DELETE /api/v1/apps/" + own.ID} {
			method, path, _ := strings.Cut(at, " ")
			body := &untouched{}
			a := h.send(h.request(method, path, c.bearer, body, "Content-Type", "application/json"))
			if a.status != c.status || body.read.Load() {
				t.Errorf("%s = %d, body read: %t, want %d before it is", at, a.status, body.read.Load(), c.status)
			}
		}
	}
}

// untouched is a body that records whether it was read.
type untouched struct{ read atomic.Bool }

func (u *untouched) Read([]byte) (int, error) { u.read.Store(true); return 0, io.EOF }

// postbox is a Notifier that keeps what it is given.
type postbox struct {
	mu  sync.Mutex
	got []string
}

func (p *postbox) Notify(_ context.Context, sub string, n event.Notice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.got = append(p.got, fmt.Sprintf("%s %s %q %s from %v by %s", sub, n.Kind, n.App, n.Detail, n.IP, n.Agent))
}

// Decision 57.
func TestChangeOfAnApplicationIsOnTheTrailAndItsOwnerIsNotified(t *testing.T) {
	mails := &postbox{}
	h := newFixture(t, func(c *gateway.Config) { c.Notifier, c.Plans = mails, unlimited() })
	ada := h.testUser("ada", "")
	id, first := h.made(ada, shop)
	app := must(h.store.App(t.Context(), id))(t)
	send := func(method, path, bearer, body string) answer {
		return h.want(h.send(h.request(method, path, bearer, strings.NewReader(body), "Content-Type", "application/json",
			"User-Agent", "curl/8")), 200, method+" "+path+" "+body)
	}
	mine := "/api/v1/apps/" + id
	send("PATCH", mine, ada.bearer, `{"name":"Store","domains":["shop.example.com","new.example.com"],"redirect_uris":["https://new.example.com/cb"]}`)
	send("PATCH", mine, ada.bearer, `{"name":"Shop"}`) // no mail for this
	send("PATCH", mine, ada.bearer, `{"backchannel_logout_uri":"https://new.example.com/out"}`)
	second := send("POST", mine+"/secret", h.bearer(app), "").member("data.client_secret")
	send("DELETE", mine, ada.bearer, "")
	got := []string{}
	for _, e := range h.trail() {
		if e.Kind == event.Admin {
			got = append(got, e.Detail)
		}
	}
	for _, want := range []string{
		"app create " + id + " by " + ada.Sub + ": ",
		"app set " + id + " by " + ada.Sub + `: name "Shop" -> "Store"; domains +"new.example.com"; redirect_uris +"https://new.example.com/cb"`,
		"app set " + id + " by " + ada.Sub + `: backchannel_logout_uri "" -> "https://new.example.com/out"`,
		"app rotate-secret " + id + " by " + id + ": secret sha256:",
		"app delete " + id + " by " + ada.Sub + `: name "Shop" -> ""; domains -"new.example.com"; domains -"shop.example.com"`,
	} {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("the trail has no %s\nin %s", want, strings.Join(got, "\n"))
		}
	}
	for _, secret := range []string{first, second} {
		if strings.Contains(fmt.Sprint(got, mails.got), secret) {
			t.Error("a secret is on the trail or in the mail")
		}
	}
	want := []string{
		ada.Sub + ` secret "Shop" application made, its secret shown from 192.0.2.1 by `,
		ada.Sub + ` app "Store" changed: domains, redirect_uris from 192.0.2.1 by curl/8`,
		ada.Sub + ` app "Shop" changed: backchannel_logout_uri from 192.0.2.1 by curl/8`,
		ada.Sub + ` secret "Shop" secret rotated from 192.0.2.1 by curl/8`,
		ada.Sub + ` app "Shop" application deleted from 192.0.2.1 by curl/8`,
	}
	if fmt.Sprintf("%q", mails.got) != fmt.Sprintf("%q", want) {
		t.Errorf("the owner is told\n%s\nwant\n%s", strings.Join(mails.got, "\n"), strings.Join(want, "\n"))
	}
}

// Nobody reads half of a change: what is longer than one event goes on in the next.
func TestLongChangeIsOnTheTrailWhole(t *testing.T) {
	h := newFixture(t)
	ada := h.testUser("ada", "")
	id, _ := h.made(ada, shop)
	var hosts []string
	for i := range 50 {
		hosts = append(hosts, fmt.Sprintf("%s-%02d.example.com", strings.Repeat("h", 50), i))
	}
	h.want(h.do("PATCH", "/api/v1/apps/"+id, ada.bearer, `{"domains":["`+strings.Join(hosts, `","`)+`"]}`), 200, "PATCH")
	got := ""
	for _, e := range h.trail() {
		got += e.Detail + "\n"
	}
	for _, host := range hosts {
		if !strings.Contains(got, "+\""+host) {
			t.Errorf("%s is not on the trail", host)
		}
	}
}
