package console_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

// idsOn returns the client_ids of a list, in its order.
func idsOn(a answer) (all []string) {
	apps, _ := a.body.Data["apps"].([]any)
	for _, app := range apps {
		all = append(all, app.(map[string]any)["client_id"].(string))
	}
	return all
}

func TestApplicationIsFoundByTheBeginningOfItsNameAndOfItsID(t *testing.T) {
	h := newFixture(t)
	root, mina, ada, audrey := h.testUser("root", storage.RoleAdmin), h.testUser("mina", storage.RoleDeveloper),
		h.testUser("ada", ""), h.testUser("audrey", storage.RoleAuditor)
	shop, office := h.app("Shop", mina.Sub), h.app("Office", ada.Sub)
	find := func(who testUser, query string) string {
		t.Helper()
		return strings.Join(idsOn(h.want(h.call("GET", "/api/console/apps?"+query, who.cookie, nil), 200, 1, query)), " ")
	}
	for _, c := range []struct {
		who         testUser
		query, want string
	}{
		{root, "q=sho", shop.ID}, {root, "q=%20SHOP%20", shop.ID}, {root, "q=" + shop.ID, shop.ID}, {root, "q=hop", ""},
		{root, "q=o&owner=" + ada.Sub, office.ID}, {root, "q=s&owner=" + ada.Sub, ""}, {audrey, "q=off", office.ID},
		{mina, "q=shop", shop.ID}, {mina, "q=office", ""}, {mina, "q=office&owner=" + ada.Sub, ""}, {ada, "q=off", office.ID},
	} {
		if got := find(c.who, c.query); got != c.want {
			t.Errorf("%s finds %q by %s, want %q", c.who.Username, got, c.query, c.want)
		}
	}
	for _, query := range []string{"q=" + strings.Repeat("x", 1001), "q=shop&after=" + strings.Repeat("x", 1001),
		"q=shop&after=nowhere", "q=shop&owner=%2F"} {
		h.want(h.call("GET", "/api/console/apps?"+query, root.cookie, nil), 400, 400, query)
	}
	page := h.open("/console/apps?q="+url.QueryEscape(`"><script>alert(1)</script>`), root.cookie)
	if text := page.Body.String(); page.Code != 200 || strings.Contains(text, "<script>alert") ||
		!strings.Contains(text, "Nothing is found.") {
		t.Errorf("a hostile search is %d %s", page.Code, text)
	}
	if text := h.open("/console/apps?q=sho", root.cookie).Body.String(); !strings.Contains(text, shop.ID) || strings.Contains(text, office.ID) || !strings.Contains(text, `value="sho"`) {
		t.Errorf("the page finds %s", text)
	}
}

func TestSearchGoesOnBehindItsPage(t *testing.T) {
	h := newFixture(t)
	root := h.testUser("root", storage.RoleAdmin)
	want := map[string]bool{}
	for i := range 130 {
		want[h.app(fmt.Sprintf("Shop%d", i), "").ID] = true
	}
	h.app("Office", "")
	seen, pages := map[string]bool{}, 0
	for after := ""; ; pages++ {
		a := h.want(h.call("GET", "/api/console/apps?q=shop&after="+url.QueryEscape(after), root.cookie, nil), 200, 1,
			"a page")
		for _, id := range idsOn(a) {
			if seen[id] || !want[id] {
				t.Errorf("%s is found twice, or is no shop", id)
			}
			seen[id] = true
		}
		if after = data(a, "next"); after == "" || pages > 5 {
			break
		}
	}
	if len(seen) != 130 || pages == 0 {
		t.Errorf("found are %d in %d more pages", len(seen), pages)
	}
}
