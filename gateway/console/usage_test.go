package console_test

import (
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

func TestUsageIsShownToWhoMaySeeTheApplication(t *testing.T) {
	h := newFixture(t)
	root, mina, ada := h.testUser("root", storage.RoleAdmin), h.testUser("mina", storage.RoleDeveloper), h.testUser("ada", "")
	app := h.app("Shop", mina.Sub)
	err := h.store.Count(t.Context(), driver.Batch{Node: "n", Seq: 1}, []driver.Count{{AppID: app.ID, Product: "verify", At: driver.Hour(time.Now()), Calls: 1234, Errors: 7}})
	if err != nil {
		t.Fatal(err)
	}
	for cookie, want := range map[string]int{root.cookie: 200, mina.cookie: 200, ada.cookie: 404} {
		w := h.open("/console/usage?client_id="+app.ID, cookie)
		if shown := strings.Contains(w.Body.String(), "1,234"); w.Code != want || shown != (want == 200) {
			t.Errorf("usage is %d, shown %v, want %d", w.Code, shown, want)
		}
	}
	if w := h.open("/console/usage", ada.cookie); w.Code != 200 || strings.Contains(w.Body.String(), app.ID) {
		t.Errorf("who has no application sees %d %s", w.Code, w.Body)
	}
	if w := h.open("/console/usage", root.cookie); w.Code != 200 || !strings.Contains(w.Body.String(), `class="cards"`) {
		t.Errorf("the whole service's is %d", w.Code)
	}
}
