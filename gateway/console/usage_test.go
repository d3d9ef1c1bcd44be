package console_test

import (
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/gateway/usage"
	"github.com/keystile/keystile/internal/record/ranking"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/driver"
)

func TestUsageIsShownToWhoMaySeeTheApplication(t *testing.T) {
	h := newFixture(t)
	root, mina, ada := h.testUser("root", storage.RoleAdmin), h.testUser("mina", storage.RoleDeveloper),
		h.testUser("ada", "")
	app := h.app("Shop", mina.Sub)
	err := h.store.Count(t.Context(), driver.Batch{Node: "n", Seq: 1},
		[]driver.Count{{AppID: app.ID, Product: "verify", At: driver.Hour(time.Now()), Calls: 1234, Errors: 7}})
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

func TestUsageOfAnApplicationHasEachDayOfTheSpan(t *testing.T) {
	h := newFixture(t)
	root := h.testUser("root", storage.RoleAdmin)
	app := h.app("Shop", root.Sub)
	today := driver.Hour(time.Now())
	rows := []driver.Count{
		{AppID: app.ID, Product: "verify", At: today, Calls: 3, Errors: 1},
		{AppID: app.ID, Product: "mcp", At: today, Calls: 4},
		{AppID: app.ID, Product: "verify", At: today.AddDate(0, 0, -7), Calls: 5},
	}
	if err := h.store.Count(t.Context(), driver.Batch{Node: "n", Seq: 1}, rows); err != nil {
		t.Fatal(err)
	}
	for unit, want := range map[string]int{"day": 30, "hour": 7 * 24} {
		series, _ := h.do("GET", "/api/console/usage?granularity="+unit+"&client_id="+app.ID, root.cookie,
			"").body.Data["series"].([]any)
		if len(series) != want {
			t.Fatalf("by %s there are %d points, want %d", unit, len(series), want)
		}
		var calls []float64
		before := ""
		for _, p := range series {
			p := p.(map[string]any)
			if at := p["at"].(string); at <= before {
				t.Errorf("by %s %s follows %s", unit, at, before)
			} else {
				before = at
			}
			calls = append(calls, p["calls"].(float64))
		}
		if last := calls[len(calls)-1]; last != 7 {
			t.Errorf("by %s the last point has %v calls, want 7", unit, last)
		}
		if unit == "day" && (calls[22] != 5 || calls[21] != 0) {
			t.Errorf("seven days ago there are %v calls, want 5", calls)
		}
	}
}

// Calls of the console and of API keys have a word for their name; agents and people have names of their own.
func TestUsageOfTheServiceCallsEverybodyByName(t *testing.T) {
	h := newFixture(t)
	root := h.testUser("root", storage.RoleAdmin)
	app := h.app("Shop", root.Sub)
	h.agent(dynamic, client.Dynamic, time.Now().Add(time.Hour))
	day := driver.Day(time.Now())
	for of, names := range map[string][]string{usage.Users: {root.Sub, "gone"},
		usage.Agents: {app.ID, root.Sub, dynamic, "planner"},
		usage.Apps:   {app.ID, storage.ConsoleAppID, storage.KeysAppID, dynamic, "ks" + strings.Repeat("a", 24)}} {
		n := make([]int64, len(names))
		for i := range n {
			n[i] = 5
		}
		must(h.store.SaveRanking(t.Context(), ranking.Ranking{ID: of, Of: of, Day: day, Names: names,
			Calls: n, Errors: n, Over: n}))(t)
	}
	for query, want := range map[string][]string{
		"by=app": {">Shop</bdi></a>", `href="/console/usage?by=app&amp;client_id=` + app.ID, ">Console</th>",
			">API key</th>", "Agent</bdi></a>", "a removed application"},
		"by=app&lang=zh-CN": {">控制台</th>", ">API 密钥</th>", "已移除的应用"},
		"by=user":           {">root</bdi></a>", "a removed user"},
		"by=agent":          {">Shop</bdi></a>", ">root</bdi></a>", "Agent</bdi></a>", "<code>planner</code>"},
	} {
		page := h.open("/console/usage?"+query, root.cookie).Body.String()
		for _, text := range want {
			if !strings.Contains(page, text) {
				t.Errorf("usage %s lacks %q: %s", query, text, page)
			}
		}
	}
}

func TestUsageTellsOwnersNoNamesOfPeople(t *testing.T) {
	h := newFixture(t)
	root, ada, zoe := h.testUser("root", storage.RoleAdmin), h.testUser("ada", ""), h.testUser("zoe", "")
	app := h.app("Shop", ada.Sub)
	must(0, h.store.Count(t.Context(), driver.Batch{Node: "n", Seq: 1}, []driver.Count{
		{AppID: app.ID, Product: "verify", At: driver.Hour(time.Now()), Calls: 3},
		{AppID: ledger.By(app.ID, ledger.ByUser), Product: zoe.Sub, At: driver.Hour(time.Now()), Calls: 3}}))(t)
	for cookie, named := range map[string]bool{root.cookie: true, ada.cookie: false} {
		page := h.open("/console/usage?by=user&client_id="+app.ID, cookie).Body.String()
		if strings.Contains(page, ">zoe</bdi>") != named || !strings.Contains(page, zoe.Sub) {
			t.Errorf("named %v: %s", named, page)
		}
	}
}

// An application's calls that none of its agents made are its own.
func TestUsageOfAnApplicationIsShownByAgent(t *testing.T) {
	h := newFixture(t)
	root, ada := h.testUser("root", storage.RoleAdmin), h.testUser("ada", "")
	app, planner := h.app("Shop", ada.Sub), h.app("Planner", "")
	at := driver.Hour(time.Now())
	must(0, h.store.Count(t.Context(), driver.Batch{Node: "n", Seq: 1}, []driver.Count{
		{AppID: app.ID, Product: "ai", At: at, Calls: 30, Errors: 3},
		{AppID: app.ID, Product: "mcp", At: at, Calls: 7, Errors: 2},
		{AppID: ledger.By(app.ID, ledger.ByAgent), Product: planner.ID, At: at, Calls: 12, Errors: 1}}))(t)
	for cookie, name := range map[string]string{root.cookie: ">Planner</bdi></a>", ada.cookie: "<code>" + planner.ID} {
		page := h.open("/console/usage?by=agent&client_id="+app.ID, cookie).Body.String()
		own, agent := `<td class="num">25</td><td class="num">4</td>`, `<td class="num">12</td><td class="num">1</td>`
		if !strings.Contains(page, own) || !strings.Contains(page, agent) || !strings.Contains(page, name) {
			t.Errorf("the page lacks %s, %s or %s: %s", own, agent, name, page)
		}
	}
	names, _ := h.do("GET", "/api/console/usage?by=agent&client_id="+app.ID, root.cookie, "").body.Data["names"].([]any)
	if len(names) != 2 || names[0].(map[string]any)["name"] != app.ID || names[1].(map[string]any)["name"] != planner.ID {
		t.Errorf("by agent there are %v", names)
	}
}

// The calls of the span before are a figure and a line, aligned with those of the span.
func TestUsageIsComparedWithThePeriodBefore(t *testing.T) {
	h := newFixture(t)
	root := h.testUser("root", storage.RoleAdmin)
	app := h.app("Shop", root.Sub)
	at := driver.Day(time.Now()).AddDate(0, 0, -3)
	for i, calls := range []int64{8, 0, 4, 0, 3, 6} { // two spans of three days
		must(0, h.store.Count(t.Context(), driver.Batch{Node: "n", Seq: uint64(i + 1)}, []driver.Count{
			{AppID: app.ID, Product: "verify", At: at.AddDate(0, 0, i-3), Calls: calls},
			{AppID: ledger.By("", ledger.OfService), Product: "verify", At: at.AddDate(0, 0, i-3), Calls: calls}}))(t)
	}
	span := "from=" + at.Format(time.DateOnly) + "&to=" + at.AddDate(0, 0, 3).Format(time.DateOnly)
	for _, query := range []string{span, span + "&client_id=" + app.ID} {
		page := h.open("/console/usage?"+query, root.cookie).Body.String()
		for _, want := range []string{"<b>12</b><span>now -25.0 %</span>", `class="s3" d="M5 40L15 200L25 120"`} {
			if !strings.Contains(page, want) {
				t.Errorf("usage %s lacks %q: %s", query, want, page)
			}
		}
	}
}
