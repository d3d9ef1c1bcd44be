package console_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

func TestApplicationIsMadeChangedAndDeletedOnPages(t *testing.T) {
	h := newFixture(t)
	eve, root, ada, audrey := h.testUser("eve", ""), h.testUser("root", storage.RoleAdmin),
		h.testUser("ada", storage.RoleDeveloper), h.testUser("audrey", storage.RoleAuditor)
	form := url.Values{"form": {h.formOn(h.open("/console/apps/new", eve.cookie))}, "do": {"new"}, "name": {`<script>alert("1")</script>`}, "domains": {"shop.example.com"}, "redirect_uris": {"https://shop.example.com/cb"}}
	made := h.send("/console/apps/new", eve.cookie, form)
	all, _, err := h.store.Apps(t.Context(), eve.Sub, "", 2)
	if err != nil || len(all) != 1 || made.Code != 200 || strings.Contains(made.Body.String(), "<script>alert") {
		t.Fatalf("%d applications, %v, %d %s", len(all), err, made.Code, made.Body)
	}
	app := all[0]
	if !strings.Contains(made.Body.String(), app.AppKey().Reveal()) || !strings.Contains(h.trail(), "app create "+app.ID) {
		t.Errorf("it is made without its secret, or without a record: %s", made.Body)
	}
	if twice := h.send("/console/apps/new", eve.cookie, form); twice.Code != 409 {
		t.Errorf("sent again it is %d", twice.Code)
	}
	path := "/console/apps/" + app.ID
	for who, want := range map[string]int{eve.cookie: 200, audrey.cookie: 200, ada.cookie: 404, "": 401} {
		page := h.open(path, who)
		if page.Code != want || strings.Contains(page.Body.String(), app.AppKey().Reveal()) ||
			strings.Contains(page.Body.String(), "<script>alert") {
			t.Errorf("%q gets %d, want %d: %s", who, page.Code, want, page.Body)
		}
		if list := h.open("/console/apps", who); strings.Contains(list.Body.String(), app.ID) != (want == 200) {
			t.Errorf("%q is shown %s", who, list.Body)
		}
	}
	if forms := strings.Count(h.open(path, audrey.cookie).Body.String(), `method="post"`); forms != 0 {
		t.Errorf("an auditor is shown %d forms", forms)
	}
	for uri, want := range map[string]string{
		"https://shop.example.com/cb": "It is allowed.", "https://evil.example.com/": "not among the application&#39;s " +
			"domains", "https://shop.example.com/": "registered redirect_uris",
	} {
		if page := h.open(path+"?redirect_uri="+url.QueryEscape(uri), eve.cookie).Body.String(); !strings.Contains(page,
			want) {
			t.Errorf("%s: the page does not say %q", uri, want)
		}
	}
	tabs := map[string]string{"set": "/settings", "operate": "/settings", "secret": "/danger", "delete": "/danger"}
	send := func(cookie, do string, more url.Values) int {
		page := h.open(path+tabs[do], eve.cookie)
		more.Set("form", h.formOn(page))
		more.Set("do", do)
		return h.send(path+tabs[do], cookie, more).Code
	}
	if code := send(eve.cookie, "operate", url.Values{"first_party": {"on"}}); code != 403 {
		t.Errorf("an owner sets flags: %d", code)
	}
	if code := send(root.cookie, "set", url.Values{"name": {"Mine"}}); code != 400 {
		t.Errorf("the form of another session: %d", code)
	}
	if code := send(eve.cookie, "set", url.Values{"name": {"Shop"}, "domains": {"shop.example.com"}}); code != 303 || !strings.Contains(h.trail(), `-> "Shop"`) {
		t.Errorf("changed with %d: %s", code, h.trail())
	}
	if code := send(eve.cookie, "secret", url.Values{"overlap_seconds": {"0"}}); code != 200 {
		t.Errorf("rotated with %d", code)
	}
	if now := must(h.store.App(t.Context(), app.ID))(t); now.Name != "Shop" || now.FirstParty ||
		now.AppKey().Reveal() == app.AppKey().Reveal() {
		t.Errorf("it is %+v", now)
	}
	if code := send(eve.cookie, "delete", url.Values{"confirm": {"shop"}}); code != 400 {
		t.Errorf("deleted by another name: %d", code)
	}
	if code := send(eve.cookie, "delete", url.Values{"confirm": {"Shop"}}); code != 303 ||
		h.open(path, eve.cookie).Code != 404 {
		t.Errorf("deleted with %d", code)
	}
}

func TestBrandIsKeptByEveryTierAndShownByThoseThatHaveOne(t *testing.T) {
	h := newFixture(t)
	eve, ada := h.testUser("eve", ""), h.testUser("ada", "")
	app := h.app("Shop", eve.Sub)
	path := "/console/apps/" + app.ID + "/brand"
	brand := func(name, logo, color string) int {
		return h.act(path, eve, url.Values{"do": {"brand"}, "brand_name": {name}, "brand_logo": {logo},
			"brand_color": {color}})
	}
	if code := brand(hostile, "https://cdn.example.com/a.svg", "#1a2b3c"); code != 303 {
		t.Fatalf("the brand is answered with %d", code)
	}
	if now := must(h.store.App(t.Context(), app.ID))(t); now.Brand == nil ||
		*now.Brand != (storage.Brand{Name: hostile, Logo: "https://cdn.example.com/a.svg", Color: "#1a2b3c"}) ||
		now.Name != "Shop" {
		t.Errorf("stored is %+v", now.Brand)
	}
	if page := h.open(path, eve.cookie).Body.String(); strings.Contains(page, "<script>alert") || !strings.Contains(page, "shown once the tier is white_label") || !strings.Contains(page, `value="#1a2b3c"`) {
		t.Errorf("the page of the free tier is %s", page)
	}
	for _, logo := range []string{"javascript:alert(1)", "http://cdn.example.com/", "//cdn.example.com/"} {
		if code := brand("Shop", logo, ""); code != 400 {
			t.Errorf("%s is taken for a logo: %d", logo, code)
		}
	}
	if w := h.send(path, ada.cookie, url.Values{"do": {"brand"},
		"form": {h.formOn(h.open(path, eve.cookie))}}); w.Code == 303 {
		t.Error("somebody else has changed the brand")
	}
	now := must(h.store.App(t.Context(), app.ID))(t)
	now.Tier = storage.TierWhiteLabel
	must(h.store.SaveApp(t.Context(), now))(t)
	if page := h.open(path, eve.cookie).Body.String(); !strings.Contains(page,
		"The sign-in pages of the application show it.") {
		t.Errorf("the page of white_label is %s", page)
	}
	if code := brand("", "", ""); code != 303 || must(h.store.App(t.Context(), app.ID))(t).Brand != nil {
		t.Errorf("the brand is not taken away: %d", code)
	}
	if !strings.Contains(h.trail(), `brand "" -> "`) || !strings.Contains(h.trail(), `#1a2b3c" -> ""`) {
		t.Errorf("the trail is %s", h.trail())
	}
}
