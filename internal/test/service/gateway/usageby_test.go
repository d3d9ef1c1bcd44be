package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// spend charges what happened to an application.
func (h *fixture) spend(app storage.App, n int, product, tool, user string, failed bool) {
	h.Helper()
	for range n {
		if err := h.gateway.Charge(storage.Caller{AppID: app.ID, UserID: user}, product, tool, 0, failed); err != nil {
			h.Fatal(err)
		}
	}
}

func TestOwnerSeesWhoCalledAndWhichTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the bubble begins at 2000-01-01T00:00:00Z
		h := newFixture(t)
		bearer := h.bearer(h.app)
		h.spend(h.app, 3, gateway.ProductMCP, "shop__order", "u1", false)
		h.spend(h.app, 1, gateway.ProductMCP, "shop__list", "u2", true)
		h.spend(h.app, 2, gateway.ProductAI, "", "u2", false)
		h.spend(h.app, 1, gateway.ProductMCP, "mail__send", "", false) // by the application itself
		h.spend(h.other, 9, gateway.ProductMCP, "shop__order", "u1", false)
		time.Sleep(25 * time.Hour)
		h.spend(h.app, 2, gateway.ProductMCP, "shop__order", "u2", false)
		for _, c := range []struct{ query, want string }{
			{"by=user", `{"from":"2000-01-01T00:00:00Z","to":"2000-01-03T00:00:00Z","granularity":"day","by":"user","series":[` +
				`{"at":"2000-01-01T00:00:00Z","user":"u1","calls":3,"errors":0},{"at":"2000-01-01T00:00:00Z","user":"u2","calls":3,"errors":1},` +
				`{"at":"2000-01-02T00:00:00Z","user":"u2","calls":2,"errors":0}],"totals":{"u1":3,"u2":5},"omitted":{"names":0,"calls":0}}`},
			{"by=tool&granularity=hour&from=2000-01-01T00:00:00Z", `{"from":"2000-01-01T00:00:00Z","to":"2000-01-02T02:00:00Z","granularity":"hour","by":"tool","series":[` +
				`{"at":"2000-01-01T00:00:00Z","tool":"mail__send","calls":1,"errors":0},{"at":"2000-01-01T00:00:00Z","tool":"shop__list","calls":1,"errors":1},` +
				`{"at":"2000-01-01T00:00:00Z","tool":"shop__order","calls":3,"errors":0},{"at":"2000-01-02T01:00:00Z","tool":"shop__order","calls":2,"errors":0}],` +
				`"totals":{"mail__send":1,"shop__list":1,"shop__order":5},"omitted":{"names":0,"calls":0}}`},
			{"by=member&from=2000-01-02", `{"from":"2000-01-02T00:00:00Z","to":"2000-01-03T00:00:00Z","granularity":"day","by":"member","series":[` +
				`{"at":"2000-01-02T00:00:00Z","member":"shop","calls":2,"errors":0}],"totals":{"shop":2},"omitted":{"names":0,"calls":0}}`},
			{"by=tool&from=1999-01-01&to=1999-12-31", `{"from":"1999-01-01T00:00:00Z","to":"1999-12-31T00:00:00Z","granularity":"day","by":"tool","series":[],"totals":{},"omitted":{"names":0,"calls":0}}`},
		} {
			a := h.want(h.call("GET", "/api/v1/usage?"+c.query, bearer), 200, c.query)
			if want := `{"code":1,"msg":"success","data":` + c.want + `}`; a.text != want {
				t.Errorf("usage?%s\n got %s\nwant %s", c.query, a.text, want)
			}
		}
		a := h.want(h.call("GET", "/api/v1/usage?by=user&format=csv", bearer), 200, "csv")
		if want := "at,user,calls,errors\n2000-01-01T00:00:00Z,u1,3,0\n2000-01-01T00:00:00Z,u2,3,1\n" +
			"2000-01-02T00:00:00Z,u2,2,0\n"; a.text != want {
			t.Errorf("csv is %q", a.text)
		}
		if got := h.used(bearer, gateway.ProductMCP); got != 7 {
			t.Errorf("%d calls of mcp are charged, want 7: however many rows there are", got)
		}
	})
}

// They outlive the process, as rows of their own.
func TestUsageByNameIsInTheStore(t *testing.T) {
	h := newFixture(t)
	h.spend(h.app, 2, gateway.ProductMCP, "shop__order", "u1", false)
	if err := h.gateway.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"": gateway.ProductMCP, "\x1fby:user": "u1", "\x1fby:tool": "shop__order",
		"\x1fby:member": "shop"} {
		rows := must(h.store.Usage(t.Context(), driver.UsageQuery{AppID: h.app.ID + id, To: time.Now().Add(time.Hour)}))(t)
		if len(rows) != 1 || rows[0].Product != want || rows[0].Calls != 2 {
			t.Errorf("%q: %v, want 2 of %s", id, rows, want)
		}
	}
}

func TestUsageByCallerIsForTheApplicationAndItsOwner(t *testing.T) {
	h := newFixture(t)
	owner := must(h.store.CreateUser(t.Context(), storage.User{Username: "ada"},
		storage.Login{Method: storage.LoginSelf, Subject: "ada"}))(t)
	admin := must(h.store.CreateUser(t.Context(), storage.User{Username: "root", Role: storage.RoleAdmin},
		storage.Login{Method: storage.LoginSelf, Subject: "root"}))(t)
	app := must(h.store.SaveApp(t.Context(), storage.App{Name: "Mine", Domains: []string{"mine.example"},
		Owner: owner.Sub}))(t)
	h.spend(app, 1, gateway.ProductMCP, "shop__order", "u1", false)
	h.spend(app, 1, gateway.ProductMCP, "shop__order", "u2", false)
	for _, by := range []string{"user", "tool", "member", "agent"} {
		for who, c := range map[string]struct {
			bearer string
			status int
			names  int64
		}{
			"the application":                         {h.bearer(app), 200, 1},
			"its owner":                               {h.of(app, owner.Sub), 200, 1},
			"one of its users":                        {h.of(app, "u1"), 403, 0},
			"an administrator":                        {h.of(app, admin.Sub), 403, 0},
			"another application":                     {h.bearer(h.app), 200, 0},
			"its owner, by another's, which has none": {h.of(h.app, owner.Sub), 403, 0},
			"nobody":                                  {"", 401, 0},
			"an application without an owner, by users": {h.of(h.other, "u1"), 403, 0},
		} {
			a := h.want(h.call("GET", "/api/v1/usage?by="+by, c.bearer), c.status, who+", by "+by)
			if shown := strings.Contains(a.text, `"at"`); shown != (c.names > 0) || c.status != 200 && strings.Contains(a.text, "shop") {
				t.Errorf("%s, by %s: %s", who, by, a.text)
			}
		}
	}
}

// The account is one person's, and so is what it shows.
func TestPersonSeesTheirOwnToolsWithAClient(t *testing.T) {
	h := newFixture(t)
	app := h.vendor("https://agent.example/client.json")
	h.spend(app, 2, gateway.ProductMCP, "shop__order", "u1", false)
	h.spend(app, 1, gateway.ProductAI, "", "u1", false)
	h.spend(app, 5, gateway.ProductMCP, "mail__send", "u2", false)
	mine := h.of(app, "u1")
	for by, want := range map[string]string{"tool": `"totals":{"shop__order":2}`, "member": `"totals":{"shop":2}`, "user": `"totals":{"u1":3}`} {
		a := h.want(h.call("GET", "/api/v1/usage?by="+by, mine), 200, by)
		if !strings.Contains(a.text, want) || strings.Contains(a.text, "mail") || strings.Contains(a.text, "u2") {
			t.Errorf("by %s: %s, want %s", by, a.text, want)
		}
	}
}

func TestBiggestNamesAreInTheAnswer(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app)
	const users = 1_203
	for i := range users {
		h.spend(h.app, 1+i%3, gateway.ProductAI, "", fmt.Sprintf("u%04d", i), false)
	}
	h.spend(h.app, 50, gateway.ProductAI, "", "u0003", false)
	a := h.want(h.call("GET", "/api/v1/usage?by=user", bearer), 200, "by user")
	if a.number("data.totals.u0003") != 51 || a.number("data.totals.u0002") != 3 ||
		a.number("data.omitted.names") != 203 || a.number("data.omitted.calls") != 203 {
		t.Errorf("omitted %d names and %d calls", a.number("data.omitted.names"), a.number("data.omitted.calls"))
	}
	if n := strings.Count(a.text, `"at"`); n != 1000 {
		t.Errorf("%d rows, want 1000", n)
	}
	if a = h.call("GET", "/api/v1/usage?by=user&format=csv", bearer); a.header.Get("X-Keystile-Omitted-Names") != "203" ||
		strings.Count(a.text, "\n") != 1001 {
		t.Errorf("the table has %d lines and omits %q", strings.Count(a.text, "\n"), a.header.Get("X-Keystile-Omitted-Names"))
	}
}

// A host's own subs may begin with what spreadsheets run.
func TestTableRunsNothing(t *testing.T) {
	h := newFixture(t)
	for _, sub := range []string{"=1+1", "+1", "-1", "@x", "\tx", "|x", "a,b", "a\"b", "a\nb", "plain"} {
		h.spend(h.app, 1, gateway.ProductAI, "", sub, false)
	}
	a := h.want(h.call("GET", "/api/v1/usage?by=user&format=csv", h.bearer(h.app)), 200, "csv")
	for _, want := range []string{",'=1+1,", ",'+1,", ",'-1,", ",'@x,", ",'\tx,", ",'|x,", `,"a,b",`, `,"a""b",`, "plain"} {
		if !strings.Contains(a.text, want) {
			t.Errorf("%q is not in %q", want, a.text)
		}
	}
}

func TestByThatIsWrongIsAnsweredWithWhatToWrite(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app)
	for query, want := range map[string]string{"by=ip": "member, tool, user or agent",
		"by=user&product=ai": "exclude each other", "by=user&by=tool": "more than once"} {
		if a := h.want(h.call("GET", "/api/v1/usage?"+query, bearer), 400, query); !strings.Contains(a.text, want) {
			t.Errorf("%s: %s", query, a.text)
		}
	}
}
