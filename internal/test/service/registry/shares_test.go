package registry_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/registry/openapi"
	"github.com/keystile/keystile/storage"
)

// few makes a registrar where three capabilities and five tools are an owner's share.
func few(c *registry.Config) { c.MaxCapabilities, c.MaxTools = 3, 5 }

// Decision 61.
func TestFiftyFirstCapabilityOfAnOwnerIsRefusedWithAdvice(t *testing.T) {
	h := newFixture(t)
	mina, ada, root := h.developer("mina"), h.developer("ada"), h.visitor(h.user("root", storage.RoleAdmin))
	for i := range 50 {
		h.want(h.register(mina, fmt.Sprintf(`{"member":"m%d","upstream_url":"https://mcp.example.com","publish":%t}`, i, i%2 == 0)), 200, 1, "one of fifty")
	}
	a := h.want(h.register(mina, standard("more", "a")), 400, openapi.ErrcodeTooMuch, "the 51st")
	for _, want := range []string{"50 capabilities", "remove", "m0"} {
		if !strings.Contains(a.body.Msg, want) {
			t.Errorf("the refusal says %q, want %q in it", a.body.Msg, want)
		}
	}
	h.want(h.register(mina, standard("m7", "b")), 200, 1, "one of them anew")
	h.want(h.register(ada, standard("other", "a")), 200, 1, "another developer's")
	h.want(h.register(root, standard("roots", "a")), 200, 1, "an administrator's")
	h.want(h.request("DELETE", all+"/m0", mina, nil), 200, 1, "a removal")
	h.want(h.register(mina, standard("more", "a")), 200, 1, "the fiftieth, once there is room")
}

func TestAdministratorIsNotHeldToTheCountOfCapabilities(t *testing.T) {
	h := newFixture(t, few)
	root := h.visitor(h.user("root", storage.RoleAdmin))
	for i := range 5 {
		h.want(h.register(root, standard(fmt.Sprint("m", i), "a", "b")), 200, 1,
			"an administrator's, beyond the share of a developer")
	}
}

func TestSixtyRegistrationsOfOneOwnerAtOnceLeaveFifty(t *testing.T) {
	h := newFixture(t)
	mina := h.user("mina", storage.RoleDeveloper)
	cookie := h.visitor(mina)
	var all sync.WaitGroup
	answers := make([]response, 60)
	for i := range answers {
		all.Go(func() {
			answers[i] = h.register(cookie, fmt.Sprintf(`{"member":"m%d","upstream_url":"https://mcp.example.com"}`, i))
		})
	}
	all.Wait()
	stored := 0
	for i, a := range answers {
		if a.status == 200 {
			stored++
		} else {
			h.want(a, 400, openapi.ErrcodeTooMuch, fmt.Sprint("registration ", i))
		}
	}
	there := must(h.registry.List(t.Context(), mina))(t)
	if stored != 50 || len(there) != 50 {
		t.Errorf("%d of sixty at once are taken and %d are there, want 50", stored, len(there))
	}
}

func TestToolsBeyondTheShareOfAnOwnerAreRefused(t *testing.T) {
	h := newFixture(t, few)
	mina := h.developer("mina")
	private := func(member string, off bool, names ...string) string {
		return fmt.Sprintf(`{"publish":%t,`, !off) + strings.TrimPrefix(standard(member, names...), "{")
	}
	h.want(h.register(mina, standard("a", "t1", "t2", "t3")), 200, 1, "three tools")
	a := h.want(h.register(mina, standard("b", "t1", "t2", "t3")), 400, openapi.ErrcodeTooMuch, "three more, of five")
	for _, want := range []string{"6 tools", "at most 5", `"a" (3)`} {
		if !strings.Contains(a.body.Msg, want) {
			t.Errorf("the refusal says %q, want %q in it", a.body.Msg, want)
		}
	}
	h.want(h.register(mina, standard("b", "t1", "t2")), 200, 1, "two more, of five")
	h.want(h.register(mina, standard("b", "u1", "u2")), 200, 1, "the same number anew")
	h.want(h.register(mina, standard("b", "u1", "u2", "u3")), 400, openapi.ErrcodeTooMuch, "one tool more")
	if got := h.stored("b"); !strings.HasSuffix(got, " u1 u2") {
		t.Errorf("stored is %s, want what was there", got)
	}
	h.want(h.register(mina, private("c", true, "t1", "t2")), 200, 1, "what is not on the bus")
	h.want(h.register(mina, private("c", false, "t1", "t2")), 400, openapi.ErrcodeTooMuch, "the same, on the bus")
	h.want(h.register(h.developer("ada"), standard("d", "t1", "t2", "t3")), 200, 1, "another developer's")
}

// The share may have become smaller, or an upstream may list more than it did.
func TestRegistrationsOverTheShareMayBeReplacedIfTheyDoNotGrow(t *testing.T) {
	h := newFixture(t)
	mina := h.developer("mina")
	h.want(h.register(mina, standard("a", "t1", "t2", "t3", "t4")), 200, 1, "four tools")
	h.want(h.register(mina, standard("b", "t1", "t2", "t3", "t4")), 200, 1, "four tools")
	h.registry = must(registry.New(t.Context(), registry.Config{BaseURL: base, Store: h.store, Visitors: h.signIn,
		MaxCapabilities: 1, MaxTools: 5, NoDelivery: true}))(t)
	h.want(h.register(mina, standard("a", "u1", "u2", "u3", "u4")), 200, 1, "as many as before")
	h.want(h.register(mina, standard("a", "u1", "u2")), 200, 1, "fewer than before")
	h.want(h.register(mina, standard("a", "u1", "u2", "u3")), 400, openapi.ErrcodeTooMuch, "more than before")
}

func TestPreviewSaysThatTheShareIsUsedUp(t *testing.T) {
	h := newFixture(t, few)
	mina := h.developer("mina")
	for _, m := range []string{"a", "b", "c"} {
		h.want(h.register(mina, standard(m, "t")), 200, 1, m)
	}
	preview := func(cookie, body string) response {
		return h.request("POST", all+"/preview", cookie, strings.NewReader(body))
	}
	h.want(preview(mina, standard("d", "t")), 400, openapi.ErrcodeTooMuch, "a fourth")
	h.want(preview(mina, standard("c", "t")), 200, 1, "one of them anew")
	h.want(preview(mina, standard("c", "t1", "t2", "t3", "t4")), 400, openapi.ErrcodeTooMuch,
		"one of them, with too many tools")
	a := h.want(preview(mina, `{"openapi":`+document("t")+`}`), 200, 1, "one without a name")
	if !strings.Contains(a.body.Data.Warning, "3 capabilities") || len(a.body.Data.Tools) != 1 {
		t.Errorf("a preview without a name = %s, want the tools and a warning", a.text)
	}
	if a := h.want(preview(h.developer("ada"), `{"openapi":`+document("t")+`}`), 200, 1, "somebody with room"); a.body.Data.Warning != "" {
		t.Errorf("warned: %s", a.text)
	}
}

func TestSharesLimitIsAboveZero(t *testing.T) {
	h := newFixture(t)
	_, err := registry.New(t.Context(), registry.Config{BaseURL: base, Store: h.store, Visitors: h.signIn,
		MaxCapabilities: -1, MaxTools: -1})
	for _, field := range []string{"MaxCapabilities", "MaxTools"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("New() = %v, want %s named", err, field)
		}
	}
}

func TestRegisterShowsWhatTheBusLeavesOut(t *testing.T) {
	const why = "the bus leaves it out: its owner has too many tools"
	h := newFixture(t)
	h.leftOut = map[string]string{"shop": why}
	mina := h.developer("mina")
	if a := h.want(h.register(mina, standard("shop", "t")), 200, 1, "a registration"); a.body.Data.Warning != why {
		t.Errorf("registered: warning = %q, want %q", a.body.Data.Warning, why)
	}
	if a := h.want(h.request("GET", all+"/shop", mina, nil), 200, 1, "one shown"); a.body.Data.Warning != why {
		t.Errorf("shown: %s, want the warning", a.text)
	}
	h.want(h.register(mina, standard("mail", "t")), 200, 1, "another")
	if a := h.request("GET", all, mina, nil); strings.Count(a.text, why) != 1 {
		t.Errorf("listed: %s, want one warning", a.text)
	}
	if a := h.request("GET", all+"/mail", mina, nil); strings.Contains(a.text, "warning") {
		t.Errorf("shown: %s, want no warning", a.text)
	}
}

// Decision 61.
func TestNameThatLooksLikeAnothersIsTaken(t *testing.T) {
	h := newFixture(t)
	mina, ada, root := h.developer("mina"), h.developer("ada"), h.visitor(h.user("root", storage.RoleAdmin))
	h.want(h.register(mina, standard("pay", "t")), 200, 1, "the first")
	for _, like := range []string{"Pay", "PAY", "pay-", "p_a_y"} {
		a := h.want(h.register(ada, standard(like, "t")), 403, 403, like+" beside another's")
		if strings.Contains(a.body.Msg, "mina") || !strings.Contains(a.body.Msg, "choose another") {
			t.Errorf("%s is refused with %q", like, a.body.Msg)
		}
		for _, cookie := range []string{mina, root} {
			if a := h.want(h.register(cookie, standard(like, "t")), 400, openapi.ErrcodeBadMember, like+" beside one's own"); !strings.Contains(a.body.Msg, `"pay"`) {
				t.Errorf("%s is refused with %q, want pay named", like, a.body.Msg)
			}
		}
		h.want(h.request("POST", all+"/preview", ada, strings.NewReader(standard(like, "t"))), 403, 403, "a preview of "+like)
		h.want(h.request("GET", all+"/"+like, mina, nil), 404, 404, like+", which is not stored")
		h.want(h.request("DELETE", all+"/"+like, mina, nil), 404, 404, like+", which is not stored")
	}
	h.want(h.register(mina, standard("pay", "u")), 200, 1, "the name itself")
	if got := h.stored("pay"); !strings.HasSuffix(got, " u") {
		t.Errorf("stored is %s", got)
	}
}

func TestRegisterLookAlikesAtOnceTakesOne(t *testing.T) {
	h := newFixture(t)
	names := []string{"pay", "Pay", "PAY", "pay-", "p_ay", "pa-y"}
	answers := make([]response, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		cookie := h.developer("dev" + fmt.Sprint(i))
		all.Go(func() { answers[i] = h.register(cookie, standard(name, "t")) })
	}
	all.Wait()
	won := slices.IndexFunc(answers, func(a response) bool { return a.status == 200 })
	for i, a := range answers {
		if i != won {
			h.want(a, 403, 403, names[i])
		}
	}
	if stored := must(h.registry.List(t.Context(), storage.User{Role: storage.RoleAdmin}))(t); won < 0 ||
		len(stored) != 1 || stored[0].Member != names[won] {
		t.Errorf("won is %d, stored are %v, want one", won, stored)
	}
}
