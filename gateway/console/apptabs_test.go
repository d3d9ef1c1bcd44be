package console_test

import (
	"maps"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

// openIn gets a page in a language.
func (h *fixture) openIn(lang, path, cookie string) string {
	r := httptest.NewRequest("GET", base+path, nil)
	r.Header.Set("Accept-Language", lang)
	return h.browse(r, cookie).Body.String()
}

// newApp is a form that makes an application.
func newApp(edits url.Values) url.Values {
	form := url.Values{"do": {"new"}, "name": {"Shop"}, "domains": {"shop.example.com"},
		"redirect_uris": {"https://shop.example.com/cb"}, "id_token_alg": {"ES256"}}
	maps.Copy(form, edits)
	return form
}

// Six mistakes that are usual lose nothing of what was typed, and each is told beside its field.
func TestMistakeInANewApplicationLosesNothingTyped(t *testing.T) {
	h := newFixture(t)
	eve := h.testUser("eve", "")
	for what, c := range map[string]struct {
		edits          url.Values
		field, en, has string
	}{
		"no name":    {url.Values{"name": {""}}, "name", "Name: give the application a name", `value=""`},
		"a wildcard": {url.Values{"domains": {"*.example.com"}}, "domains", "wildcards are not supported", "*.example.com"},
		"another host": {url.Values{"redirect_uris": {"https://other.example/cb"}}, "redirect_uris", "Redirect URIs: ",
			"other.example/cb"},
		"http": {url.Values{"redirect_uris": {"http://shop.example.com/cb"}}, "redirect_uris", "use https",
			"http://shop"},
		"no secret for HS256": {url.Values{"public": {"on"}, "id_token_alg": {"HS256"}}, "id_token_alg",
			"ID tokens are signed with: a public application has no secret", `<option selected>HS256</option>`},
		"a long name": {url.Values{"name": {strings.Repeat("x", 201)}}, "name", "Name: give", "xxxxx"},
	} {
		form := newApp(c.edits)
		form.Set("form", h.formOn(h.open("/console/apps/new", eve.cookie)))
		w := h.send("/console/apps/new", eve.cookie, form)
		text := w.Body.String()
		if w.Code != 400 || !strings.Contains(text, c.en) || !strings.Contains(text, c.has) ||
			!strings.Contains(text, `name="`+c.field+`" aria-invalid="true" aria-describedby="problem"`) {
			t.Errorf("%s is answered with %d: %s", what, w.Code, text)
		}
		for field, values := range form {
			kept := strings.Contains(text, `value="`+values[0]+`"`) || strings.Contains(text, ">"+values[0]+"<") ||
				field == "public" && strings.Contains(text, `name="public" checked`)
			if field != "do" && field != "form" && !kept {
				t.Errorf("%s loses %s: %s", what, field, text)
			}
		}
		if all, _, _ := h.store.Apps(t.Context(), eve.Sub, "", 1); len(all) > 0 {
			t.Fatalf("%s makes an application", what)
		}
	}
}

func TestDomainThatIsAnAddressSaysWhatIsStored(t *testing.T) {
	h := newFixture(t)
	eve := h.testUser("eve", "")
	form := newApp(url.Values{"domains": {"https://app.example.com/cb\nhttps://plain.example.com/\nhost.example.com"},
		"redirect_uris": {""}, "form": {h.formOn(h.open("/console/apps/new", eve.cookie))}})
	text := h.send("/console/apps/new", eve.cookie, form).Body.String()
	all, _, err := h.store.Apps(t.Context(), eve.Sub, "", 1)
	if err != nil || len(all) != 1 || len(all[0].Domains) != 3 {
		t.Fatalf("%v %v", all, err)
	}
	if !strings.Contains(text, `<div class="warn" role="status"><p>It is saved. A domain is stored without a path`) ||
		strings.Count(text, "<li><code>") != 1 ||
		!strings.Contains(text, "<li><code>https://app.example.com/cb → app.example.com</code></li>") {
		t.Errorf("the page says %s", text)
	}
	page := "/console/apps/" + all[0].ID + "/settings"
	set := url.Values{"do": {"set"}, "name": {"Shop"}, "domains": {"https://app.example.com/x?y=1"},
		"form": {h.formOn(h.open(page, eve.cookie))}}
	if text := h.send(page, eve.cookie, set).Body.String(); !strings.Contains(text, "x?y=1 → app.example.com") ||
		!strings.Contains(text, `value="Shop"`) {
		t.Errorf("the settings say %s", text)
	}
	set = url.Values{"do": {"set"}, "name": {"Shop"}, "domains": {"app.example.com"}}
	if code := h.act(page, eve, set); code != 303 {
		t.Errorf("a host alone is answered with %d", code)
	}
}

func TestSecretIsInTheCodeOnceAndNowhereAfterwards(t *testing.T) {
	h := newFixture(t)
	eve := h.testUser("eve", "")
	form := newApp(url.Values{"form": {h.formOn(h.open("/console/apps/new", eve.cookie))}})
	text := h.send("/console/apps/new", eve.cookie, form).Body.String()
	all, _, _ := h.store.Apps(t.Context(), eve.Sub, "", 1)
	secret, page := all[0].AppKey().Reveal(), "/console/apps/"+all[0].ID
	if strings.Count(text, secret) < 6 || strings.Contains(text, "YOUR_CLIENT_SECRET") ||
		strings.Count(text, `class="button primary"`) != 1 {
		t.Errorf("the page that shows it says it %d times: %s", strings.Count(text, secret), text)
	}
	for _, tab := range []string{"", "/settings", "/brand", "/grants", "/code", "/activity", "/danger"} {
		w := h.open(page+tab, eve.cookie)
		text := w.Body.String()
		if w.Code != 200 || strings.Contains(text, secret) || strings.Count(text, `aria-current="page">`) < 2 ||
			strings.Contains(text, "YOUR_CLIENT_SECRET") != (tab == "/code") || strings.Count(text, `class="primary"`) > 1 {
			t.Errorf("%s: %d %s", tab, w.Code, text)
		}
	}
	if text := h.openIn("zh-CN", page+"/settings", eve.cookie); !strings.Contains(text, "重定向地址") ||
		!strings.Contains(text, ">设置</a>") {
		t.Errorf("in Chinese: %s", text)
	}
}

func TestSettingsAreSavedWithOneFormAndSayWhatHasChanged(t *testing.T) {
	h := newFixture(t)
	root, mina := h.testUser("root", storage.RoleAdmin), h.testUser("mina", storage.RoleDeveloper)
	app := h.app("Shop", mina.Sub)
	page := "/console/apps/" + app.ID + "/settings"
	code := h.act(page, mina, url.Values{"do": {"set"}, "name": {"Shop 2"}, "domains": {"shop.example.com"},
		"redirect_uris":          {"https://shop.example.com/cb"},
		"backchannel_logout_uri": {"https://shop.example.com/out"}, "mfa": {"required"},
		"legacy_success_code": {"0"}, "id_token_alg": {"HS256"}})
	now := must(h.store.App(t.Context(), app.ID))(t)
	if code != 303 || now.Name != "Shop 2" || now.BackchannelLogoutURI == "" || now.MFA != "required" ||
		now.SuccessCode() != 0 || strings.Contains(h.trail(), "id_token_alg") {
		t.Errorf("%d stores %+v, on the trail %s", code, now, h.trail())
	}
	if code := h.act(page, mina, url.Values{"do": {"set"}, "name": {"Shop 2"}, "domains": {"shop.example.com"},
		"id_token_alg": {"RS256"}}); code != 303 || !strings.Contains(h.trail(), `id_token_alg "" -> "RS256"`) {
		t.Errorf("%d, on the trail %s", code, h.trail())
	}
	held := must(h.store.App(t.Context(), app.ID))(t)
	held.Held = []string{"name"}
	must(h.store.SaveApp(t.Context(), held))(t)
	w := h.submit(page, mina.cookie, "set", h.formOn(h.open(page, mina.cookie)), "name", "Mine", "domains",
		"typed.example.com")
	if text := w.Body.String(); w.Code != 403 || !strings.Contains(text, "Name: an operator has set it") ||
		!strings.Contains(text, "typed.example.com") || !strings.Contains(text, `name="name" aria-invalid="true"`) {
		t.Errorf("a field that an operator holds is answered with %d: %s", w.Code, text)
	}
	for do, form := range map[string]url.Values{"operate": {"forbid_plain": {"on"}}, "off": {}, "on": {}} {
		form.Set("do", do)
		at := map[string]string{"operate": page}[do]
		if at == "" {
			at = "/console/apps/" + app.ID + "/danger"
		}
		if code := h.act(at, mina, maps.Clone(form)); code != 403 {
			t.Errorf("an owner does %s: %d", do, code)
		}
	}
	danger := "/console/apps/" + app.ID + "/danger"
	if code := h.act(danger, root, url.Values{"do": {"off"}}); code != 303 ||
		!must(h.store.App(t.Context(), app.ID))(t).Disabled {
		t.Errorf("it is not switched off: %d", code)
	}
	if code := h.act(danger, root, url.Values{"do": {"on"}}); code != 303 ||
		must(h.store.App(t.Context(), app.ID))(t).Disabled {
		t.Errorf("it is not switched on: %d", code)
	}
}

func TestOwnerIsGivenAnApplicationByName(t *testing.T) {
	h := newFixture(t)
	root, mina := h.testUser("root", storage.RoleAdmin), h.testUser("mina", storage.RoleDeveloper)
	app := h.app("Shop", "")
	page := "/console/apps/" + app.ID + "/grants"
	give := func(typed string) (int, string) {
		w := h.submit(page, root.cookie, "give", h.formOn(h.open(page, root.cookie)), "owner", typed)
		return w.Code, w.Body.String()
	}
	code, text := give("minna")
	if code != 404 || !strings.Contains(text, `Owner: no user is called &#34;minna&#34;`) ||
		!strings.Contains(text, `<details open>`) || !strings.Contains(text, `value="minna"`) {
		t.Errorf("a name that nobody has is answered with %d: %s", code, text)
	}
	for _, c := range [][2]string{{"Mina", mina.Sub}, {"", ""}, {root.Sub, root.Sub}} {
		if code, _ := give(c[0]); code != 303 || must(h.store.App(t.Context(), app.ID))(t).Owner != c[1] {
			t.Errorf("%q is answered with %d", c[0], code)
		}
	}
	if text := h.open(page, root.cookie).Body.String(); !strings.Contains(text, `<a href="/console/users/`+root.Sub+
		`"><bdi>root</bdi></a> <small class="id"><code>`+root.Sub) {
		t.Errorf("the owner is shown as %s", text)
	}
}

// Somebody who may not see users learns no name of those who have allowed their application something.
func TestNamesOfOthersAreForThoseWhoMaySeeThem(t *testing.T) {
	h := newFixture(t)
	root, mina, hidden := h.testUser("root", storage.RoleAdmin), h.testUser("mina", ""), h.testUser("hidden-one", "")
	app := h.app("Shop", mina.Sub)
	must(h.store.SaveConsent(t.Context(), storage.Consent{AppID: app.ID, UserID: hidden.Sub, Scope: "openid"}))(t)
	for who, shown := range map[string]bool{root.cookie: true, mina.cookie: false} {
		text := h.open("/console/apps/"+app.ID+"/grants", who).Body.String()
		if strings.Contains(text, "hidden-one") != shown || !strings.Contains(text, hidden.Sub) {
			t.Errorf("shown is %v: %s", !shown, text)
		}
	}
	if text := h.open("/console/apps/"+app.ID, mina.cookie).Body.String(); !strings.Contains(text, "<bdi>mina</bdi>") {
		t.Errorf("an owner is not told that it is they: %s", text)
	}
}
