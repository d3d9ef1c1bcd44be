package console_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/gateway/console"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
)

func TestAccessRulesAreWrittenByTheOwnerAndStandOnTheTrail(t *testing.T) {
	h, _, dev := shopFixture(t)
	other, aud, ada := h.testUser("other", storage.RoleDeveloper), h.testUser("aud", storage.RoleAuditor),
		h.testUser("ada", "")
	const path = "/console/access/shop"
	add := url.Values{"do": {"add"}, "form": {h.formOn(h.open(path, dev.cookie))}, "subject": {"user:Ada"}, "deny": {"on"},
		"tools": {"getPet"}}
	if w := h.send(path, dev.cookie, add); w.Code != 303 {
		t.Fatalf("a rule is %d %s", w.Code, w.Body)
	}
	l := must(h.store.Access(t.Context(), "shop"))(t)
	if len(l.Rules) != 1 || !l.Rules[0].Same(access.Rule{Subject: "user:" + ada.Sub, Deny: true,
		Tools: []string{"getPet"}}) {
		t.Fatalf("the rules are %+v", l.Rules)
	}
	if w := h.send(path, dev.cookie, add); w.Code != 409 {
		t.Errorf("the same form again is %d", w.Code)
	}
	page := h.open(path, dev.cookie)
	_, id, _ := strings.Cut(page.Body.String(), `name="id" value="`)
	id, _, _ = strings.Cut(id, `"`)
	if w := h.send(path, dev.cookie, url.Values{"do": {"remove"}, "form": {h.formOn(page)}, "id": {id}}); w.Code != 303 {
		t.Fatalf("taking it away is %d %s", w.Code, w.Body)
	}
	for _, want := range []string{
		"capability access shop by " + dev.Sub + ": 0 rules -> 1; + deny user:" + ada.Sub + " (getPet)",
		"capability access shop by " + dev.Sub + ": 1 rules -> 0; - deny user:" + ada.Sub + " (getPet)",
	} {
		if !strings.Contains(h.trail(), want) {
			t.Errorf("the trail lacks %q: %s", want, h.trail())
		}
	}
	if w := h.open(path, other.cookie); w.Code != 404 {
		t.Errorf("another developer sees the rules: %d", w.Code)
	}
	if w := h.open(path, aud.cookie); w.Code != 200 || strings.Contains(w.Body.String(), `value="add"`) {
		t.Errorf("an auditor sees %d %s", w.Code, w.Body)
	}
	// The id of a form is of a session and a page: nobody else's opens this one.
	stolen := h.formOn(h.open(path, dev.cookie))
	root := h.testUser("root", storage.RoleAdmin)
	elsewhere := h.formOn(h.open("/console/bundles", root.cookie))
	for cookie, form := range map[string]string{other.cookie: stolen, aud.cookie: stolen, ada.cookie: stolen,
		root.cookie: elsewhere, dev.cookie: ""} {
		add.Set("form", form)
		if w := h.send(path, cookie, add); w.Code < 400 || w.Code >= 500 {
			t.Errorf("%s with a forged form: %d", cookie, w.Code)
		}
	}
	if l := must(h.store.Access(t.Context(), "shop"))(t); len(l.Rules) != 0 {
		t.Errorf("a forged form has made %+v", l.Rules)
	}
}

func TestCommandsRuleIsReplacedAndNotDoubled(t *testing.T) {
	h, _, dev := shopFixture(t)
	for _, body := range []string{`{"subject":"everyone"}`, `{"subject":"everyone","deny":true}`, `{"subject":"everyone","deny":true}`} {
		h.want(h.do("POST", "/api/console/access/shop", dev.cookie, body), 200, 1, body)
	}
	if l := must(h.store.Access(t.Context(), "shop"))(t); len(l.Rules) != 1 || !l.Rules[0].Deny {
		t.Errorf("three rules about everyone are %+v", l.Rules)
	}
}

func TestPagesOfAccessAreForTheirReaders(t *testing.T) {
	h, _, dev := shopFixture(t)
	root, aud := h.testUser("root", storage.RoleAdmin), h.testUser("aud", storage.RoleAuditor)
	nobody := h.testUser("nobody", "")
	must(h.store.SaveBundle(t.Context(), access.Bundle{Name: "support", Label: hostileText, Description: hostileText,
		Tools: []string{"shop__getPet"}}))(t)
	sees := "/console/visible?user=nobody&client_id=&role=" + url.QueryEscape("developer")
	for path, may := range map[string][4]int{ // developer, admin, auditor, nobody
		"/console/access": {200, 200, 200, 403}, "/console/access/shop": {200, 200, 200, 403},
		"/console/access/none": {404, 404, 404, 403},
		"/console/bundles":     {200, 200, 200, 403}, sees: {403, 200, 200, 403}, "/console/visible": {403, 200, 200, 403},
		"/console/visible?user=%3Cscript%3Ealert(1)": {403, 400, 400, 403},
		"/console/visible?role=king":                 {403, 400, 400, 403},
	} {
		for i, u := range []testUser{dev, root, aud, nobody} {
			w := h.open(path, u.cookie)
			if page := w.Body.String(); w.Code != may[i] || strings.Contains(page, "<script>alert") ||
				strings.Contains(page, "<img src=x") || len(page) > 60<<10 {
				t.Errorf("%s as %s is %d, want %d: %.300s", path, u.Username, w.Code, may[i], page)
			}
		}
	}
	if page := h.open(sees, root.cookie).Body.String(); !strings.Contains(page, "a rule denies it to") ||
		!strings.Contains(page, nobody.Sub) {
		t.Errorf("what somebody sees is explained as %.3000s", page)
	}
	if page := h.open("/console/bundles", dev.cookie).Body.String(); strings.Contains(page, "shop__getPet") || strings.Contains(page, `value="make"`) {
		t.Error("a developer reads the tools of a bundle, or makes one")
	}
}

func TestBundlesAreMadeAndRemovedOnTheTrail(t *testing.T) {
	h, _, dev := shopFixture(t)
	root := h.testUser("root", storage.RoleAdmin)
	const path = "/console/bundles"
	make := url.Values{"do": {"make"}, "form": {h.formOn(h.open(path, root.cookie))}, "name": {"support"},
		"tools": {"shop__getPet\nshop__*"}}
	if w := h.send(path, root.cookie, make); w.Code != 303 {
		t.Fatalf("making a bundle is %d %s", w.Code, w.Body)
	}
	remove := url.Values{"do": {"remove"}, "form": {h.formOn(h.open(path, root.cookie))}, "name": {"support"}}
	if w := h.send(path, dev.cookie, remove); w.Code != 403 {
		t.Errorf("a developer removes a bundle: %d", w.Code)
	}
	if w := h.send(path, root.cookie, remove); w.Code != 303 {
		t.Errorf("removing a bundle is %d %s", w.Code, w.Body)
	}
	for _, want := range []string{"bundle create support by " + root.Sub + ": none -> shop__*, shop__getPet",
		"bundle delete support by " + root.Sub + ": shop__*, shop__getPet -> none"} {
		if !strings.Contains(h.trail(), want) {
			t.Errorf("the trail lacks %q: %s", want, h.trail())
		}
	}
}

// SetPublished and Remove note what they are asked for.
func (s *shop) SetPublished(ctx context.Context, by storage.User, member string, on bool) (storage.Capability, error) {
	s.acts = append(s.acts, fmt.Sprintf("publish %s %t by %s", member, on, admin.ActorOf(ctx, by).Name()))
	return storage.Capability{Member: member, Publish: on}, nil
}

func (s *shop) Remove(ctx context.Context, by storage.User, member string) error {
	s.acts = append(s.acts, "remove "+member+" by "+admin.ActorOf(ctx, by).Name())
	return nil
}

func TestPublishingAndDeletingAreActsOfTheOwner(t *testing.T) {
	h, s, dev := shopFixture(t)
	other := h.testUser("other", storage.RoleDeveloper)
	const path = "/console/capabilities/shop/danger"
	unnamed := url.Values{"do": {"delete"}, "form": {h.formOn(h.open(path, dev.cookie))}, "confirm": {"Shop"}}
	if w := h.send(path, dev.cookie, unnamed); w.Code != 400 || len(s.acts) > 0 ||
		!strings.Contains(w.Body.String(), `name="confirm" aria-invalid="true"`) {
		t.Errorf("with another name typed it is %d: %s", w.Code, s.acts)
	}
	for _, c := range []struct{ do, want string }{
		{"pause", "publish shop false by " + dev.Sub}, {"delete", "remove shop by " + dev.Sub},
	} {
		form := url.Values{"do": {c.do}, "form": {h.formOn(h.open(path, dev.cookie))}, "confirm": {"shop"}}
		if w := h.send(path, other.cookie, form); w.Code < 400 || w.Code >= 500 || slices.Contains(s.acts, c.want) {
			t.Errorf("%s by another developer is %d: %s", c.do, w.Code, s.acts)
		}
		if w := h.send(path, dev.cookie, form); w.Code != 303 || !slices.Contains(s.acts, c.want) {
			t.Errorf("%s is %d: %s", c.do, w.Code, s.acts)
		}
	}
}

// standing is a Bus whose default comes from somewhere.
type standing struct {
	*shop
	open bool
	by   string
}

func (s standing) OpenToAll() bool         { return s.open }
func (s standing) OpenedBySetting() string { return s.by }

func TestCapabilityWithoutAListSaysWhichDefaultAppliesAndWhy(t *testing.T) {
	const everyone, owner = "everyone may use them", "the owner and administrators may use them"
	for name, c := range map[string]struct {
		bus                   standing
		signUp                string
		says, because, zh, by string
	}{
		"sign-up is closed": {standing{open: true, by: "auto"}, "closed", everyone,
			"the setting mcp.default_access is auto, and nobody becomes a user by themselves",
			"设置 mcp.default_access 的值为 auto，且无人可自行注册", "closed"},
		"sign-up is open": {standing{by: "auto"}, "open", owner,
			"the setting mcp.default_access is auto, and people may become users: github (open)", "可通过以下方式注册：github (open)",
			"open"},
		"by invitation": {standing{by: "auto"}, "invitation", owner, "people may become users: github (invitation)",
			"github (invitation)", "invitation"},
		"set to everyone": {standing{open: true, by: "everyone"}, "closed", everyone,
			"the setting mcp.default_access is everyone", "设置 mcp.default_access 的值为 everyone", ""},
		"set to owner": {standing{by: "owner"}, "open", owner, "the setting mcp.default_access is owner",
			"设置 mcp.default_access 的值为 owner", ""},
		"a host's default": {standing{open: true, by: "auto"}, "open", everyone,
			"is auto, and the configuration of the service decides", "由服务的配置或此前自行注册的用户决定", ""},
		"nobody says": {standing{by: "auto"}, "", owner, "is auto, and the configuration of the service decides",
			"由服务的配置或此前自行注册的用户决定", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.bus.shop = new(shop)
			var ways access.Ways
			if c.signUp != "" {
				ways = access.Ways{{Method: "self", SignUp: access.SignUpClosed}, {Method: "github", SignUp: c.signUp}}
			}
			h := newFixture(t, func(config *console.Config) { config.Bus, config.Ways = c.bus, ways })
			dev, aud := h.testUser("dev", storage.RoleDeveloper), h.testUser("aud", storage.RoleAuditor)
			h.sells(dev.Sub)
			for path, cookie := range map[string]string{"/console/access": dev.cookie, "/console/access/shop": dev.cookie,
				"/console/access/shop?by=aud": aud.cookie} {
				page := h.open(path, cookie).Body.String()
				if !strings.Contains(page, "<dd>"+c.says+"</dd>") || !strings.Contains(page, c.because) {
					t.Errorf("%s lacks %q or %q: %s", path, c.says, c.because, page)
				}
				if settings := strings.Contains(page, `· <a href="/console/settings">`); settings != (cookie == aud.cookie) {
					t.Errorf("%s leads to the settings: %t", path, settings)
				}
			}
			if page := h.open("/console/access/shop?lang=zh-CN", dev.cookie).Body.String(); !strings.Contains(page, c.zh) {
				t.Errorf("the page in Chinese lacks %q", c.zh)
			}
			for _, path := range []string{"/api/console/access", "/api/console/access/shop"} {
				a := h.want(h.do("GET", path, dev.cookie, ""), 200, 1, path)
				by, _ := a.body.Data["default_by"].(map[string]any)
				if by["setting"] != storage.SettingDefaultAccess || by["value"] != c.bus.by || by["signup"] != c.by {
					t.Errorf("%s says %v", path, by)
				}
			}
			h.want(h.do("POST", "/api/console/access/shop", dev.cookie, `{"subject":"role:developer"}`), 200, 1, "a rule")
			if page := h.open("/console/access/shop", dev.cookie).Body.String(); strings.Contains(page, c.because) {
				t.Error("beside a rule that allows the page speaks of a default that does not apply")
			}
		})
	}
}
