package console_test

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

func TestASettlementIsInYuanAndForWhoMaySeeTheApplication(t *testing.T) {
	h := newFixture(t)
	root, aud, mina, ada := h.testUser("root", storage.RoleAdmin), h.testUser("aud", storage.RoleAuditor), h.testUser("mina", storage.RoleDeveloper), h.testUser("ada", "")
	app, order := h.waits(h.app("Shop", mina.Sub))
	app.Name = "=HYPERLINK(" + hostileText + ")"
	must(h.store.SaveApp(t.Context(), app))(t)
	h.do("POST", "/api/console/orders/"+order+"/approve", root.cookie, `{}`)
	month := time.Now().UTC().Format("2006-01")
	for name, c := range map[string]struct {
		cookie string
		shown  bool
	}{"an administrator": {root.cookie, true}, "an auditor": {aud.cookie, true}, "its owner": {mina.cookie, true}, "another": {ada.cookie, false}} {
		w := h.open("/console/settlements?month="+month, c.cookie)
		body := w.Body.String()
		if shown := strings.Contains(body, "999.00") && strings.Contains(body, app.ID); w.Code != 200 || shown != c.shown || strings.Contains(body, "<script>alert") {
			t.Errorf("%s gets %d, shown %v: %s", name, w.Code, shown, body)
		}
		w = h.open("/api/console/settlements/csv?month="+month, c.cookie)
		rows, err := csv.NewReader(w.Body).ReadAll()
		if err != nil || w.Code != 200 || (len(rows) == 2) != c.shown {
			t.Fatalf("%s gets a file %d with %q, %v", name, w.Code, rows, err)
		}
		if c.shown && (rows[1][2] != "'"+app.Name || rows[1][8] != "99900" || rows[1][9] != "999.00") {
			t.Errorf("%s gets the line %q", name, rows[1])
		}
		want := 404
		if c.shown {
			want = 200
		}
		for _, path := range []string{"/console/settlements", "/api/console/settlements", "/api/console/settlements/csv"} {
			if got := h.open(path+"?client_id="+app.ID, c.cookie).Code; got != want {
				t.Errorf("%s gets %s of the application with %d", name, path, got)
			}
		}
	}
	if w := h.open("/console/settlements", ""); w.Code != 401 {
		t.Errorf("nobody gets %d", w.Code)
	}
	for _, bad := range []string{"month=soon", "month=9999-01", "after=%3Cscript%3E", "after=~~x"} {
		if w := h.open("/console/settlements?"+bad, root.cookie); w.Code != 400 {
			t.Errorf("%s is %d", bad, w.Code)
		}
	}
}

func TestSettlementsGoOnPageByPageToWhatWasRemoved(t *testing.T) {
	h := newFixture(t)
	mina, ada := h.testUser("mina", storage.RoleDeveloper), h.testUser("ada", "")
	h.app("Other", ada.Sub)
	want := map[string]bool{}
	for i := range 45 {
		app := h.app(fmt.Sprint("Shop", i), mina.Sub)
		want[app.ID] = true
		if i%2 == 0 {
			if err := h.store.DeleteApp(t.Context(), app, storage.Quota{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, after, pages := map[string]bool{}, "", 0
	for ; pages < 10; pages++ {
		data := h.want(h.do("GET", "/api/console/settlements?after="+after, mina.cookie, ""), 200, 1, "a page").body.Data
		all := data["settlements"].([]any)
		if len(all) > 20 {
			t.Errorf("a page has %d", len(all))
		}
		for _, one := range all {
			id := one.(map[string]any)["client_id"].(string)
			if got[id] || !want[id] {
				t.Errorf("%s comes twice, or is another's", id)
			}
			got[id] = true
		}
		if after = data["next"].(string); after == "" {
			break
		}
	}
	if len(got) != len(want) || pages < 2 {
		t.Errorf("%d of %d applications are on %d pages", len(got), len(want), pages+1)
	}
	rows, err := csv.NewReader(h.open("/api/console/settlements/csv", mina.cookie).Body).ReadAll()
	if err != nil || len(rows) != 46 {
		t.Errorf("the file has %d lines, %v", len(rows), err)
	}
}

func TestUsageIsChosenByNameAndRankedForTheWholeService(t *testing.T) {
	h, _, mina, app := busy(t)
	root, ada := h.testUser("root", storage.RoleAdmin), h.testUser("ada", "")
	other := h.app("Mart", ada.Sub)
	today := time.Now().UTC().Format(time.DateOnly)
	for _, c := range []struct {
		path, cookie string
		has, lacks   []string
	}{
		{"/console/usage", root.cookie, []string{"1,234", `<option value="` + app.ID, `<option value="` + other.ID, "from=" + today + "&amp;granularity=hour", "client_id=" + app.ID}, []string{"shop.&lt;script"}},
		{"/console/usage?by=tool", root.cookie, []string{"shop.&lt;script"}, nil},
		{"/console/usage?by=user", root.cookie, []string{mina.Sub}, nil},
		{"/console/usage?by=app&client_id=" + app.ID, root.cookie, []string{"1,234", "verify"}, nil},
		{"/console/usage?granularity=hour", root.cookie, []string{"1,234"}, nil},
		{"/console/usage", mina.cookie, []string{`<option value="` + app.ID}, []string{other.ID, "1,234"}},
		{"/console/usage?by=tool", ada.cookie, []string{other.ID}, []string{app.ID, "1,234", "shop."}},
	} {
		w := h.open(c.path, c.cookie)
		body := w.Body.String()
		if w.Code != 200 || strings.Contains(body, "<script>alert") || len(body) > 60<<10 {
			t.Errorf("%s is %d, %d bytes", c.path, w.Code, len(body))
		}
		for _, want := range c.has {
			if !strings.Contains(body, want) {
				t.Errorf("%s does not show %q: %s", c.path, want, body)
			}
		}
		for _, not := range c.lacks {
			if strings.Contains(body, not) {
				t.Errorf("%s shows %q", c.path, not)
			}
		}
	}
	yesterday := driver.Count{AppID: app.ID, Product: "verify", At: driver.Hour(time.Now().Add(-24 * time.Hour)), Calls: 5}
	if err := h.store.Count(t.Context(), driver.Batch{Node: "n", Seq: 2}, []driver.Count{yesterday}); err != nil {
		t.Fatal(err)
	}
	data := h.do("GET", "/api/console/usage?client_id="+app.ID+"&from="+today, root.cookie, "").body.Data
	if data["calls"] != 1234.0 || data["calls_before"] != 5.0 {
		t.Errorf("today has %v calls, and the day before %v", data["calls"], data["calls_before"])
	}
	if a := h.do("GET", "/api/console/usage?by=app", mina.cookie, ""); a.status != 400 {
		t.Errorf("a developer gets the whole service's with %d", a.status)
	}
}
