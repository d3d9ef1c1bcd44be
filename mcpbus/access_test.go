package mcpbus_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/toolaccess"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/toolplan"
)

// allow writes the access list of a capability anew.
func (h *fixture) allow(member string, rules ...access.Rule) {
	h.Helper()
	l := must(h.store.Access(h.Context(), member))(h)
	l.Rules = rules
	must(h.store.SaveAccess(h.Context(), l))(h)
}

// payroll is a fixture with a capability that drops salaries, of the user uo, and a harmless
// one of the user u1.
func payroll(t *testing.T, edits ...func(*mcpbus.Config)) *fixture {
	h := emptyFixture(t)
	c := capability("payroll", "https://payroll.example.com")
	c.Owner = "uo"
	h.register(c, rest("delete", "wipe"), rest("get", "show"))
	h.register(capability("pets", "https://pets.example.com"), rest("get", "getPet"))
	h.open(edits...)
	for _, sub := range []string{"uo", "ua", "ub", "u1"} {
		h.user(sub, sub, "openid tools")
	}
	return h
}

func (h *fixture) wantFound(what, bearer string, want ...string) {
	h.Helper()
	names, _ := h.walk(as(bearer)...)
	if !slices.Equal(names, want) {
		h.Errorf("%s: %s finds %v, want %v", what, bearer, names, want)
	}
	for _, name := range []string{"payroll__wipe", "payroll__show", "pets__getPet"} {
		a := h.legacy("tools/call", `{"name":"`+name+`"}`, as(bearer)...)
		if called := a.code() == 0; called != slices.Contains(want, name) {
			h.Errorf("%s: %s calls %s: %d %s", what, bearer, name, a.status, a.text)
		}
	}
	h.meter.bill()
	for _, name := range []string{"payroll__wipe", "payroll__show", "pets__getPet"} {
		if !slices.Contains(want, name) {
			h.same(bearer, name)
		}
	}
}

// Decision 54.
func TestAccessListSaysWhoFindsATool(t *testing.T) {
	h := payroll(t)
	all := []string{"payroll__show", "payroll__wipe", "pets__getPet"}
	for _, bearer := range []string{"uo", "ub", "app"} {
		h.wantFound("by default", bearer, all...)
	}
	h.allow("payroll", access.Rule{Subject: "everyone", ReadOnly: true}, access.Rule{Subject: "app:app9"})
	h.reload()
	h.wantFound("what changes nothing is for everyone", "uo", all...)
	for _, bearer := range []string{"ub", "app"} {
		h.wantFound("what changes nothing is for everyone", bearer, "payroll__show", "pets__getPet")
	}
	h.allow("payroll", access.Rule{Subject: "app:app1"}, access.Rule{Subject: "user:ub", Deny: true,
		Tools: []string{"wipe", "gone"}})
	h.reload()
	h.wantFound("an application, but one user", "app", all...)
	h.wantFound("an application, but one user", "u1", all...)
	h.wantFound("an application, but one user", "ub", "payroll__show", "pets__getPet")
	h.allow("payroll", access.Rule{Subject: "everyone", Deny: true})
	h.reload()
	h.wantFound("nobody", "uo", "pets__getPet")
	h.allow("payroll")
	h.reload()
	h.wantFound("after the list was taken away", "ub", all...)
}

func TestAccessIsForOwnersAndAdministratorsWhereSignUpIsOpen(t *testing.T) {
	h := emptyFixture(t)
	h.register(capability("pets", "https://pets.example.com"), rest("get", "getPet"))
	admin := must(h.store.CreateUser(t.Context(), storage.User{Username: "root", Role: storage.RoleAdmin}))(t)
	h.open(func(c *mcpbus.Config) { c.DefaultAccess = storage.AccessOwner })
	h.user("owner", "u1", "tools")
	h.user("bob", "u2", "tools")
	h.user("admin", admin.Sub, "tools")
	want := func(what string, found map[string]int) {
		t.Helper()
		for bearer, n := range found {
			if names, _ := h.walk(as(bearer)...); len(names) != n {
				t.Errorf("%s: %s finds %v, want %d", what, bearer, names, n)
			}
		}
	}
	want("owners", map[string]int{"owner": 1, "admin": 1, "bob": 0, "app": 0})
	if by := h.bus.OpenedBySetting(); by != storage.AccessAuto {
		t.Errorf("without a stored setting the default is by %q", by)
	}
	for _, value := range []string{storage.AccessEveryone, storage.AccessAuto, storage.AccessOwner, storage.AccessAuto} {
		n := map[string]int{storage.AccessEveryone: 1}[value]
		if err := h.store.Set(t.Context(), storage.SettingDefaultAccess, value); err != nil {
			t.Fatal(err)
		}
		h.reload()
		if by := h.bus.OpenedBySetting(); by != value {
			t.Errorf("the setting is %q, and the default by %q", value, by)
		}
		want("the setting "+value, map[string]int{"owner": 1, "admin": 1, "bob": n, "app": n})
	}
	h.allow("pets", access.Rule{Subject: "app:app1"})
	h.reload()
	want("its application", map[string]int{"bob": 1, "app": 1})
}

// The bus decides from an index and by whole ranges; what it decides is the meaning of the
// rules, for every caller and tool, in lists and in calls.
func TestIndexDecidesAsTheRulesSay(t *testing.T) {
	subjects := []string{"everyone", "role:admin", "role:developer", "user:u1", "user:u2", "app:app1", "app:app2",
		"tier:free", "tier:enterprise", "group:ops", "group:dev"}
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		h := emptyFixture(t)
		open := round%3 > 0
		dev := must(h.store.CreateUser(t.Context(), storage.User{Username: "dev", Role: storage.RoleDeveloper}))(t)
		rich := must(h.store.SaveApp(t.Context(), storage.App{Name: "R", Domains: []string{"r.example"},
			Tier: storage.TierEnterprise, Owner: dev.Sub}))(t)
		poor := must(h.store.SaveApp(t.Context(), storage.App{Name: "P", Domains: []string{"p.example"}}))(t)
		must(h.store.SaveGroup(t.Context(), groups.Group{Name: "ops"}))(t)
		must(h.store.SaveGroup(t.Context(), groups.Group{Name: "dev"}))(t)
		must(h.store.AddMember(t.Context(), "ops", dev.Sub))(t)
		in := must(h.store.GroupsOf(t.Context(), dev.Sub))(t)
		mine := append(subjects, "user:"+dev.Sub, "app:"+rich.ID)
		type registered struct {
			c     storage.Capability
			tools []toolplan.Tool
			rules []access.Rule
		}
		var all []registered
		for i := range 4 {
			c := capability(fmt.Sprint("m", i), "https://x.example.com")
			c.Owner = []string{"u1", "u2", dev.Sub, ""}[i]
			tools := []toolplan.Tool{rest("get", "a"), rest("post", "b"), rest("get", "c"), rest("delete", "d")}
			c = h.register(c, tools...)
			var rules []access.Rule
			for range random.IntN(5) {
				r := access.Rule{Subject: mine[random.IntN(len(mine))], Deny: random.IntN(3) == 0}
				switch random.IntN(3) {
				case 0:
					r.ReadOnly = true
				case 1:
					r.Tools = []string{"d", "b", "a", "z"}[random.IntN(3):]
				}
				rules = append(rules, r)
			}
			h.allow(c.Member, rules...)
			all = append(all, registered{c, tools, rules})
		}
		h.open(func(c *mcpbus.Config) {
			if !open {
				c.DefaultAccess = storage.AccessOwner
			}
		})
		for _, who := range []toolaccess.Who{
			{User: "u1", App: poor.ID, Tier: "free"},
			{User: dev.Sub, Role: "developer", App: rich.ID, Tier: "enterprise", Groups: in},
			{App: rich.ID, Tier: "enterprise", Owner: dev.Sub, OwnerGroups: in}, {App: poor.ID, Tier: "free"},
			{User: "u7", App: "app1"},
		} {
			scope := "tools"
			if who.User == "" {
				scope = "app"
			}
			h.tokens.give("x", storage.Caller{AppID: who.App, UserID: who.User, Scope: scope, Audience: issuer}, time.Hour)
			names, _ := h.walk(as("x")...)
			for _, r := range all {
				for _, tool := range r.tools {
					name := r.c.Member + "__" + tool.Name
					want := toolaccess.Decide(access.List{Rules: r.rules, UpdatedAt: time.Now()}, open, who, r.c, tool)
					if slices.Contains(names, name) != want.Allowed {
						t.Fatalf("%+v finds %v; of %s, open %t, with %+v: %+v", who, names, name, open, r.rules, want)
					}
					if a := h.legacy("tools/call", `{"name":"`+name+`"}`, as("x")...); (a.code() == 0) != want.Allowed {
						t.Fatalf("%+v calls %s: %s; open %t, with %+v: %+v", who, name, a.text, open, r.rules, want)
					}
				}
			}
		}
	}
}

func TestPagesOfAViewAreFullAndTellOfNothingElse(t *testing.T) {
	h := emptyFixture(t)
	var hidden, tools []string
	var stored []toolplan.Tool
	for i := range 300 {
		tool := rest("get", fmt.Sprintf("t%03d", i))
		if i%7 == 0 || i > 100 && i < 180 {
			hidden = append(hidden, tool.Name)
		} else {
			tools = append(tools, "m__"+tool.Name)
		}
		stored = append(stored, tool)
	}
	h.register(capability("m", "https://m.example.com"), stored...)
	h.allow("m", access.Rule{Subject: "user:ub", Deny: true, Tools: hidden})
	h.open(func(c *mcpbus.Config) { c.PageSize = 10 })
	h.user("bob", "ub", "tools")
	names, pages := h.walk(as("bob")...)
	if !slices.Equal(names, tools) || pages != (len(tools)+9)/10 {
		t.Errorf("%d tools on %d pages, want %d on %d", len(names), pages, len(tools), (len(tools)+9)/10)
	}
	first := h.legacy("tools/list", `{}`, as("bob")...)
	last := h.legacy("tools/list", `{"cursor":"m__t297"}`, as("bob")...)
	for _, name := range hidden {
		if strings.Contains(first.text+last.text, name) {
			t.Errorf("%s is told of: %s %s", name, first.text, last.text)
		}
	}
	if last.at("result.nextCursor") != nil || len(last.names()) != 2 {
		t.Errorf("the last page is %s", last.text)
	}
}

func TestChangedAccessListHoldsHereAtOnceAndElsewhereSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := payroll(t)
		h.allow("payroll", access.Rule{Subject: "user:uo"})
		if names, _ := h.walk(as("ub")...); len(names) != 3 {
			t.Errorf("before anybody looked: %v", names)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		h.wantFound("5 s later", "ub", "pets__getPet")
		h.allow("payroll")
		h.reload()
		h.wantFound("after Reload", "ub", "payroll__show", "payroll__wipe", "pets__getPet")
	})
}

// Decision 54, and a group is as much a subject as its members.
func TestMembershipOpensToolsAndItsEndTakesThemWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := payroll(t)
		ada := must(h.store.CreateUser(t.Context(), storage.User{Username: "ada"}))(t)
		h.user("ada", ada.Sub, "tools")
		ops := must(h.store.SaveGroup(t.Context(), groups.Group{Name: "ops"}))(t)
		h.allow("payroll", access.Rule{Subject: "group:ops"})
		h.reload()
		others, all := []string{"pets__getPet"}, []string{"payroll__show", "payroll__wipe", "pets__getPet"}
		h.wantFound("no member", "ada", others...)
		change := func(what string, want []string, _ bool, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			h.wantFound(what, "ada", want...)
		}
		added, err := h.store.AddMember(t.Context(), "ops", ada.Sub)
		change("a member", all, added, err)
		removed, err := h.store.RemoveMember(t.Context(), "ops", ada.Sub)
		change("a member no more", others, removed, err)
		added, err = h.store.AddMember(t.Context(), "ops", ada.Sub)
		change("a member again", all, added, err)
		change("after the group has ended", others, true, h.store.DeleteGroup(t.Context(), ops))
		must(h.store.SaveGroup(t.Context(), groups.Group{Name: "ops"}))(t)
		added, err = h.store.AddMember(t.Context(), "ops", ada.Sub)
		change("in another group of the name", others, added, err)
		h.allow("payroll", access.Rule{Subject: "group:ops"}) // it means the one of now
		h.reload()
		h.wantFound("in the group of a new rule", "ada", all...)
		h.allow("payroll", access.Rule{Subject: "everyone"},
			access.Rule{Subject: "group:ops", Deny: true, Tools: []string{"wipe"}})
		h.reload()
		h.wantFound("denied by group", "ada", "payroll__show", "pets__getPet")
	})
}

// A capability that was removed and registered anew by another owner has no rule of before.
func TestNewOwnerInheritsNoAccess(t *testing.T) {
	h := payroll(t, func(c *mcpbus.Config) { c.DefaultAccess = storage.AccessOwner })
	h.allow("payroll", access.Rule{Subject: "user:ub"})
	h.reload()
	h.wantFound("allowed", "ub", "payroll__show", "payroll__wipe")
	if err := h.store.DeleteCapability(t.Context(), must(h.store.Capability(t.Context(), "payroll"))(t)); err != nil {
		t.Fatal(err)
	}
	c := capability("payroll", "https://elsewhere.example.com")
	c.Owner, c.TakenFrom = "u1", "uo"
	h.register(c, rest("delete", "wipe"))
	h.reload()
	h.wantFound("somebody else's", "ub")
}

func TestBusDoesNotStartWithoutItsRules(t *testing.T) {
	h := payroll(t)
	c := mcpbus.Config{BaseURL: issuer, Store: ruleless{h.store}, Users: h.store, Invoker: h.calls, Meter: h.meter,
		Audit: h.meter, Log: quiet}
	if b, err := mcpbus.New(t.Context(), c); err == nil {
		b.Close(t.Context())
		t.Error("it starts, and everybody may call everything")
	}
}

// A listener is told when its own list changes, and of no change that it does not see.
func TestListenersAreNotNotifiedOfToolsTheyCannotSee(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := payroll(t)
		h.allow("payroll", access.Rule{Subject: "user:uo"})
		h.reload()
		bob, owner := h.listen(t.Context(), listenTools, as("ub")...), h.listen(t.Context(), listenTools, as("uo")...)
		bob.want(t, "first", acknowledged, false)
		owner.want(t, "first", acknowledged, false)
		c := capability("payroll", "https://payroll.example.com")
		c.Owner = "uo"
		h.register(c, rest("delete", "wipe"))
		h.reload()
		bob.want(t, "a hidden tool went", "", false)
		owner.want(t, "a tool of theirs went", changed, false)
		h.allow("payroll", access.Rule{Subject: "user:ub"})
		h.reload()
		bob.want(t, "allowed", changed, false)
		owner.want(t, "somebody else was allowed", "", false)
	})
}

// A bus without the setting has tools that are their owners'.
func TestAccessByDefaultIsTheOwners(t *testing.T) {
	h := emptyFixture(t)
	h.register(capability("pets", "https://pets.example.com"), rest("get", "getPet"))
	h.open(func(c *mcpbus.Config) { c.DefaultAccess = "" })
	h.user("owner", "u1", "tools")
	h.user("bob", "u2", "tools")
	for bearer, n := range map[string]int{"owner": 1, "bob": 0, "app": 0} {
		if names, _ := h.walk(as(bearer)...); len(names) != n {
			t.Errorf("%s finds %v, want %d", bearer, names, n)
		}
	}
	if names, n := h.bus.Unlisted(10); n != 0 {
		t.Errorf("%v are everybody's", names)
	}
}

func TestUnlistedNamesWhatEverybodyMayUseForWantOfAList(t *testing.T) {
	h := emptyFixture(t)
	for _, member := range []string{"a", "b", "c", "d"} {
		h.register(capability(member, "https://pets.example.com"), rest("get", "getPet"), rest("get", "listPets"))
	}
	h.allow("b", access.Rule{Subject: "everyone"})
	h.allow("c", access.Rule{Subject: "everyone", Deny: true, Tools: []string{"getPet"}})
	h.allow("d", access.Rule{Subject: "role:developer", Deny: true})
	h.open()
	names, n := h.bus.Unlisted(10)
	if want := "a__getPet a__listPets c__listPets d__getPet d__listPets"; strings.Join(names, " ") != want || n != 5 {
		t.Errorf("%d: %v, want %s", n, names, want)
	}
	if names, n := h.bus.Unlisted(2); len(names) != 2 || n != 5 {
		t.Errorf("two of them are %v of %d", names, n)
	}
}
