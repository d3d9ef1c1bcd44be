package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/test/forgery"
	"github.com/keystile/keystile/storage"
)

// testUser is a user, and their token for an application.
type testUser struct {
	storage.User
	bearer string
}

// testUser makes a user with a token by which the fixture's first application manages
// their applications for them.
func (h *fixture) testUser(name, role string) testUser {
	h.Helper()
	u := must(h.store.CreateUser(h.Context(), storage.User{Username: name, Role: role},
		storage.Login{Method: storage.LoginSelf, Subject: name}))(h)
	return testUser{u, h.granted(h.app, u.Sub, "openid apps")}
}

// granted returns a token of a user for an application, with a scope.
func (h *fixture) granted(app storage.App, sub, scope string) string {
	h.Helper()
	s := h.service(sub)
	s.ClientID, s.Scope = app.ID, scope
	return forgery.Genuine(h, s)
}

// do sends JSON.
func (h *fixture) do(method, target, bearer, body string) answer {
	return h.send(h.request(method, target, bearer, strings.NewReader(body), "Content-Type", "application/json"))
}

// member returns a text member of the body, found like number.
func (a answer) member(path string) string {
	v := any(a.body)
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	s, _ := v.(string)
	return s
}

// made makes an application and returns its client_id and client_secret.
func (h *fixture) made(p testUser, body string) (id, secret string) {
	h.Helper()
	a := h.want(h.do("POST", "/api/v1/apps", p.bearer, body), 200, "POST /api/v1/apps "+body)
	return a.member("data.client_id"), a.member("data.client_secret")
}

const shop = `{"name":"Shop","domains":["https://Shop.example.com/x"]}`

func TestApplicationWorksFromTheMomentItIsMadeToTheMomentItIsDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		ada := h.testUser("ada", "")
		id, secret := h.made(ada, shop)
		app := must(h.store.App(t.Context(), id))(t)
		if app.Owner != ada.Sub || app.FirstParty || app.Domains[0] != "shop.example.com" || len(secret) != 43 {
			t.Errorf("made is %+v", app)
		}
		bearer := h.bearer(app)
		h.want(h.call("GET", "/ai/200", bearer), 200, "a call of the new application")
		h.want(h.do("PATCH", "/api/v1/apps/"+id, ada.bearer, `{"name":"Store","redirect_uris":["https://shop.example.com/cb"],"legacy_success_code":0}`), 200, "PATCH")
		a := h.want(h.call("GET", "/api/v1/apps/"+id, ada.bearer), 200, "GET")
		if a.member("data.name") != "Store" || a.number("data.legacy_success_code") != 0 ||
			strings.Contains(a.text, secret) || a.member("data.client_secret") != "" {
			t.Errorf("it is shown as %s", a.text)
		}

		renewed := h.want(h.do("POST", "/api/v1/apps/"+id+"/secret", ada.bearer, `{"overlap_seconds":60}`), 200, "secret").member("data.client_secret")
		h.want(h.post("/oauth/token", "", machine(app)), 200, "a token by the old secret")
		time.Sleep(time.Minute)
		h.want(h.post("/oauth/token", "", machine(app)), 401, "a token by the old secret after the overlap")
		fresh := machine(app)
		fresh.Set("client_secret", renewed)
		h.want(h.post("/oauth/token", "", fresh), 200, "a token by the new secret")

		h.want(h.do("DELETE", "/api/v1/apps/"+id, ada.bearer, ""), 200, "DELETE")
		h.want(h.call("GET", "/ai/200", bearer), 401, "a call with a token of before")
		h.want(h.post("/oauth/token", "", fresh), 401, "a token of a deleted application")
		h.want(h.call("GET", "/api/v1/apps/"+id, ada.bearer), 404, "GET of a deleted application")
		h.want(h.do("DELETE", "/api/v1/apps/"+id, ada.bearer, ""), 404, "DELETE again")
		got := fmt.Sprint(h.trail())
		for _, act := range []string{"app create ", "app set ", "app rotate-secret ", "app delete "} {
			if !strings.Contains(got, act+id+" by "+ada.Sub) {
				t.Errorf("the trail has no %q", act)
			}
		}
		if strings.Contains(got, secret) || strings.Contains(got, renewed) {
			t.Error("a secret is on the trail")
		}
	})
}

func TestForeignApplicationIsAsGoodAsNone(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) { c.Plans = unlimited() })
	ada, bob := h.testUser("ada", ""), h.testUser("bob", storage.RoleDeveloper)
	id, _ := h.made(ada, shop)
	order := h.want(h.do("POST", "/api/v1/billing/upgrade", ada.bearer, `{"client_id":"`+id+`","tier":"white_label"}`), 200, "order").member("data.order_id")
	before := must(h.store.App(t.Context(), id))(t)
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/api/v1/apps/ID", ""}, {"PATCH", "/api/v1/apps/ID", `{"name":"Mine"}`}, {"DELETE", "/api/v1/apps/ID", ""},
		{"POST", "/api/v1/apps/ID/secret", ""}, {"POST", "/api/v1/billing/upgrade", `{"client_id":"ID","tier":"enterprise"}`},
		{"GET", "/api/v1/billing/settlements?client_id=ID", ""},
		{"GET", "/api/v1/billing/orders/" + order, ""}, {"DELETE", "/api/v1/billing/orders/" + order, ""},
	} {
		on := func(id string) answer {
			return h.do(c.method, strings.ReplaceAll(c.path, "ID", id), bob.bearer, strings.ReplaceAll(c.body, "ID", id))
		}
		foreign, absent := on(id), on("ksnobody")
		if strings.Contains(c.path, "orders") {
			absent = h.do(c.method, "/api/v1/billing/orders/ornone", bob.bearer, c.body)
		}
		if foreign.status != 404 || foreign.text != absent.text {
			t.Errorf("%s %s: %d %s, absent %d %s", c.method, c.path, foreign.status, foreign.text, absent.status, absent.text)
		}
	}
	if after := must(h.store.App(t.Context(), id))(t); after.Version != before.Version {
		t.Error("it was changed")
	}
	for _, list := range []string{"/api/v1/apps", "/api/v1/billing/orders", "/api/v1/billing/orders?client_id=" + id,
		"/api/v1/billing/settlements"} {
		if a := h.want(h.call("GET", list, bob.bearer), 200, list); strings.Contains(a.text, id) {
			t.Errorf("%s of somebody else: %s", list, a.text)
		}
	}
	// A cursor is an id and not a place in the store: it leads nowhere else.
	if a := h.call("GET", "/api/v1/apps?after="+strings.Repeat("0", 10), bob.bearer); strings.Contains(a.text, id) {
		t.Errorf("by a cursor: %s", a.text)
	}
	h.want(h.call("GET", "/api/v1/apps?after=owner%3D"+ada.Sub+"%1f", bob.bearer), 400, "a cursor that is no id")
}

func TestBadBodyIsRefusedAndStoresNothing(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) { c.Plans = unlimited() })
	ada := h.testUser("ada", "")
	id, _ := h.made(ada, shop)
	app := "/api/v1/apps/" + id
	version := must(h.store.App(t.Context(), id))(t).Version
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/api/v1/apps", ``, 400, "domains is missing"},
		{"POST", "/api/v1/apps", `{}`, 400, "domains is missing"},
		{"POST", "/api/v1/apps", `[]`, 400, "not a JSON object"},
		{"POST", "/api/v1/apps", `null`, 400, "not a JSON object"},
		{"POST", "/api/v1/apps", `7`, 400, "not a JSON object"},
		{"POST", "/api/v1/apps", `{"name":`, 400, "one JSON value"},
		{"POST", "/api/v1/apps", "{\"name\":\"\xff\"}", 400, "UTF-8"},
		{"POST", "/api/v1/apps", shop + shop, 400, "one JSON value"},
		{"POST", "/api/v1/apps", `{"domains":["a.example"]}`, 400, "name"},
		{"POST", "/api/v1/apps", `{"name":"","domains":["a.example"]}`, 400, "name"},
		{"POST", "/api/v1/apps", `{"name":null,"domains":["a.example"]}`, 400, "name is null"},
		{"POST", "/api/v1/apps", `{"name":7,"domains":["a.example"]}`, 400, "name is not a text"},
		{"POST", "/api/v1/apps", `{"name":"A","name":"B","domains":["a.example"]}`, 400, "twice"},
		{"POST", "/api/v1/apps", `{"name":"A","Name":"B","domains":["a.example"]}`, 400, "\"Name\" is no field"},
		{"POST", "/api/v1/apps", `{"name":"A","domains":"a.example"}`, 400, "domains is not a list"},
		{"POST", "/api/v1/apps", `{"name":"A","domains":[null]}`, 400, "domains is not a list"},
		{"POST", "/api/v1/apps", `{"name":"A","domains":[]}`, 400, "domains is missing"},
		{"POST", "/api/v1/apps", `{"name":"A","domains":["*.example.com"]}`, 400, "wildcards"},
		{"POST", "/api/v1/apps", `{"name":"A","domains":["a..example"]}`, 400, "malformed"},
		{"POST", "/api/v1/apps", `{"name":"A","domains":["a.example"],"tier":"enterprise"}`, 400, "/api/v1/billing/upgrade"},
		{"POST", "/api/v1/apps", `{"name":"A","domains":["a.example"],"owner":"u1"}`, 400, "no field"},
		{"POST", "/api/v1/apps", `{"name":"A","domains":["a.example"],"first_party":true}`, 400, "no field"},
		{"POST", "/api/v1/apps", `{"name":"A","domains":["a.example"],"client_secret":"x"}`, 400, "no field"},
		{"POST", "/api/v1/apps", `{"name":"A","domains":["a.example"],"public":"yes"}`, 400, "public is not true or false"},
		{"POST", "/api/v1/apps", `{"name":"A","domains":["a.example"],"id_token_alg":"none"}`, 400, "id_token_alg"},
		{"POST", "/api/v1/apps", `{"name":"A","domains":["a.example"],"public":true,"id_token_alg":"HS256"}`, 400, "ES256"},
		{"POST", "/api/v1/apps", `{"name":"A","domains":["a.example"],"legacy_success_code":2}`, 400, "neither 0 nor 1"},
		{"POST", "/api/v1/apps", `{"name":"A","domains":["a.example"],"legacy_success_code":-1}`, 400, "neither 0 nor 1"},
		{"POST", "/api/v1/apps", `{"name":"A","domains":["a.example"],"legacy_success_code":"1"}`, 400, "0 or 1"},
		{"POST", "/api/v1/apps", `{"name":"A","domains":["a.example"],"legacy_success_code":1e99}`, 400, "0 or 1"},
		{"POST", "/api/v1/apps", `{"name":"A","domains":["a.example"],"redirect_uris":["http://a.example/"]}`, 400, "https"},
		{"POST", "/api/v1/apps", `{"name":"A","domains":["a.example"],"redirect_uris":["https://b.example/"]}`, 400, "b.example"},
		{"POST", "/api/v1/apps", `{"name":"` + strings.Repeat("x", 201) + `","domains":["a.example"]}`, 400, "200 bytes"},
		{"POST", "/api/v1/apps", `{"name":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, 400, "nested"},
		{"POST", "/api/v1/apps", `{"name":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "too large"},
		{"PATCH", app, `{"brand":"red"}`, 400, "brand is not an object"},
		{"PATCH", app, `{"brand":{"color":"red"}}`, 400, "#rrggbb"},
		{"PATCH", app, `{"brand":{"logo":"http://evil.example/x.png"}}`, 400, "logo"},
		{"PATCH", app, `{"brand":{"name":7}}`, 400, "each a text"},
		{"PATCH", app, `{"brand":{"title":"x"}}`, 400, "name, logo and color"},
		{"PATCH", app, `{"brand":{"name":"x","name":"y"}}`, 400, "twice"},
		{"PATCH", app, ``, 400, "nothing to change"},
		{"PATCH", app, `{}`, 400, "nothing to change"},
		{"PATCH", app, `{"public":true}`, 400, "no field"},
		{"PATCH", app, `{"tier":"free"}`, 400, "/api/v1/billing/upgrade"},
		{"PATCH", app, `{"name":""}`, 400, "name"},
		{"PATCH", app, `{"redirect_uris":["https://evil.example/"]}`, 400, "evil.example"},
		{"PATCH", app, `{"backchannel_logout_uri":"https://evil.example/"}`, 400, "evil.example"},
		{"PATCH", app, `{"backchannel_logout_uri":["https://shop.example.com/"]}`, 400, "not a text"},
		{"POST", app + "/secret", `{"overlap_seconds":-1}`, 400, "from 0"},
		{"POST", app + "/secret", `{"overlap_seconds":1.5}`, 400, "whole number"},
		{"POST", app + "/secret", `{"overlap_seconds":99999999999}`, 400, "from 0"},
		{"POST", app + "/secret", `{"secret":"mine"}`, 400, "no field"},
		{"DELETE", app, `{"really":true}`, 400, "no field"},
		{"POST", "/api/v1/billing/upgrade", ``, 400, "tier is none of"},
		{"POST", "/api/v1/billing/upgrade", `{"client_id":"` + id + `"}`, 400, "tier is none of"},
		{"POST", "/api/v1/billing/upgrade", `{"client_id":"` + id + `","tier":"gold"}`, 400, "tier is none of"},
		{"POST", "/api/v1/billing/upgrade", `{"client_id":"` + id + `","tier":"free"}`, 400, "free already"},
		{"POST", "/api/v1/billing/upgrade", `{"client_id":"` + id + `","tier":["free"]}`, 400, "tier is not a text"},
		{"POST", "/api/v1/billing/upgrade", `{"client_id":7,"tier":"white_label"}`, 400, "client_id is not a text"},
		{"POST", "/api/v1/billing/upgrade", `{"client_id":"` + id + `","tier":"white_label","price":1}`, 400, "no field"},
		{"POST", "/api/v1/billing/upgrade", `{"tier":"white_label","tier":"enterprise"}`, 400, "twice"},
		{"GET", "/api/v1/billing/settlements?month=2026-13", ``, 400, "not a month"},
		{"GET", "/api/v1/billing/settlements?month=2026-11-01", ``, 400, "not a month"},
		{"GET", "/api/v1/billing/orders?status=a%1fb", ``, 400, "as they are"},
		{"PUT", app, `{}`, 405, "methods"},
		{"POST", app, `{}`, 405, "methods"},
		{"GET", app + "/secret", ``, 405, "methods"},
		{"GET", "/api/v1/billing/upgrade", ``, 405, "methods"},
	} {
		shown := c.body[:min(len(c.body), 60)]
		a := h.want(h.do(c.method, c.path, ada.bearer, c.body), c.status, c.method+" "+c.path+" "+shown)
		if !strings.Contains(a.member("msg"), c.want) || a.number("code") != int64(c.status) {
			t.Errorf("%s %s %s says %s, want %q in it", c.method, c.path, shown, a.text, c.want)
		}
	}
	r := h.request("POST", "/api/v1/apps", ada.bearer, strings.NewReader(shop), "Content-Type", "text/plain")
	h.want(h.send(r), 400, "another content type")
	if now := must(h.store.App(t.Context(), id))(t); now.Version != version {
		t.Error("the application was changed")
	}
	if all, _, err := h.store.Apps(t.Context(), ada.Sub, "", 100); len(all) != 1 || err != nil {
		t.Errorf("%d applications, %v", len(all), err)
	}
	if all, _, err := h.store.Orders(t.Context(), storage.OrderQuery{}, "", 100); len(all) != 0 || err != nil {
		t.Errorf("%d orders, %v", len(all), err)
	}
}

func TestUserHasAtMostAHundredApplicationsInPagesOfAHundred(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) { c.Plans = unlimited() })
	ada := h.testUser("ada", "")
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for range 10 {
		all.Go(func() {
			for range 11 {
				a := h.do("POST", "/api/v1/apps", ada.bearer, shop)
				mu.Lock()
				statuses[a.status]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if statuses[200] != 100 || statuses[400] != 10 {
		t.Errorf("110 at once are answered %v", statuses)
	}
	if _, err := h.store.SaveApp(t.Context(), storage.App{Name: "One more, by the operator", Owner: ada.Sub}); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for after, pages := "", 0; ; pages++ {
		a := h.want(h.call("GET", "/api/v1/apps?after="+after, ada.bearer), 200, "a page")
		var page struct {
			Data struct {
				Apps []struct {
					ID string `json:"client_id"`
				}
				Next string
			}
		}
		if err := json.Unmarshal([]byte(a.text), &page); err != nil || pages > 2 {
			t.Fatal(pages, err)
		}
		for _, app := range page.Data.Apps {
			seen[app.ID] = true
		}
		if after = page.Data.Next; after == "" {
			break
		}
	}
	if len(seen) != 101 {
		t.Errorf("%d applications in all pages", len(seen))
	}
}
