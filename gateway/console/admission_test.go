package console_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/groups"
)

func TestAdministratorSaysWhoMayUseAnApplication(t *testing.T) {
	h := newFixture(t)
	root, ada := h.testUser("root", storage.RoleAdmin), h.testUser("ada", "")
	must(h.store.SaveGroup(t.Context(), groups.Group{Name: "ops"}))(t)
	id := h.app("Shop", ada.Sub).ID
	app := "/api/console/apps/" + id
	const open = `"allow":["everyone"],"deny":[],"group_filter":[],"groups_in_access_token":false,"claims":[]`
	if a := h.want(h.call("GET", app, ada.cookie, nil), 200, 1, "show"); !strings.Contains(a.text, open) {
		t.Errorf("nothing is said, and shown is %s", a.text)
	}
	const rule = `{"claim":"department","from":"attribute:dept","scope":"profile","in":["id_token"]}`
	for body, want := range map[string]string{
		`{"allow":["group:ops","user:ada"],"deny":[" user:` + root.Sub + `"]}`: `"allow":["group:ops","user:` + ada.Sub +
			`"],"deny":["user:` + root.Sub + `"]`,
		`{"allow":["everyone"],"deny":[]}`: `"allow":["everyone"],"deny":[]`,
		`{"group_filter":["team-*"],"groups_in_access_token":true,"claims":[` + rule + `]}`: `"group_filter":["team-*"],` +
			`"groups_in_access_token":true,"claims":[` + rule + `]`,
	} {
		a := h.want(h.do("PATCH", app, root.cookie, body), 200, 1, body)
		shown := h.want(h.call("GET", app, root.cookie, nil), 200, 1, "show")
		if !strings.Contains(a.text, want) || !strings.Contains(shown.text, want) {
			t.Errorf("%s answers %s, and shown is %s", body, a.text, shown.text)
		}
		h.want(h.do("PATCH", app, ada.cookie, body), 403, 403, "by the owner: "+body)
	}
	made := h.want(h.do("POST", "/api/console/apps", root.cookie,
		`{"name":"Closed","domains":["c.example.com"],"allow":["role:admin"],"claims":[`+rule+`]}`), 200, 1, "a new one")
	if !strings.Contains(made.text, `"allow":["role:admin"]`) || !strings.Contains(made.text, rule) {
		t.Errorf("a new one is %s", made.text)
	}
	h.want(h.do("POST", "/api/console/apps", ada.cookie, `{"name":"X","domains":["x.example.com"],"allow":["everyone"]}`), 403,
		403, "a new one of an owner")
	h.want(h.do("PATCH", app, ada.cookie, `{"group_filter":[]}`), 403, 403, "more groups, by the owner")
	if now := must(h.store.App(t.Context(), id))(t); !slices.Equal(now.GroupFilter, []string{"team-*"}) {
		t.Errorf("stored is %+v", now)
	}
}

func TestWhoMayUseAnApplicationIsRefusedWholeIfItIsWrong(t *testing.T) {
	h := newFixture(t)
	root := h.testUser("root", storage.RoleAdmin)
	id := h.app("Shop", "").ID
	before := must(h.store.App(t.Context(), id))(t)
	for body, says := range map[string]string{
		`{"allow":[]}`:                                                "nobody is no choice",
		`{"allow":null}`:                                              "allow is null",
		`{"allow":"group:ops"}`:                                       "allow is not a list of texts",
		`{"allow":[null]}`:                                            "allow is not a list of texts",
		`{"allow":["group:ops"]}`:                                     `there is no group \"ops\": make it first`,
		`{"name":"X","deny":["user:nobody"]}`:                         "deny: no user is called nobody",
		`{"deny":["tier:free"]}`:                                      "is no user",
		`{"allow":["everyone","role:admin"]}`:                         "everyone includes the others",
		`{"group_filter":["[a]"]}`:                                    "is no pattern of names",
		`{"groups_in_access_token":"yes"}`:                            "groups_in_access_token is not true or false",
		`{"claims":{}}`:                                               "claims is not a list of rules",
		`{"claims":[{"claim":"a","from":"b:c"}]}`:                     "is none of attribute:NAME",
		`{"claims":[{"claim":"sub","from":"field:name"}]}`:            "has a meaning",
		`{"claims":[{"claim":"a","from":"field:name","into":["x"]}]}`: "claims is not a list of rules",
	} {
		a := h.want(h.do("PATCH", "/api/console/apps/"+id, root.cookie, body), 400, 400, body)
		if !strings.Contains(a.text, says) {
			t.Errorf("%s: %s, want %q", body, a.text, says)
		}
	}
	if now := must(h.store.App(t.Context(), id))(t); now.Version != before.Version {
		t.Errorf("it was written: %+v", now)
	}
}

func TestPageOfAnApplicationSaysWhoMayUseIt(t *testing.T) {
	h := newFixture(t)
	root, ada := h.testUser("root", storage.RoleAdmin), h.testUser("ada", "")
	page := "/console/apps/" + h.app("Shop", ada.Sub).ID
	send := func(do string, fields ...string) string {
		form := url.Values{"do": {do}, "form": {h.formOn(h.open(page+"/grants", root.cookie))}}
		for i := 0; i < len(fields); i += 2 {
			form.Set(fields[i], fields[i+1])
		}
		return h.send(page+"/grants", root.cookie, form).Body.String()
	}
	if text := send("admit", "allow", "role:developer\nuser:ada\n", "deny", ""); strings.Contains(text, `role="alert"`) {
		t.Errorf("the form is answered with %s", text)
	}
	for who, changes := range map[string]bool{root.cookie: true, ada.cookie: false} {
		text := h.open(page+"/grants", who).Body.String()
		if !strings.Contains(text, "<code>role:developer</code>") || strings.Contains(text, `name="allow"`) != changes ||
			!strings.Contains(text, ada.Sub) {
			t.Errorf("the page is %s", text)
		}
		if text := h.open(page, who).Body.String(); !strings.Contains(text, "some users") {
			t.Errorf("the overview is %s", text)
		}
	}
	if text := send("admit", "allow", "group:none", "deny", "user:ada"); !strings.Contains(text, "make it first") ||
		!strings.Contains(text, `name="allow" aria-invalid="true"`) || !strings.Contains(text, ">group:none</textarea>") {
		t.Errorf("a group that is not there: %s", text)
	}
	if text := send("learns", "claims", `[{"claim":"sub","from":"field:name"}]`); !strings.Contains(text, "has a meaning") {
		t.Errorf("a claim that has a meaning: %s", text)
	}
	if text := send("learns", "claims", `[`); !strings.Contains(text, "is not JSON") {
		t.Errorf("half a list: %s", text)
	}
	send("learns", "claims", `[{"claim":"department","from":"attribute:dept"}]`, "groups_in_access_token", "on")
	if text := h.openIn("zh-CN", page+"/grants", root.cookie); !strings.Contains(text, "<code>attribute:dept</code>") ||
		!strings.Contains(text, "谁可以使用") || !strings.Contains(text, "&#34;claim&#34;: &#34;department&#34;") {
		t.Errorf("the page is %s", text)
	}
	send("learns", "claims", " ")
	send("admit", "allow", "everyone")
	if text := h.open(page+"/grants", ada.cookie).Body.String(); !strings.Contains(text, "Everybody who signs in here.") ||
		strings.Contains(text, "attribute:dept") {
		t.Errorf("the page is %s", text)
	}
}

func TestAdministratorSaysWhoMayUseAnAgent(t *testing.T) {
	h := newFixture(t)
	root, ada := h.testUser("root", storage.RoleAdmin), h.testUser("ada", storage.RoleDeveloper)
	h.clients()
	for _, id := range []string{document, dynamic} {
		body := `{"client_id":"` + id + `","allow":["user:ada"],"group_filter":["team-*"]}`
		h.want(h.do("POST", "/api/console/clients/set", ada.cookie, body), 403, 403, "by a developer")
		a := h.want(h.do("POST", "/api/console/clients/set", root.cookie, body), 200, 1, body)
		if !strings.Contains(a.text, `"allow":["user:`+ada.Sub+`"]`) || !strings.Contains(a.text, `"expires_at":null`) {
			t.Errorf("it is %s", a.text)
		}
		form := url.Values{"do": {"admit"}, "allow": {"role:admin"}, "form": {h.formOn(h.open(shownAt(id), root.cookie))}}
		h.send(shownAt(id), root.cookie, form)
		if text := h.open(shownAt(id), root.cookie).Body.String(); !strings.Contains(text, "<code>role:admin</code>") {
			t.Errorf("the page is %s", text)
		}
		if now := must(h.store.App(t.Context(), id))(t); !slices.Equal(now.GroupFilter, []string{"team-*"}) {
			t.Errorf("stored is %+v", now)
		}
	}
	h.want(h.do("POST", "/api/console/clients/set", root.cookie, `{"client_id":"`+dynamic+`","disabled":true,"allow":["everyone"]}`),
		400, 400, "both at once")
	h.want(h.do("POST", "/api/console/clients/set", root.cookie, `{"client_id":"`+dynamic+`"}`), 400, 400, "nothing")
	h.want(h.do("PATCH", "/api/console/apps/"+dynamic, root.cookie, `{"allow":["everyone"]}`), 200, 1, "as an application")
}
