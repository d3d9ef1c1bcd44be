package console_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/console"
	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

func TestSettlementIsInYuanAndForWhoMaySeeTheApplication(t *testing.T) {
	h := newFixture(t)
	root, aud, mina, ada := h.testUser("root", storage.RoleAdmin), h.testUser("aud", storage.RoleAuditor),
		h.testUser("mina", storage.RoleDeveloper), h.testUser("ada", "")
	app, order := h.waits(h.app("Shop", mina.Sub))
	app.Name = "=HYPERLINK(" + hostileText + ")"
	must(h.store.SaveApp(t.Context(), app))(t)
	h.do("POST", "/api/console/orders/"+order+"/approve", root.cookie, `{}`)
	month := time.Now().UTC().Format("2006-01")
	for name, c := range map[string]struct {
		cookie string
		shown  bool
	}{"an administrator": {root.cookie, true}, "an auditor": {aud.cookie, true}, "its owner": {mina.cookie, true},
		"another": {ada.cookie, false}} {
		w := h.open("/console/settlements?month="+month, c.cookie)
		body := w.Body.String()
		if shown := strings.Contains(body, "999.00") && strings.Contains(body, app.ID); w.Code != 200 || shown != c.shown ||
			strings.Contains(body, "<script>alert") {
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

// countedMeters counts reads of usage, too, and reads that of several applications at once.
type countedMeters struct{ *counted }

func (c countedMeters) Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
	c.reads.Add(1)
	return c.Backend.Usage(ctx, q)
}

func (c countedMeters) UsageOf(ctx context.Context, apps []string, q driver.UsageQuery) ([]driver.Count, error) {
	c.reads.Add(1)
	return usageOf(ctx, c.Backend, apps, q)
}

func TestPageOfSettlementsAsksTheStoreTwiceBesideTheVisitor(t *testing.T) {
	store := countedMeters{&counted{Backend: backend.New(t)}}
	h := newNode(t, store, storage.NewMasterKey(), func(c *console.Config) {
		c.Billing = must(billing.New(billing.Config{Store: c.Store,
			UsageOf: func(ctx context.Context, apps []string, q driver.UsageQuery) (map[string][]driver.Count, error) {
				all := map[string][]driver.Count{}
				rows, err := c.Store.UsageOf(ctx, apps, q)
				for _, row := range rows {
					all[row.AppID] = append(all[row.AppID], row)
				}
				return all, err
			}}))(t)
	})
	root, mina := h.testUser("root", storage.RoleAdmin), h.testUser("mina", storage.RoleDeveloper)
	paid := map[string]bool{}
	for i := range 30 {
		app, order := h.waits(h.app(fmt.Sprintf("Shop-%d", i), []string{"", mina.Sub}[i%2]))
		if i%3 == 0 {
			h.do("POST", "/api/console/orders/"+order+"/approve", root.cookie, `{}`)
			paid[app.ID] = true
		}
		must(0, h.store.Count(t.Context(), driver.Batch{Node: "n", Seq: uint64(i + 1)},
			[]driver.Count{{AppID: app.ID, Product: "ai", At: driver.Hour(time.Now()), Calls: int64(i + 1)}}))(t)
	}
	for name, who := range map[string]testUser{"an administrator": root, "an owner": mina} {
		store.reads.Store(0)
		h.open("/console/apps/new", who.cookie)
		visitor := store.reads.Load()
		store.reads.Store(0)
		a := h.call("GET", "/api/console/settlements", who.cookie, nil)
		if n := store.reads.Load() - visitor; a.status != 200 || n > 2 {
			t.Errorf("%s: %d after %d reads", name, a.status, n)
		}
		for _, s := range a.body.Data["settlements"].([]any) {
			s := s.(map[string]any)
			want := 0.0
			if paid[s["client_id"].(string)] {
				want = 99_900
			}
			var i float64
			fmt.Sscanf(s["name"].(string), "Shop-%f", &i)
			if s["subscription_fen"] != want || s["calls"] != i+1 {
				t.Errorf("%s is settled with %v and %v calls, want %v and %v", s["name"], s["subscription_fen"], s["calls"], want,
					i+1)
			}
		}
	}
}
