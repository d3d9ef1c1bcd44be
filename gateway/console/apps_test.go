package console_test

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"errors"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// issued asks for a token of an application by its secret.
func (h *fixture) issued(id, secret string) int {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}}
	r := httptest.NewRequest("POST", base+"/oauth/token", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	h.provider.ServeHTTP(w, r)
	return w.Code
}

func data(a answer, name string) string { return fmt.Sprint(a.body.Data[name]) }

// Decision 57: every act is on the trail with before, after and by whom, and its owner is
// notified.
func TestApplicationsWholeLifeByAnAdministrator(t *testing.T) {
	h := newFixture(t)
	root, ada, bob := h.testUser("root", storage.RoleAdmin), h.testUser("ada", ""), h.testUser("bob", "")
	made := h.want(h.do("POST", "/api/console/apps", root.cookie, `{"name":"Shop","domains":["https://Shop.example.com"],"owner":"`+ada.Sub+`","first_party":true,"tier":"white_label"}`), 200, 1, "create")
	id, first := data(made, "client_id"), data(made, "client_secret")
	if data(made, "owner") != ada.Sub || data(made, "first_party") != "true" || data(made, "tier") != "white_label" ||
		data(made, "public") != "false" || h.issued(id, first) != 200 {
		t.Errorf("made is %s", made.text)
	}
	app := "/api/console/apps/" + id
	rotated := h.want(h.do("POST", app+"/secret", root.cookie, `{"overlap_seconds":0}`), 200, 1, "secret")
	second := data(rotated, "client_secret")
	if h.issued(id, first) != 401 || h.issued(id, second) != 200 {
		t.Error("the old secret is valid still, or the new one is not")
	}
	h.want(h.do("PATCH", app, root.cookie, `{"domains":["shop.example.org"],"redirect_uris":["http://shop.example.org/cb"],"allow_http_redirect":true,"forbid_plain":true,"first_party":false}`), 200, 1, "PATCH")
	h.want(h.do("PATCH", app, root.cookie, `{"owner":"`+bob.Sub+`"}`), 200, 1, "given away")
	h.want(h.do("PATCH", app, root.cookie, `{"disabled":true}`), 200, 1, "disabled")
	if got := h.issued(id, second); got == 200 {
		t.Errorf("a disabled application is given tokens: %d", got)
	}
	shown := h.want(h.call("GET", app, root.cookie, nil), 200, 1, "show")
	if data(shown, "disabled") != "true" || data(shown, "owner") != bob.Sub || data(shown, "forbid_plain") != "true" ||
		data(shown, "allow_http_redirect") != "true" || strings.Contains(shown.text, "client_secret") {
		t.Errorf("shown is %s", shown.text)
	}
	h.want(h.do("DELETE", app, root.cookie, ""), 200, 1, "DELETE")
	h.want(h.call("GET", app, root.cookie, nil), 404, 404, "GET of a deleted one")

	trail := h.trail()
	by := id + " by " + root.Sub + ": "
	for _, want := range []string{
		"app create " + by + `name "" -> "Shop"; domains +"shop.example.com"; first_party false -> true; owner "" -> "` + ada.Sub + `"; tier "" -> "white_label"; secret none -> sha256:`,
		"app rotate-secret " + by + "secret sha256:",
		"app set " + by + `domains -"shop.example.com"; domains +"shop.example.org"; redirect_uris +"http://shop.example.org/cb"; held +"domains"; held +"redirect_uris"; first_party true -> false; allow_http_redirect false -> true; forbid_plain false -> true`,
		"app set " + by + `owner "` + ada.Sub + `" -> "` + bob.Sub + `"`,
		"app set " + by + "disabled false -> true",
		"app delete " + by + `name "Shop" -> ""`,
	} {
		if !strings.Contains(trail, want) {
			t.Errorf("the trail has no %s\nin\n%s", want, trail)
		}
	}
	if strings.Contains(trail, first) || strings.Contains(trail, second) {
		t.Error("a secret is on the trail")
	}
	want := []string{
		ada.Sub + `: secret "Shop" application made, its secret shown`,
		ada.Sub + `: secret "Shop" secret rotated`,
		ada.Sub + `: app "Shop" changed: domains, redirect_uris, first_party, allow_http_redirect, forbid_plain`,
		ada.Sub + `: app "Shop" changed: owner`, bob.Sub + `: app "Shop" changed: owner`,
		bob.Sub + `: app "Shop" changed: disabled`,
		bob.Sub + `: app "Shop" application deleted`,
	}
	if !slices.Equal(h.notices, want) {
		t.Errorf("told is\n%s", strings.Join(h.notices, "\n"))
	}
	if len(h.forgot) != 5 {
		t.Errorf("the gateway forgot %v, want it at each change", h.forgot)
	}
}

func TestDisabledApplicationsTokensEnd(t *testing.T) {
	h := newFixture(t)
	root := h.testUser("root", storage.RoleAdmin)
	app := h.app("Shop", "")
	h.want(h.do("PATCH", "/api/console/apps/"+app.ID, root.cookie, `{"disabled":true}`), 200, 1, "disabled")
	rs := must(h.store.Revocations(t.Context(), 0, 10))(t)
	if len(rs) != 1 || rs[0].Kind != driver.RevokeApp || rs[0].ID != app.ID || time.Since(rs[0].Before) > time.Minute {
		t.Errorf("revoked is %+v", rs)
	}
	h.want(h.do("PATCH", "/api/console/apps/"+app.ID, root.cookie, `{"disabled":false}`), 200, 1, "enabled")
	if h.issued(app.ID, app.AppKey().Reveal()) != 200 {
		t.Error("enabled again it is given no token")
	}
}

func TestDeveloperMakesAHundredApplicationsAnAdministratorAsManyAsAreNeeded(t *testing.T) {
	h := newFixture(t)
	mina, root := h.testUser("mina", storage.RoleDeveloper), h.testUser("root", storage.RoleAdmin)
	one := `{"name":"Shop","domains":["shop.example.com"]}`
	for i := range 100 {
		h.want(h.do("POST", "/api/console/apps", mina.cookie, one), 200, 1, fmt.Sprint("application ", i))
	}
	h.want(h.do("POST", "/api/console/apps", mina.cookie, one), 400, 400, "one more")
	h.want(h.do("POST", "/api/console/apps", root.cookie, `{"name":"Shop","domains":["shop.example.com"],"owner":"`+mina.Sub+`"}`), 200, 1, "one more by an administrator")
	a := h.want(h.do("POST", "/api/console/apps", root.cookie, `{"name":"Shop","domains":["shop.example.com"],"owner":""}`), 200, 1, "nobody's")
	if data(a, "owner") != "" {
		t.Errorf("nobody's is %s", a.text)
	}
	for owner, want := range map[string]int{"": 102, mina.Sub: 101, root.Sub: 0} {
		seen := map[string]bool{}
		for after, pages := "", 0; ; pages++ {
			a := h.want(h.call("GET", "/api/console/apps?owner="+owner+"&after="+after, root.cookie, nil), 200, 1, "a page")
			for _, app := range a.body.Data["apps"].([]any) {
				seen[app.(map[string]any)["client_id"].(string)] = true
			}
			if after = data(a, "next"); after == "" || pages > 2 {
				break
			}
		}
		if len(seen) != want {
			t.Errorf("owner %q: %d applications in all pages, want %d", owner, len(seen), want)
		}
	}
}

func TestBadBodyIsRefusedAndStoresNothing(t *testing.T) {
	h := newFixture(t)
	root := h.testUser("root", storage.RoleAdmin)
	app, order := h.waits(h.app("Shop", root.Sub))
	public := must(h.store.SaveApp(t.Context(), storage.App{Name: "Phone", Domains: []string{"localhost"},
		Public: true}))(t)
	one, user := "/api/console/apps/"+app.ID, "/api/console/users/"+root.Sub
	for _, c := range []struct{ method, path, body, want string }{
		{"POST", "/api/console/apps", ``, "domains is missing"},
		{"POST", "/api/console/apps", `[]`, "not a JSON object"},
		{"POST", "/api/console/apps", `{"name":"A","domains":["a.example"],"owner":"nobody"}`, "owner is not"},
		{"POST", "/api/console/apps", `{"name":"A","domains":["a.example"],"owner":7}`, "owner is not a text"},
		{"POST", "/api/console/apps", `{"name":"A","domains":["a.example"],"tier":"gold"}`, "gold"},
		{"POST", "/api/console/apps", `{"name":"A","domains":["a.example"],"disabled":true}`, "no field"},
		{"POST", "/api/console/apps", `{"name":"A","domains":["a.example"],"client_secret":"x"}`, "no field"},
		{"PATCH", one, ``, "nothing to change"},
		{"PATCH", one, `{"first_party":"yes"}`, "true or false"},
		{"PATCH", one, `{"first_party":true,"first_party":false}`, "twice"},
		{"PATCH", one, `{"owner":"ksnobody"}`, "owner is not"},
		{"PATCH", one, `{"redirect_uris":["http://shop.example.com/"]}`, "https"},
		{"PATCH", one, `{"backchannel_logout_uri":"http://shop.example.com/"}`, "https"},
		{"PATCH", one, `{"tier":"enterprise"}`, "tier"},
		{"POST", one + "/secret", `{"overlap_seconds":-1}`, "from 0"},
		{"POST", "/api/console/apps/" + public.ID + "/secret", `{}`, "no secret"},
		{"DELETE", one, `{"really":true}`, "no field"},
		{"GET", "/api/console/apps?after=%1f", ``, "after is"},
		{"GET", "/api/console/apps?owner=a%20b", ``, "owner is"},
		{"GET", "/api/console/orders?status=a%1fb", ``, "as they are"},
		{"POST", "/api/console/orders/" + order + "/approve", `{"until":"tomorrow"}`, "until is"},
		{"POST", "/api/console/orders/" + order + "/approve", `{"until":"1999-01-01"}`, "end"},
		{"POST", "/api/console/orders/" + order + "/reject", `{"reason":7}`, "reason is not a text"},
		{"POST", "/api/console/orders/" + order + "/reject", `{"reason":"` + strings.Repeat("x", 1001) + `"}`, "1,000"},
		{"POST", "/api/console/users", `{"username":"bob"}`, "8 characters"},
		{"POST", "/api/console/users", `{"username":"","password":"` + password + `"}`, "username"},
		{"POST", "/api/console/users", `{"username":"root","password":"` + password + `"}`, "root"},
		{"POST", "/api/console/users", `{"username":"bob","password":"` + password + `","role":"king"}`, "king"},
		{"POST", "/api/console/users", `{"username":"bob","password":"` + password + `","sub":"u1"}`, "no field"},
		{"PATCH", user, `{}`, "nothing to change"},
		{"PATCH", user, `{"role":"king"}`, "king"},
		{"PATCH", user, `{"password":"` + password + `"}`, "no field"},
		{"PATCH", user, `{"nickname":"a\u0000b"}`, "nickname"},
		{"PATCH", user, `{"nickname":"` + strings.Repeat("x", 201) + `"}`, "nickname"},
	} {
		a := h.want(h.call(c.method, c.path, root.cookie, strings.NewReader(c.body), "Content-Type", "application/json"), 400,
			400, c.method+" "+c.path+" "+c.body)
		if !strings.Contains(a.body.Msg, c.want) {
			t.Errorf("%s %s %s says %s, want %q in it", c.method, c.path, c.body, a.body.Msg, c.want)
		}
	}
	h.want(h.do("PATCH", one, root.cookie, `{"name":"`+strings.Repeat("x", 1<<20)+`"}`), 413, 413, "a large body")
	if now := must(h.store.App(t.Context(), app.ID))(t); now.Version != app.Version {
		t.Error("the application was changed")
	}
	if u := must(h.store.User(t.Context(), root.Sub))(t); u.Version != root.Version {
		t.Error("the user was changed")
	}
	if all, _, err := h.store.Apps(t.Context(), "", "", 10); len(all) != 2 || err != nil || len(h.events) > 0 {
		t.Errorf("%d applications, %v, %s", len(all), err, h.trail())
	}
}

// A change that cannot be audited is not answered as a success.
func TestActThatIsNotOnTheTrailIsAFailure(t *testing.T) {
	h := newFixture(t)
	root := h.testUser("root", storage.RoleAdmin)
	h.unsaved = fmt.Errorf("%w: disk full", storage.ErrUnavailable)
	h.want(h.do("POST", "/api/console/apps", root.cookie, `{"name":"Shop","domains":["shop.example.com"]}`), 503, 503, "create")
	h.unsaved = errors.New("broken")
	h.want(h.do("PATCH", "/api/console/users/"+root.Sub, root.cookie, `{"nickname":"R"}`), 500, 500, "PATCH")
}

func TestOrderIsDecidedByAnAdministrator(t *testing.T) {
	h := newFixture(t)
	root, mina := h.testUser("root", storage.RoleAdmin), h.testUser("mina", storage.RoleDeveloper)
	app, order := h.waits(h.app("Shop", mina.Sub))
	at := "/api/console/orders/" + order
	approved := h.want(h.do("POST", at+"/approve", root.cookie, `{"until":"2100-01-01"}`), 200, 1, "approve")
	if data(approved, "status") != "approved" || data(approved, "expires_at") != "2100-01-01T00:00:00Z" ||
		data(approved, "decided_by") != root.Sub || data(approved, "owner") != mina.Sub {
		t.Errorf("approved is %s", approved.text)
	}
	if now := must(h.store.App(t.Context(), app.ID))(t); now.TierAt(time.Now()) != storage.TierWhiteLabel {
		t.Errorf("the tier is %s", now.TierAt(time.Now()))
	}
	h.want(h.do("POST", at+"/reject", root.cookie, ``), 400, 400, "rejecting what is approved")
	other, second := h.waits(h.app("Other", mina.Sub))
	rejected := h.want(h.do("POST", "/api/console/orders/"+second+"/reject", root.cookie, `{"reason":"the invoice of March is open"}`), 200, 1, "reject")
	if data(rejected, "status") != "rejected" || data(h.call("GET", "/api/console/orders/"+second, mina.cookie, nil),
		"reason") != "the invoice of March is open" {
		t.Errorf("rejected is %s", rejected.text)
	}
	h.want(h.do("POST", "/api/console/orders/ornone/approve", root.cookie, ``), 404, 404, "an order that is not there")
	trail := h.trail()
	for _, want := range []string{
		"order approve " + order + " white_label " + app.ID + " by " + root.Sub + `: status "pending" -> "approved"`,
		"order reject " + second + " white_label " + other.ID + " by " + root.Sub + `: status "pending" -> "rejected"; reason "" -> "the invoice of March is open"`,
	} {
		if !strings.Contains(trail, want) {
			t.Errorf("the trail has no %s\nin\n%s", want, trail)
		}
	}
	if !slices.Equal(h.notices, []string{mina.Sub + `: app "Shop" order of white_label approved`, mina.Sub + `: app "Other" order of white_label rejected`}) {
		t.Errorf("told is %q", h.notices)
	}
	if !slices.Equal(h.forgot, []string{app.ID, other.ID}) {
		t.Errorf("the gateway forgot %v", h.forgot)
	}
}

func TestOrdersOfAnApplicationThatIsGivenAwayAreNoLongerItsFormerOwners(t *testing.T) {
	h := newFixture(t)
	root, mina, ada := h.testUser("root", storage.RoleAdmin), h.testUser("mina", storage.RoleDeveloper),
		h.testUser("ada", storage.RoleDeveloper)
	app, order := h.waits(h.app("Shop", mina.Sub))
	h.want(h.do("PATCH", "/api/console/apps/"+app.ID, root.cookie, `{"owner":"`+ada.Sub+`"}`), 200, 1, "given away")
	h.want(h.do("DELETE", "/api/console/orders/"+order, mina.cookie, ""), 404, 404, "the former owner")
	h.want(h.do("DELETE", "/api/console/orders/"+order, ada.cookie, ""), 200, 1, "the new owner")
}
