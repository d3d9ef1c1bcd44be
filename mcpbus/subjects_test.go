package mcpbus_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/toolplan"
)

// userTable are users whose roles a test moves; it counts how often they are asked for.
type userTable struct {
	mu    sync.Mutex
	roles map[string]string
	fail  error
	hang  bool
	asked int
}

func (p *userTable) User(ctx context.Context, sub string) (storage.User, error) {
	p.mu.Lock()
	role, there := p.roles[sub]
	fail, hang := p.fail, p.hang
	p.asked++
	p.mu.Unlock()
	if hang {
		<-ctx.Done()
		return storage.User{}, ctx.Err()
	}
	if fail == nil && !there {
		fail = storage.ErrNotFound
	}
	return storage.User{Sub: sub, Role: role}, fail
}

func (p *userTable) set(edit func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	edit()
}

// developers is a fixture whose one capability is for developers.
func developers(t *testing.T) (*fixture, *userTable) {
	h, p := emptyFixture(t), &userTable{roles: map[string]string{"u2": storage.RoleDeveloper}}
	h.register(capability("pets", "https://pets.example.com"), rest("get", "getPet"))
	h.allow("pets", access.Rule{Subject: "role:developer"})
	h.open(func(c *mcpbus.Config) { c.Users = p })
	h.user("dev", "u2", "tools")
	return h, p
}

func (h *fixture) mayCall(what string, want bool) {
	h.Helper()
	if a := h.legacy("tools/call", getPet, as("dev")...); a.status != 200 || (a.code() == 0) != want {
		h.Errorf("%s: %d %s, want it called: %t", what, a.status, a.text, want)
	}
}

// A role that was taken away opens nothing a second later, however seldom its user calls, and a
// bearer costs no reading of the store for each call.
func TestRoleHoldsASecondAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, p := developers(t)
		for range 100 {
			h.mayCall("a developer", true)
		}
		if p.asked != 1 {
			t.Errorf("100 calls asked %d times", p.asked)
		}
		p.set(func() { p.roles["u2"] = "" })
		time.Sleep(time.Second)
		h.mayCall("a second after the role was taken away", false)
		p.set(func() { p.roles["u2"] = storage.RoleDeveloper })
		h.mayCall("before anybody looked", false)
		h.bus.Forget("u2")
		h.mayCall("once it is told", true)
		p.set(func() { delete(p.roles, "u2") })
		time.Sleep(10 * time.Minute)
		h.mayCall("a user who has gone", false)
	})
}

func TestRoleHoldsAMinuteWhileTheStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, p := developers(t)
		h.mayCall("a developer", true)
		p.set(func() { p.fail = storage.ErrUnavailable })
		time.Sleep(59 * time.Second)
		h.mayCall("after 59 s", true)
		time.Sleep(time.Second)
		a := h.legacy("tools/call", getPet, as("dev")...)
		if a.status != 503 || a.header.Get("Retry-After") == "" || a.body["errcode"] != 503.0 {
			t.Errorf("after a minute: %d %v %s", a.status, a.header, a.text)
		}
		asked := p.asked
		for range 100 {
			h.legacy("tools/call", getPet, as("dev")...)
		}
		if p.asked != asked {
			t.Errorf("100 calls asked a store that is away %d times", p.asked-asked)
		}
		p.set(func() { p.fail, p.hang = nil, true })
		time.Sleep(time.Second)
		began := time.Now()
		if a := h.legacy("tools/call", getPet, as("dev")...); a.status != 503 || time.Since(began) != 2*time.Second {
			t.Errorf("a store that hangs: %d after %v", a.status, time.Since(began))
		}
		p.set(func() { p.hang = false })
		time.Sleep(time.Second)
		h.mayCall("when it is back", true)
	})
}

func TestDisabledUserHasNoRole(t *testing.T) {
	h, _ := developers(t)
	u := must(h.store.CreateUser(t.Context(), storage.User{Username: "d", Role: storage.RoleDeveloper, Disabled: true}))(t)
	h.open()
	h.user("dev", u.Sub, "tools")
	h.mayCall("a disabled developer", false)
}

func TestTierIsReadByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := emptyFixture(t)
		app := storage.App{Name: "A", Domains: []string{"a.example"}}
		app = must(h.store.SaveApp(t.Context(), app))(t)
		app.SetTier(storage.TierEnterprise, time.Now(), time.Now().Add(time.Hour))
		app = must(h.store.SaveApp(t.Context(), app))(t)
		h.register(capability("pets", "https://pets.example.com"), rest("get", "getPet"))
		h.allow("pets", access.Rule{Subject: "tier:enterprise"})
		h.open()
		h.tokens.give("dev", storage.Caller{AppID: app.ID, Scope: "app", Audience: issuer}, 24*time.Hour)
		h.mayCall("an enterprise", true)
		time.Sleep(time.Hour)
		h.mayCall("when what was agreed on is over", false)
	})
}

// A listener is told when a role that was taken away takes the tools along.
func TestListenersAreNotifiedOfALostRole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, p := developers(t)
		s := h.listen(t.Context(), listenTools, as("dev")...)
		s.want(t, "first", acknowledged, false)
		p.set(func() { p.roles["u2"] = "" })
		time.Sleep(20 * time.Second)
		s.want(t, "when the stream says that it is alive", alive+changed, false)
	})
}

func TestThousandUsersWithRulesOfTheirOwn(t *testing.T) {
	h := emptyFixture(t)
	tools := make([]toolplan.Tool, 100)
	for i := range tools {
		tools[i] = rest("get", fmt.Sprintf("t%02d", i))
	}
	h.register(capability("m", "https://m.example.com"), tools...)
	var rules []access.Rule
	for i := range 1000 {
		rules = append(rules, access.Rule{Subject: fmt.Sprint("user:x", i), Tools: []string{fmt.Sprintf("t%02d", i%100)}})
		h.user(fmt.Sprint("b", i), fmt.Sprint("x", i), "tools")
	}
	h.allow("m", rules...)
	h.open()
	for i := range 1000 {
		bearer := fmt.Sprint("b", i)
		if names, _ := h.walk(as(bearer)...); len(names) != 1 || names[0] != fmt.Sprintf("m__t%02d", i%100) {
			t.Fatalf("user %d finds %v", i, names)
		}
	}
}
