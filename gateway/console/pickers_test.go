package console_test

import (
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
)

// TestFieldOfAnApplicationTakesItsName tries each page that asks for an application or for a user by its name, by one
// that nothing has, and by one that two have.
func TestFieldOfAnApplicationOrAUserTakesItsName(t *testing.T) {
	h := newFixture(t)
	root, mina := h.testUser("root", storage.RoleAdmin), h.testUser("mina", storage.RoleDeveloper)
	shop := h.app("Shop", mina.Sub)
	h.app("Twin", mina.Sub)
	h.app("Twin", mina.Sub)
	for page, field := range map[string]string{"/console/quota": "app", "/console/orders": "client_id",
		"/console/settlements": "client_id", "/console/grants": "client_id", "/console/usage": "client_id",
		"/console/events": "client_id"} {
		for typed, code := range map[string]int{"shop": 200, shop.ID: 200, "Nothing": 404, "Twin": 400} {
			w := h.open(page+"?"+field+"="+typed, root.cookie)
			text := w.Body.String()
			wrong := strings.Contains(text, `name="`+field+`" aria-invalid="true" aria-describedby="problem"`)
			// A list of few applications chooses one by its id.
			kept := strings.Contains(text, `value="`+typed+`"`) || strings.Contains(text, `"`+shop.ID+`" selected>Shop<`)
			if w.Code != code || wrong != (code != 200) || !kept {
				t.Errorf("%s?%s=%s is %d, marked %v: %s", page, field, typed, w.Code, wrong, text)
			}
		}
	}
	for _, page := range []string{"/console/grants", "/console/sessions"} {
		for typed, code := range map[string]int{"MINA": 200, mina.Sub: 200, "nobody": 404} {
			w := h.open(page+"?user="+typed, root.cookie)
			if wrong := strings.Contains(w.Body.String(), `aria-invalid`); w.Code != code || wrong != (code != 200) {
				t.Errorf("%s?user=%s is %d, marked %v", page, typed, w.Code, wrong)
			}
		}
	}
	if text := h.openIn("zh-CN", "/console/quota?app=Shopp", root.cookie); !strings.Contains(text,
		`id="problem">应用：没有名为 &#34;Shopp&#34; 的应用<`) {
		t.Errorf("in Chinese it is told as %s", text)
	}
	// Developers have the same fields for what is theirs.
	other := h.app("Other", root.Sub)
	for typed, code := range map[string]int{"shop": 200, "Other": 404, other.ID: 404} {
		if w := h.open("/console/quota?app="+typed, mina.cookie); w.Code != code || code == 404 &&
			strings.Contains(w.Body.String(), "Other</bdi>") {
			t.Errorf("%s is %d for a developer", typed, w.Code)
		}
	}
}

func TestTierIsSetOfAnApplicationByItsName(t *testing.T) {
	h := newFixture(t)
	root := h.testUser("root", storage.RoleAdmin)
	shop := h.app("Shop", "")
	set := func(typed string) (int, string) {
		w := h.submit("/console/tiers", root.cookie, "set", h.formOn(h.open("/console/tiers", root.cookie)),
			"client_id", typed, "tier", "enterprise")
		return w.Code, w.Body.String()
	}
	if code, text := set("Shopp"); code != 404 || !strings.Contains(text, `value="Shopp"`) ||
		!strings.Contains(text, `<option value="enterprise" selected>`) || !strings.Contains(text, "aria-invalid") {
		t.Errorf("a form with a mistyped name is answered %d, and is lost: %s", code, text)
	}
	if code, text := set("Shop"); code != 303 {
		t.Errorf("%d %s", code, text)
	}
	if got := must(h.store.App(t.Context(), shop.ID))(t); got.TierAt(time.Now()) != "enterprise" {
		t.Errorf("the tier is %q", got.TierAt(time.Now()))
	}
}
