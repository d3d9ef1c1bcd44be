package console_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/console"
	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/gateway/usage"
	"github.com/keystile/keystile/internal/record/ranking"
	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/toolplan"
)

// reads counts what is read of a Backend.
type reads struct {
	driver.Backend
	n atomic.Int64
}

func (b *reads) Get(ctx context.Context, kind, id string) (driver.Doc, error) {
	b.n.Add(1)
	return b.Backend.Get(ctx, kind, id)
}

func (b *reads) List(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
	b.n.Add(1)
	return b.Backend.List(ctx, kind, span, n)
}

func (b *reads) Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
	b.n.Add(1)
	return b.Backend.Usage(ctx, q)
}

func (b *reads) UsageOf(ctx context.Context, apps []string, q driver.UsageQuery) ([]driver.Count, error) {
	b.n.Add(1)
	return usageOf(ctx, b.Backend, apps, q)
}

// of returns how many reads a page takes beside those that find out who asks.
func (b *reads) of(h *fixture, path, cookie string) int64 {
	h.Helper()
	count := func(path string) int64 {
		before := b.n.Load()
		if w := h.open(path, cookie); w.Code != 200 || w.Body.Len() > 60<<10 {
			h.Errorf("%s is %d, of %d bytes", path, w.Code, w.Body.Len())
		}
		return b.n.Load() - before
	}
	return count(path) - count("/console/tiers")
}

// busy is a console of a service that was used, in which everything is hostile and nothing is well.
func busy(t *testing.T, edits ...func(*console.Config)) (h *fixture, b *reads, mina testUser, app storage.App) {
	b = &reads{Backend: backend.New(t)}
	h = newNode(t, b, storage.NewMasterKey(), append([]func(*console.Config){operates, func(c *console.Config) {
		c.Nodes, c.Registry = twoNodes{}, new(shop)
		long := time.Now().AddDate(-1, 0, 0)
		c.Keys = &ring{keys: []storage.SigningKey{{ID: "n", Alg: "EdDSA", State: storage.KeyNext, CreatedAt: long},
			{ID: "a", Alg: "EdDSA", State: storage.KeyActive, CreatedAt: long}}}
		c.Vitals = func(context.Context) []console.Vital {
			return []console.Vital{{Name: "audit queue", Value: hostile, Says: hostile}}
		}
	}}, edits...)...)
	mina = h.testUser("mina", storage.RoleDeveloper)
	app, _ = h.waits(h.app("Shop", mina.Sub))
	app.Name = hostileText
	app = must(h.store.SaveApp(t.Context(), app))(t)
	now := time.Now().UTC()
	counts := []driver.Count{{AppID: app.ID, Product: "verify", At: driver.Hour(now), Calls: 1234, Errors: 7}}
	service := counts[0]
	service.AppID = ledger.By("", ledger.OfService)
	took := driver.Count{AppID: ledger.By("", ledger.OfLatency("")), Product: "000500", At: driver.Hour(now), Calls: 1234}
	if err := h.store.Count(t.Context(), driver.Batch{Node: "n", Seq: 1}, append(counts, service, took)); err != nil {
		t.Fatal(err)
	}
	for of, name := range map[string]string{usage.Apps: app.ID, usage.Tools: "shop." + hostile, usage.Users: mina.Sub} {
		must(h.store.SaveRanking(t.Context(), ranking.Ranking{ID: of, Of: of, Day: driver.Day(now), Names: []string{name},
			Calls: []int64{1234}, Errors: []int64{7}, Over: []int64{0}}))(t)
	}
	must(h.store.SaveCapability(t.Context(), storage.Capability{
		Member: "shop", Kind: storage.CapabilityREST, UpstreamURL: "https://up.example.com",
		WebhookURL: "https://hook.example.com", Publish: true, Owner: mina.Sub,
		Skipped: []toolplan.Skip{{Pointer: "/x", Reason: hostile}},
	}, nil, storage.Delivery{
		ID: "d1", Event: "e", Member: "shop", URL: "https://hook.example.com", Payload: []byte("{}"), CreatedAt: now,
		NextAt: now, ExpiresAt: now.Add(time.Hour),
	}))(t)
	for _, d := range must(h.store.Deliveries(t.Context(), "shop"))(t) {
		d.GivenUpAt = now
		must(h.store.SaveDelivery(t.Context(), d))(t)
	}
	return h, b, mina, app
}

func TestOverviewShowsWhatRunsToReadersAndTheirOwnToAllOthers(t *testing.T) {
	h, _, mina, app := busy(t)
	root, aud, ada := h.testUser("root", storage.RoleAdmin), h.testUser("aud", storage.RoleAuditor), h.testUser("ada", "")
	waits := []string{`href="/console/orders"`, `href="/console/capabilities/shop/deliveries"`, `href="/console/keys"`, `href="/console/health"`, `href="/console/capabilities/shop"`}
	whole := append([]string{"1,234", "485 ms", "0.5 %", "<svg", "shop.&lt;script", "1 of 2 nodes",
		"Orders waiting for a decision: 1", "Webhook deliveries of shop that were given up: 1",
		"EdDSA keys were last rotated 365 days ago", "Parts of shop that were left out: 1"}, waits...)
	for _, c := range []struct {
		name, cookie string
		status       int
		has, lacks   []string
	}{
		{"an administrator", root.cookie, 200, whole, []string{"Your orders", "Where to begin"}},
		{"an auditor", aud.cookie, 200, whole, []string{"Your orders", "Where to begin"}},
		{"a developer", mina.cookie, 200, []string{app.ID, "1,234", "pending", "Parts of shop"},
			[]string{"485 ms", "0.5 %", "nodes serve", "/console/keys", "Top tools"}},
		{"who has nothing", ada.cookie, 200, []string{`href="/console/apps/new"`, "Nothing is waiting for you."}, []string{app.ID, "1,234", "shop", "/console/capabilities/new"}},
		{"nobody", "", 401, nil, []string{"1,234", app.ID}},
	} {
		w := h.open("/console/", c.cookie)
		body := w.Body.String()
		if w.Code != c.status || w.Body.Len() > 60<<10 || strings.Contains(body, "<script>alert") ||
			strings.Contains(body, "<img") {
			t.Errorf("%s gets %d, %d bytes: %s", c.name, w.Code, len(body), body)
		}
		for _, want := range c.has {
			if !strings.Contains(body, want) {
				t.Errorf("%s is not shown %q", c.name, want)
			}
		}
		for _, not := range c.lacks {
			if strings.Contains(body, not) {
				t.Errorf("%s is shown %q", c.name, not)
			}
		}
	}
}

// stepsOf returns the first steps of a reader, each with whether it is done.
func (h *fixture) stepsOf(cookie string) string {
	h.Helper()
	steps, _ := h.do("GET", "/api/console/overview", cookie, "").body.Data["steps"].([]any)
	all := []string{}
	for _, one := range steps {
		one := one.(map[string]any)
		all = append(all, fmt.Sprint(one["kind"], "=", one["done"]))
	}
	return strings.Join(all, " ")
}

// begins makes a console in which everything is still to be done.
func begins(c *console.Config) {
	c.Registry, c.Bus, c.FactorsPage = new(shop), new(shop), "/oauth/account/factors"
}

func TestEmptyServiceSaysWhereToBegin(t *testing.T) {
	h := newFixture(t, begins)
	root, aud := h.testUser("root", storage.RoleAdmin), h.testUser("aud", storage.RoleAuditor)
	ada, mina := h.testUser("ada", ""), h.testUser("mina", storage.RoleDeveloper)
	for cookie, want := range map[string]string{
		root.cookie: "app=false capability=false tool=false agent=false invite=true second_factor=false", aud.cookie: "",
		ada.cookie: "app=false second_factor=false", mina.cookie: "app=false capability=false second_factor=false",
	} {
		if got := h.stepsOf(cookie); got != want {
			t.Errorf("the steps are %q, want %q", got, want)
		}
	}
	body := h.open("/console/", root.cookie).Body.String()
	for _, want := range []string{`href="/console/capabilities/new"`, "1 of 6 done", `<li class="done">`,
		"claude mcp add", base + "/api/mcp"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q: %s", want, body)
		}
	}
	if strings.Contains(body, "<figure") {
		t.Error("there is a plot of nothing")
	}
	for _, cookie := range []string{aud.cookie, mina.cookie} {
		if body := h.open("/console/", cookie).Body.String(); !strings.Contains(body, base+"/api/mcp") ||
			strings.Contains(body, "claude mcp add") {
			t.Errorf("the address of the MCP server is shown as %s", body)
		}
	}
}

// Each step is ticked by what there is, and once all are nothing is said of them.
func TestStepIsTickedOnceItIsDone(t *testing.T) {
	for what, c := range map[string]struct {
		do   func(h *fixture)
		want string
	}{
		"app": {func(h *fixture) { h.app("Shop", "u1") }, "app=true"},
		"capability": {func(h *fixture) {
			must(h.store.SaveCapability(t.Context(), storage.Capability{Member: "shop", Kind: storage.CapabilityREST,
				UpstreamURL: "https://up.example.com", Owner: "u1"}, nil))(t)
		}, "capability=true"},
		"tool":                            {func(h *fixture) { h.ranked(usage.Tools, "shop__order", -20) }, "tool=true"},
		"a tool that was called long ago": {func(h *fixture) { h.ranked(usage.Tools, "shop__order", -40) }, "tool=false"},
		"a known agent":                   {func(h *fixture) { h.agent(dynamic, client.Dynamic, time.Time{}) }, "agent=true"},
		"an agent that nobody allowed anything": {func(h *fixture) {
			h.agent(dynamic, client.Dynamic, time.Now().Add(time.Hour))
		}, "agent=false"},
		"an agent that calls":   {func(h *fixture) { h.ranked(usage.Apps, dynamic, 0) }, "agent=true"},
		"an API key that calls": {func(h *fixture) { h.ranked(usage.Apps, storage.KeysAppID, 0) }, "agent=true"},
		"the console":           {func(h *fixture) { h.ranked(usage.Apps, storage.ConsoleAppID, 0) }, "agent=false"},
		"a user":                {func(h *fixture) { h.testUser("ada", "") }, "invite=true"},
		"nothing":               {func(*fixture) {}, "invite=false"},
	} {
		h := newFixture(t, begins)
		root := h.testUser("root", storage.RoleAdmin)
		c.do(h)
		if got := h.stepsOf(root.cookie); !strings.Contains(got+" ", c.want+" ") {
			t.Errorf("with %s the steps are %q, want %q", what, got, c.want)
		}
	}
	h := newFixture(t, begins, func(c *console.Config) { c.Registry, c.FactorsPage = nil, "" })
	root := h.testUser("root", storage.RoleAdmin)
	h.app("Shop", root.Sub)
	h.testUser("ada", "")
	h.agent(dynamic, client.Dynamic, time.Time{})
	page := h.open("/console/", root.cookie).Body.String()
	if got := h.stepsOf(root.cookie); got != "" || strings.Contains(page, "Where to begin") {
		t.Errorf("after all is done the steps are %q: %s", got, page)
	}
	if !strings.Contains(page, base+"/api/mcp") || strings.Contains(page, "claude mcp add") {
		t.Errorf("then the address of the MCP server is shown as %s", page)
	}
}

// ranked says that something of a kind was called on a day from today.
func (h *fixture) ranked(of, name string, day int) {
	h.Helper()
	must(h.store.SaveRanking(h.Context(), ranking.Ranking{ID: of, Of: of, Day: driver.Day(time.Now()).AddDate(0, 0, day),
		Names: []string{name}, Calls: []int64{1}, Errors: []int64{0}, Over: []int64{0}}))(h)
}

// The cookie of one reader says that the steps are put away, and the store does not.
func TestFirstStepsArePutAwayByTheirReader(t *testing.T) {
	b := &written{Backend: backend.New(t)}
	h := newNode(t, b, storage.NewMasterKey(), begins)
	root, other := h.testUser("root", storage.RoleAdmin), h.testUser("other", storage.RoleAdmin)
	h.open("/console/", root.cookie)
	b.since()
	shows := func(path, cookie string, want bool) string {
		w := h.open(path, cookie)
		if got := strings.Contains(w.Body.String(), "Where to begin"); got != want {
			t.Errorf("%s shows the steps: %v", path, got)
		}
		set, _, _ := strings.Cut(w.Header().Get("Set-Cookie"), ";")
		return set
	}
	away := shows("/console/?begin=away", root.cookie, false)
	if what, _ := b.since(); len(what) > 0 || away != "keystile_begin=away" {
		t.Errorf("putting them away sets %q and writes %v", away, what)
	}
	shows("/console/", root.cookie+"; "+away, false)
	shows("/console/", root.cookie+"; keystile_begin=x", true)
	shows("/console/", other.cookie, true)
	if set := shows("/console/?begin=show", root.cookie+"; "+away, true); set != "keystile_begin=show" {
		t.Errorf("having them back sets %q", set)
	}
	if set := shows("/console/?begin=x", root.cookie, true); set != "" {
		t.Errorf("another word sets %q", set)
	}
}

// Figures that change slowly are read once in a while, and not for each page.
func TestOverviewTakesFourReadsAtMost(t *testing.T) {
	h, b, mina, _ := busy(t)
	root, ada := h.testUser("root", storage.RoleAdmin), h.testUser("ada", "")
	for i := range 5 {
		h.app(fmt.Sprint("Mart", i), ada.Sub)
		h.app(fmt.Sprint("More", i), mina.Sub)
	}
	b.of(h, "/console/", root.cookie) // reads what changes slowly
	for name, cookie := range map[string]string{"an administrator": root.cookie, "a developer": mina.cookie,
		"an owner": ada.cookie} {
		for _, path := range []string{"/console/", "/console/usage", "/console/usage?granularity=hour"} {
			if n := b.of(h, path, cookie); n > 4 || n < 1 {
				t.Errorf("%s for %s takes %d reads", path, name, n)
			}
		}
	}
}

// lost are keys that cannot be read.
type lost struct{ console.Keys }

func (lost) SigningKeys(context.Context) ([]storage.SigningKey, error) {
	return nil, storage.ErrUnavailable
}

func TestPartThatCannotBeReadIsMissedAndTheRestIsShown(t *testing.T) {
	h, _, _, _ := busy(t, func(c *console.Config) { c.Keys = lost{} })
	root := h.testUser("root", storage.RoleAdmin)
	w := h.open("/console/", root.cookie)
	if body := w.Body.String(); w.Code != 200 || !strings.Contains(body, "could not be read") ||
		!strings.Contains(body, "1,234") || !strings.Contains(body, "Parts of shop") {
		t.Errorf("the page is %d %s", w.Code, body)
	}
}

func TestOverviewSaysInTheReadersLanguageWhatIsWrong(t *testing.T) {
	h := newFixture(t, func(c *console.Config) {
		c.Vitals = func(context.Context) []console.Vital {
			return []console.Vital{{Name: "audit events lost", Value: "3",
				Says: "events were lost: see why the store does not keep up"}}
		}
	})
	cookie := h.testUser("root", storage.RoleAdmin).cookie
	for lang, want := range map[string]string{"en": "events were lost: see why the store does not keep up",
		"zh-CN": "有事件丢失：请检查存储写入为何跟不上"} {
		if page := h.open("/console/?lang="+lang, cookie).Body.String(); !strings.Contains(page, `<span class="hint">`+want+`</span>`) {
			t.Errorf("the page in %s lacks %q: %s", lang, want, page)
		}
	}
}
