package console_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

// A rule is about a person or an application whom its writer names; the list shows them by name, with the id small.
func TestRuleNamesPeopleAndApplicationsByName(t *testing.T) {
	h, _, dev := shopFixture(t)
	root, mina := h.testUser("root", storage.RoleAdmin), h.testUser("mina", "")
	shop := h.app("Bookshop", mina.Sub)
	h.app("Twin", mina.Sub)
	h.app("Twin", mina.Sub)
	const path = "/console/access/shop"
	add := func(who testUser, fields url.Values) (int, string) {
		fields.Set("do", "add")
		fields.Set("form", h.formOn(h.open(path, who.cookie)))
		w := h.send(path, who.cookie, fields)
		return w.Code, w.Body.String()
	}
	for subject, form := range map[string]url.Values{
		"user:" + mina.Sub: {"who": {"user"}, "user": {" Mina "}}, "app:" + shop.ID: {"who": {"app"}, "app": {"bookshop"}},
		"role:auditor": {"who": {"role:auditor"}, "user": {"left over"}}, "everyone": {"who": {"everyone"}},
		"tier:free": {"subject": {"tier:free"}},
	} {
		if code, page := add(root, form); code != 303 {
			t.Errorf("%s is %d %.2000s", subject, code, page)
		}
		l, err := h.store.Access(t.Context(), "shop")
		if n := len(l.Rules); err != nil || n == 0 || l.Rules[n-1].Subject != subject {
			t.Errorf("%v has become %+v, want %s", form, l.Rules, subject)
		}
	}
	page := h.open(path, root.cookie).Body.String()
	for _, want := range []string{`<bdi>mina</bdi></a> <small class="id"><code>` + mina.Sub,
		`<bdi>Bookshop</bdi></a> <small class="id"><code>` + shop.ID, "the role auditor", "the tier free"} {
		if !strings.Contains(page, want) {
			t.Errorf("the list lacks %s: %.4000s", want, page)
		}
	}
	page = h.open(path, dev.cookie).Body.String()
	if strings.Contains(page, "mina") || !strings.Contains(page, mina.Sub) {
		t.Error("a developer is told the name of a user whom only an id is known of")
	}
	for says, form := range map[string]url.Values{
		"there is no such user": {"who": {"user"}, "user": {"nobody"}}, "Person is missing": {"who": {"user"}},
		"Application is missing":        {"who": {"app"}, "app": {"  "}},
		"there is no such application":  {"who": {"app"}, "app": {"<script>alert(1)</script>"}},
		"more than one has this name":   {"who": {"app"}, "app": {"Twin"}},
		"no such application: give its": {"who": {"app"}, "app": {strings.Repeat("x", 501)}},
	} {
		code, page := add(root, form)
		if code != 400 || !strings.Contains(page, says) || !strings.Contains(page, `aria-invalid="true"`) ||
			strings.Contains(page, "<script>alert") {
			t.Errorf("%v is %d, want %q: %.3000s", form, code, says, page)
		}
	}
	l, _ := h.store.Access(t.Context(), "shop")
	if len(l.Rules) != 5 {
		t.Errorf("there are %d rules", len(l.Rules))
	}
	sees := h.open("/console/visible?user=mina&client_id=Bookshop", root.cookie)
	if page := sees.Body.String(); sees.Code != 200 || !strings.Contains(page, "<bdi>mina</bdi>") ||
		!strings.Contains(page, shop.ID) {
		t.Errorf("what they see is %d %.3000s", sees.Code, page)
	}
	sees = h.open("/console/visible?client_id=Twin", root.cookie)
	if sees.Code != 400 || !strings.Contains(sees.Body.String(), "more than one has this name") {
		t.Errorf("an ambiguous name is %d", sees.Code)
	}
}
