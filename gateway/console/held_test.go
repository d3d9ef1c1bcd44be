package console_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
)

func TestOwnerDoesNotTakeBackWhatAnOperatorHasRestricted(t *testing.T) {
	for field, c := range map[string]struct{ before, operator, owner string }{
		"dpop":                   {`{}`, `{"dpop":"required"}`, `{"dpop":"off"}`},
		"mfa":                    {`{}`, `{"mfa":"required"}`, `{"mfa":"off"}`},
		"mfa, required before":   {`{"mfa":"required"}`, `{"mfa":"required"}`, `{"mfa":""}`},
		"domains":                {`{"domains":["a.example.com","b.example.com"]}`, `{"domains":["a.example.com"]}`, `{"domains":["a.example.com","b.example.com"]}`},
		"redirect_uris":          {`{}`, `{"redirect_uris":["https://shop.example.com/cb"]}`, `{"redirect_uris":[]}`},
		"redirect_uris, less":    {`{"redirect_uris":["https://shop.example.com/a","https://shop.example.com/b"]}`, `{"redirect_uris":["https://shop.example.com/a"]}`, `{"redirect_uris":["https://shop.example.com/a","https://shop.example.com/b"]}`},
		"id_token_alg":           {`{}`, `{"id_token_alg":"ES256"}`, `{"id_token_alg":"HS256"}`},
		"name":                   {`{"name":"PayPal"}`, `{"name":"Nobody"}`, `{"name":"PayPal"}`},
		"brand":                  {`{"brand":{"name":"PayPal"}}`, `{"brand":{}}`, `{"brand":{"name":"PayPal"}}`},
		"backchannel_logout_uri": {`{"backchannel_logout_uri":"https://shop.example.com/out"}`, `{"backchannel_logout_uri":""}`, `{"backchannel_logout_uri":"https://shop.example.com/out"}`},
		"legacy_success_code":    {`{}`, `{"legacy_success_code":0,"held":["legacy_success_code"]}`, `{"legacy_success_code":1}`},
	} {
		t.Run(field, func(t *testing.T) {
			h := newFixture(t)
			root, ada := h.testUser("root", storage.RoleAdmin), h.testUser("ada", "")
			id := h.app("Shop", ada.Sub).ID
			app := "/api/console/apps/" + id
			if c.before != `{}` {
				h.want(h.do("PATCH", app, ada.cookie, c.before), 200, 1, "the owner's own")
			}
			h.want(h.do("PATCH", app, root.cookie, c.operator), 200, 1, "the operator's")
			set := must(h.store.App(t.Context(), id))(t)
			if len(set.Held) != 1 {
				t.Fatalf("held is %v", set.Held)
			}
			h.want(h.do("PATCH", app, ada.cookie, c.owner), 403, 403, "taken back")
			h.want(h.do("PATCH", app, ada.cookie, `{"held":[]}`), 403, 403, "freed by the owner")
			same := map[string]json.RawMessage{}
			if err := json.Unmarshal([]byte(c.operator), &same); err != nil {
				t.Fatal(err)
			}
			delete(same, "held")
			text := must(json.Marshal(same))(t)
			h.want(h.do("PATCH", app, ada.cookie, string(text)), 200, 1, "what it is already")
			now := must(h.store.App(t.Context(), id))(t)
			if now.MFA != set.MFA || !slices.Equal(now.Domains, set.Domains) ||
				!slices.Equal(now.RedirectURIs, set.RedirectURIs) || now.SignsIDTokensWith() != set.SignsIDTokensWith() ||
				now.Name != set.Name || now.SuccessCode() != set.SuccessCode() || !slices.Equal(now.Held, set.Held) {
				t.Errorf("stored is %+v, and was %+v", now, set)
			}
			h.want(h.do("PATCH", app, root.cookie, `{"held":[]}`), 200, 1, "freed")
			h.want(h.do("PATCH", app, ada.cookie, c.owner), 200, 1, "free again")
		})
	}
}

func TestOwnerWhoseDomainsAreHeldAddsNoPrivateUseScheme(t *testing.T) {
	const own, more = `{"redirect_uris":["com.example.phone:/a"]}`,
		`{"redirect_uris":["com.example.phone:/a","com.example.phone:/b"]}`
	h := newFixture(t)
	root, ada := h.testUser("root", storage.RoleAdmin), h.testUser("ada", "")
	h.want(h.do("POST", "/api/console/apps", ada.cookie, `{"name":"Server","redirect_uris":["com.example.phone:/a"]}`),
		400, 400, "an application with a secret")
	h.want(h.do("POST", "/api/console/apps", ada.cookie, `{"name":"Phone","public":true}`), 400, 400,
		"nowhere to be sent back to")
	h.want(h.do("POST", "/api/console/apps", ada.cookie,
		`{"name":"Phone","public":true,"redirect_uris":["com.example.phone:/a"]}`), 200, 1, "a phone's")
	apps, _, err := h.store.Apps(t.Context(), ada.Sub, "", 10)
	if err != nil || len(apps) != 1 || apps[0].AllowsRedirect("com.example.phone:/a") != nil {
		t.Fatalf("stored is %+v, %v", apps, err)
	}
	app := "/api/console/apps/" + apps[0].ID
	h.want(h.do("PATCH", app, ada.cookie, more), 200, 1, "one more")
	h.want(h.do("PATCH", app, ada.cookie, own), 200, 1, "one less")
	h.want(h.do("PATCH", app, root.cookie, `{"held":["domains"]}`), 200, 1, "held")
	h.want(h.do("PATCH", app, ada.cookie, more), 403, 403, "one more, by the owner")
	h.want(h.do("PATCH", app, ada.cookie, `{"redirect_uris":[]}`), 200, 1, "one less")
	h.want(h.do("PATCH", app, root.cookie, own), 200, 1, "the operator's")
}

func TestAppSettingsOfAnOperatorThatRestrictNothingAreNotHeld(t *testing.T) {
	h := newFixture(t)
	root, ada := h.testUser("root", storage.RoleAdmin), h.testUser("ada", "")
	id := h.app("Shop", ada.Sub).ID
	app := "/api/console/apps/" + id
	h.want(h.do("PATCH", app, root.cookie, `{"domains":["shop.example.com","more.example.com"],"backchannel_logout_uri":"https://shop.example.com/out","legacy_success_code":0}`), 200, 1, "more")
	h.want(h.do("PATCH", app, ada.cookie, `{"domains":["shop.example.com"],"backchannel_logout_uri":"","legacy_success_code":1}`), 200, 1, "the owner's")
	h.want(h.do("PATCH", app, root.cookie, `{"mfa":"required"}`), 200, 1, "required")
	h.want(h.do("PATCH", app, root.cookie, `{"mfa":"off"}`), 200, 1, "and not")
	h.want(h.do("PATCH", app, ada.cookie, `{"mfa":"required"}`), 200, 1, "the owner's own")
	h.want(h.do("PATCH", app, ada.cookie, `{"mfa":"off"}`), 200, 1, "the owner's own, taken back")
	h.want(h.do("PATCH", app, root.cookie, `{"held":["tier"]}`), 400, 400, "a field that no owner changes")
}

func TestLogoutToAPrivateNetworkIsSetByAdministratorsOnly(t *testing.T) {
	h := newFixture(t)
	root := h.testUser("root", storage.RoleAdmin)
	const inside = `{"domains":["127.0.0.1","app.example.com"],"backchannel_logout_uri":"http://127.0.0.1:8080/out"}`
	for _, role := range []string{"", storage.RoleDeveloper} {
		p := h.testUser("p"+role, role)
		id := h.app("Shop", p.Sub).ID
		app := "/api/console/apps/" + id
		h.want(h.do("PATCH", app, p.cookie, inside), 403, 403, "by the owner")
		h.want(h.do("POST", "/api/console/apps", p.cookie, `{"name":"X",`+inside[1:]), 403, 403, "a new one by the owner")
		form := url.Values{"do": {"set"}, "name": {"Shop"}, "domains": {"127.0.0.1"},
			"backchannel_logout_uri": {"http://127.0.0.1:8080/out"}}
		if code := h.act("/console/apps/"+id+"/settings", p, form); code != 403 {
			t.Errorf("by a form of the owner: %d", code)
		}
		if a := must(h.store.App(t.Context(), id))(t); a.BackchannelLogoutURI != "" {
			t.Errorf("stored is %+v", a)
		}
		h.want(h.do("PATCH", app, root.cookie, inside), 200, 1, "by an administrator")
		h.want(h.do("PATCH", app, p.cookie, `{"backchannel_logout_uri":"http://127.0.0.1:8080/other"}`), 403, 403, "another path by the owner")
		h.want(h.do("PATCH", app, p.cookie, `{"name":"Mine","backchannel_logout_uri":"http://127.0.0.1:8080/out"}`), 200, 1, "the same by the owner")
		if a := must(h.store.App(t.Context(), id))(t); a.OperatorLogoutURI != "http://127.0.0.1:8080/out" ||
			a.BackchannelLogoutURI != a.OperatorLogoutURI {
			t.Errorf("stored is %+v", a)
		}
		// An administrator who saves something else of an application says nothing of an address that its owner
		// has set.
		h.want(h.do("PATCH", app, p.cookie, `{"backchannel_logout_uri":"https://app.example.com/out"}`), 200, 1, "a public one by the owner")
		h.want(h.do("PATCH", app, root.cookie, `{"name":"Other","backchannel_logout_uri":"https://app.example.com/out"}`), 200, 1, "saved as it is")
		if a := must(h.store.App(t.Context(), id))(t); a.OperatorLogoutURI == a.BackchannelLogoutURI {
			t.Errorf("what the owner has set counts as an operator's: %+v", a)
		}
	}
}

func TestOwnerDoesNotTakeAwayARuleOfAnOperator(t *testing.T) {
	h, _, dev := shopFixture(t)
	root := h.testUser("root", storage.RoleAdmin)
	h.want(h.do("POST", "/api/console/access/shop", root.cookie, `{"subject":"everyone","deny":true}`), 200, 1, "an operator's")
	_, id, _ := strings.Cut(h.call("GET", "/api/console/access/shop", dev.cookie, nil).text, `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	rule := must(h.store.Access(t.Context(), "shop"))(t).Rules[0]
	if !rule.Operator {
		t.Fatalf("the rule is %+v", rule)
	}
	h.want(h.do("POST", "/api/console/access/shop", dev.cookie, `{"subject":"everyone"}`), 403, 403, "its opposite by the owner")
	h.want(h.do("POST", "/api/console/access/shop", dev.cookie, `{"subject":"everyone","deny":true}`), 403, 403, "the same by the owner")
	h.want(h.do("POST", "/api/console/access/shop", dev.cookie, `{"subject":"role:admin"}`), 200, 1, "one of the owner's")
	if l := must(h.store.Access(t.Context(), "shop"))(t); len(l.Rules) != 2 ||
		!slices.ContainsFunc(l.Rules, func(r access.Rule) bool { return r.Deny && r.Operator }) {
		t.Errorf("the rules are %+v", l.Rules)
	}
	h.want(h.do("DELETE", "/api/console/access/shop/"+id, dev.cookie, ""), 403, 403, "taken away by the owner")
	h.want(h.do("DELETE", "/api/console/access/shop/"+id, root.cookie, ""), 200, 1, "taken away by an administrator")
}
