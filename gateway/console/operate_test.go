package console_test

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/console"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// operates gives a console everything that an operator sees. The record 9 is nobody's, 8 is of an
// application of whoever asks for their own.
func operates(c *console.Config) {
	c.Archive, c.Keys = archive{}, &ring{keys: []storage.SigningKey{
		{ID: "new", Alg: "ES256", State: storage.KeyNext}, {ID: "now", Alg: "ES256", State: storage.KeyActive},
		{ID: "old", Alg: "ES256", State: storage.KeyRetired, RetiredAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour)},
	}}
	c.Vitals = func(context.Context) []console.Vital {
		return []console.Vital{{Name: "ledger", Value: hostile, Well: true}}
	}
	c.Stored = func() console.Server {
		return console.Server{Kind: "PostgreSQL", Version: "15.18", At: "db.example.com:5432/keystile"}
	}
	c.Counters = func() console.Server {
		return console.Server{Kind: "Redis", Version: "7.0.15", At: "redis.example.com:6379"}
	}
	c.Settings = func() []console.Setting {
		return []console.Setting{{Key: "data", Value: "x", Source: "default", Default: "x"},
			{Key: "listen", Value: hostile, Source: "flag --listen", Default: ":80"}}
	}
}

const hostile = "<script>alert(1)</script>"

// archive is a trail of two records.
type archive struct{}

func (archive) Search(_ context.Context, q event.Query) (p event.Page, _ error) {
	at := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	own := "ks"
	if len(q.Apps) > 0 {
		own = q.Apps[0]
	}
	for _, e := range []event.Entry{
		{Seq: 9, Event: event.Event{At: at, Kind: event.Admin, Detail: hostile, Path: "/" + hostile, IP: hostile,
			User: "=1+1", Actors: []string{hostile, "planner"}, RequestID: hostile, App: hostile, Product: hostile}},
		{Seq: 8, Event: event.Event{At: at, Kind: event.Call, App: own, Actors: []string{"shopper"},
			Detail: strings.Repeat("x", 1024)}},
	} {
		if (q.Before == 0 || e.Seq < q.Before) && (q.Kind == "" || q.Kind == e.Kind) &&
			(q.Agent == "" || e.ActedBy(q.Agent)) &&
			(q.Apps == nil || slices.Contains(q.Apps, e.App)) && (q.Limit == 0 || len(p.Entries) < q.Limit) {
			p.Entries = append(p.Entries, e)
		}
	}
	return p, nil
}

func (archive) State(context.Context) (event.TrailState, error) {
	return event.TrailState{Appended: 9, Removed: 5, Through: 5}, nil
}

func (archive) Verify(_ context.Context, read func(int)) (event.TrailReport, error) {
	read(4)
	return event.TrailReport{Records: 4, Broken: 1, Breaks: []string{hostile}}, nil
}

// ring holds signing keys.
type ring struct{ keys []storage.SigningKey }

func (*ring) SigningAlg() string { return "ES256" }

func (r *ring) SigningKeys(context.Context) ([]storage.SigningKey, error) {
	return slices.Clone(r.keys), nil
}

func (r *ring) RotateKey(_ context.Context, alg string) (storage.SigningKey, error) {
	return storage.SigningKey{ID: "new", Alg: alg, State: storage.KeyActive}, nil
}

func (r *ring) RetireKey(context.Context, string) error { return nil }

func TestServicePagesShowEachRoleWhatItMaySee(t *testing.T) {
	h := newFixture(t, operates)
	cookies := map[string]string{"": "", "admin": h.testUser("root", storage.RoleAdmin).cookie,
		"auditor":   h.testUser("audrey", storage.RoleAuditor).cookie,
		"developer": h.testUser("mina", storage.RoleDeveloper).cookie, "owner": h.testUser("eve", "").cookie}
	for path, want := range map[string][5]int{ // admin, auditor, developer, owner, nobody
		"/console/audit":       {200, 200, 200, 200, 401},
		"/console/audit/9":     {200, 200, 404, 404, 401},
		"/console/audit/chain": {200, 200, 403, 403, 401},
		"/console/health":      {200, 200, 403, 403, 401},
		"/console/keys":        {200, 200, 403, 403, 401},
		"/console/settings":    {200, 200, 403, 403, 401},
		"/console/nodes":       {200, 200, 403, 403, 401},
		"/console/events":      {200, 200, 403, 403, 401},
	} {
		for i, role := range []string{"admin", "auditor", "developer", "owner", ""} {
			w := h.open(path, cookies[role])
			body := w.Body.String()
			if w.Code != want[i] {
				t.Errorf("%q at %s: %d, want %d", role, path, w.Code, want[i])
			}
			if strings.Contains(body, hostile) {
				t.Errorf("%s answers with markup of a stranger", path)
			}
			if posts := strings.Contains(body, `method="post"`); posts && role != "admin" {
				t.Errorf("%q is shown a form at %s", role, path)
			}
			if len(body) > 60<<10 {
				t.Errorf("%s has %d bytes", path, len(body))
			}
		}
	}
}

func TestOperatorActsOncePerForm(t *testing.T) {
	h := newFixture(t, operates)
	root, audrey := h.testUser("root", storage.RoleAdmin), h.testUser("audrey", storage.RoleAuditor)
	for path, form := range map[string]url.Values{
		"/console/keys":        {"do": {"rotate"}, "alg": {"ES256"}},
		"/console/settings":    {"do": {"set"}, "name": {storage.SettingForcePKCE}, "value": {"1"}},
		"/console/audit/chain": {"do": {"verify"}},
	} {
		if w := h.send(path, root.cookie, form); w.Code != 400 {
			t.Errorf("a form without an id at %s is %d", path, w.Code)
		}
		form.Set("form", h.formOn(h.open(path, root.cookie)))
		if w := h.send(path, audrey.cookie, form); w.Code != 403 {
			t.Errorf("an auditor sends a form at %s: %d", path, w.Code)
		}
		if before := len(h.events); before > 0 && strings.Contains(h.events[before-1].Detail, audrey.Sub) {
			t.Errorf("%s notes what was refused", path)
		}
		if w := h.send(path, root.cookie, form); w.Code != 303 {
			t.Errorf("a form at %s is %d %s", path, w.Code, w.Body)
		}
		if w := h.send(path, root.cookie, form); w.Code != 409 {
			t.Errorf("a form that is sent twice at %s is %d", path, w.Code)
		}
	}
	for _, want := range []string{"key rotate ES256 by " + root.Sub + ": active now -> new", `setting set ` + storage.SettingForcePKCE + ` by ` + root.Sub + `: value "0" -> "1"`, "audit verify trail by " + root.Sub} {
		if !strings.Contains(h.trail(), want) {
			t.Errorf("%q is not on the trail: %s", want, h.trail())
		}
	}
	if is := must(h.store.Setting(t.Context(), storage.SettingForcePKCE))(t); is != "1" {
		t.Errorf("the setting is %q", is)
	}
}

func TestPageOfKeysSaysUntilWhenARetiredOneVerifies(t *testing.T) {
	retired, ends := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC), time.Now().Add(time.Hour).UTC()
	h := newFixture(t, func(c *console.Config) {
		c.Keys = &ring{keys: []storage.SigningKey{{ID: "old", Alg: "ES256", State: storage.KeyRetired, RetiredAt: retired,
			ExpiresAt: ends}}}
	})
	body := h.open("/console/keys", h.testUser("root", storage.RoleAdmin).cookie).Body.String()
	if want := `what it signed before <time datetime="2001-02-03T04:05:06Z">3 Feb 2001, 04:05 UTC</time>; until ` +
		`<time datetime="` + ends.Format(time.RFC3339) + `">` + ends.Format("2 Jan 2006, 15:04"); !strings.Contains(body,
		want) {
		t.Errorf("the page lacks %q: %s", want, body)
	}
}

// trailOf is a trail of some records, the newest first, that remembers what was searched for.
type trailOf struct {
	archive
	all   []event.Entry
	asked *event.Query
}

func (t trailOf) Search(_ context.Context, q event.Query) (event.Page, error) {
	*t.asked = q
	return event.Page{Entries: t.all}, nil
}

// Readers of all see names; owners see the records of their applications, and not what their users are called.
func TestTrailCallsActorsByName(t *testing.T) {
	trail := &trailOf{asked: new(event.Query)}
	h := newFixture(t, func(c *console.Config) { c.Archive = trail })
	root, ada, zoe := h.testUser("root", storage.RoleAdmin), h.testUser("ada", ""), h.testUser("zoe", "")
	app := h.app("Shop", ada.Sub)
	at := time.Now()
	trail.all = []event.Entry{
		{Seq: 4, Event: event.Event{At: at, Kind: event.Admin, User: zoe.Sub,
			Detail: "user set " + zoe.Sub + " by command line, uid 0, host: role none -> admin"}},
		{Seq: 3, Event: event.Event{At: at, Kind: event.Admin, User: zoe.Sub,
			Detail: "user set " + zoe.Sub + " by " + root.Sub + ": role admin -> none"}},
		{Seq: 2, Event: event.Event{At: at, Kind: event.ToolCall, User: zoe.Sub, App: app.ID, Status: 200, Detail: "a__b"}},
		{Seq: 1, Event: event.Event{At: at, Kind: event.SignIn, User: "ugone", Status: 401, Path: "/oauth/signin"}},
	}
	page := h.open("/console/audit", root.cookie).Body.String()
	for _, want := range []string{"operator <code>command line, uid 0, host</code>", ">root</bdi></a>", ">zoe</bdi></a>",
		">Shop</bdi></a>", "a removed user", `class="bad">refused: wrong password`, "somebody, as ", "<em>changed</em>", "<em>answered</em>",
		"<code>user set " + zoe.Sub + ": role admin -&gt; none</code>"} {
		if !strings.Contains(page, want) {
			t.Errorf("an administrator is not shown %q: %s", want, page)
		}
	}
	trail.all = trail.all[2:3]
	for _, path := range []string{"/console/audit", "/console/audit/2"} {
		page := h.open(path, ada.cookie).Body.String()
		if !strings.Contains(page, zoe.Sub) || strings.Contains(page, "zoe") || !strings.Contains(page, "Shop") {
			t.Errorf("an owner is shown at %s %s", path, page)
		}
	}
	one := h.open("/console/audit/2", root.cookie).Body.String()
	if !strings.Contains(one, "The record as it is stored") || !strings.Contains(one, "&#34;kind&#34;: &#34;tool&#34;") ||
		!strings.Contains(one, ">zoe</bdi>") {
		t.Errorf("the record is shown as %s", one)
	}
	for lang, words := range map[string][]string{"en": {"Tool call"}, "zh-CN": {"工具调用", "已应答"}} {
		page := h.open("/console/audit?lang="+lang, root.cookie).Body.String()
		for _, want := range words {
			if !strings.Contains(page, want) {
				t.Errorf("in %s the trail lacks %q", lang, want)
			}
		}
	}
}

// Readers of all see by whose names an agent acts; owners see ids, as they do of users.
func TestTrailSaysInWordsWhoActedForWhom(t *testing.T) {
	trail := &trailOf{asked: new(event.Query)}
	h := newFixture(t, func(c *console.Config) { c.Archive = trail })
	root, ada, zoe := h.testUser("root", storage.RoleAdmin), h.testUser("ada", ""), h.testUser("zoe", "")
	app, planner := h.app("Shop", ada.Sub), h.app("Planner", "")
	const gone, document = "ksaaaaaaaaaaaaaaaaaaaa", "https://agent.example/client.json"
	trail.all = []event.Entry{{Seq: 1, Event: event.Event{At: time.Now(), Kind: event.Call, User: zoe.Sub, App: app.ID,
		Status: 200, Actors: []string{app.ID, planner.ID, document, gone, root.Sub}}}}
	tags := regexp.MustCompile(`<[^>]*>`)
	words := func(path, cookie string) string { return tags.ReplaceAllString(h.open(path, cookie).Body.String(), "") }
	for lang, joined := range map[string]string{"en": " for ", "zh-CN": " 代表 "} {
		want := strings.Join([]string{"Shop " + app.ID, "Planner " + planner.ID, "agent.example " + document, gone,
			"root " + root.Sub, "zoe " + zoe.Sub}, joined)
		for _, path := range []string{"/console/audit", "/console/audit/1"} {
			if page := words(path+"?lang="+lang, root.cookie); !strings.Contains(page, want) {
				t.Errorf("in %s %s lacks %q: %s", lang, path, want, page)
			}
		}
		want = strings.Join([]string{"Shop " + app.ID, planner.ID, "agent.example " + document, gone, root.Sub, zoe.Sub},
			joined)
		if page := words("/console/audit?lang="+lang, ada.cookie); !strings.Contains(page, want) ||
			strings.Contains(page, "Planner") {
			t.Errorf("in %s an owner is not shown %q alone: %s", lang, want, page)
		}
	}
	if page := h.open("/console/audit/1", root.cookie).Body.String(); !strings.Contains(page,
		`href="/console/audit?agent=`+planner.ID) {
		t.Errorf("the page of a record leads to no other of an agent's: %s", page)
	}
}

func TestFilterOfTheTrailTakesNames(t *testing.T) {
	trail := &trailOf{asked: new(event.Query)}
	h := newFixture(t, func(c *console.Config) { c.Archive = trail })
	root, ada := h.testUser("root", storage.RoleAdmin), h.testUser("ada", storage.RoleDeveloper)
	app := h.app("Shop", ada.Sub)
	document := "https://agent.example/client.json"
	for query, want := range map[string][3]string{
		"agent=shop": {2: app.ID}, "agent=ada&sub=root": {root.Sub, "", ada.Sub}, "agent=" + app.ID: {2: app.ID},
		"agent=" + url.QueryEscape(document): {2: document}, "agent=apikey": {2: "apikey"},
		"sub=ADA": {ada.Sub}, "sub=" + ada.Sub: {ada.Sub}, "client_id=shop": {"", app.ID}, "client_id=apikey": {"", "apikey"},
		"client_id=console": {"", "console"}, "client_id=" + url.QueryEscape(document): {"", document},
		"client_id=ks" + strings.Repeat("a", 20): {"", "ks" + strings.Repeat("a", 20)},
	} {
		*trail.asked = event.Query{}
		w := h.open("/console/audit?"+query, root.cookie)
		if got := [3]string{trail.asked.User, trail.asked.App, trail.asked.Agent}; w.Code != 200 || got != want {
			t.Errorf("%s asks for %q, %d", query, got, w.Code)
		}
		if !strings.Contains(w.Body.String(), `<details class="filterline" open>`) {
			t.Errorf("with %s the filter is shut", query)
		}
	}
	if page := h.open("/console/audit", root.cookie).Body.String(); !strings.Contains(page,
		`<details class="filterline"><summary>Filter</summary>`) {
		t.Error("the filter is open without being set")
	}
	*trail.asked = event.Query{}
	for _, field := range []string{"sub", "agent"} {
		w := h.open("/console/audit?"+field+"=nobody", root.cookie)
		if page := w.Body.String(); w.Code != 404 || trail.asked.Limit != 0 || !strings.Contains(page, `value="nobody"`) ||
			!strings.Contains(page, `aria-invalid="true"`) {
			t.Errorf("a %s of nobody is %d, asks %+v: %s", field, w.Code, trail.asked, page)
		}
	}
	if w := h.open("/console/audit?client_id=root", ada.cookie); w.Code != 404 {
		t.Errorf("an application of nobody is %d", w.Code)
	}
}

// Settings that were set stand open, with their descriptions and sources; the others are folded.
func TestSettingsAreGroupedByWhatTheyAreAbout(t *testing.T) {
	h := newFixture(t, func(c *console.Config) {
		c.Settings = func() []console.Setting {
			return []console.Setting{
				{Key: "mail.from", Value: "a@example.com", Source: "file x.yaml", Help: "the sender"},
				{Key: "listen", Value: ":80", Source: "default", Default: ":80", Help: "the address to listen on"},
				{Key: "data", Value: "d", Source: "flag --data", Default: "d", Help: "the data folder",
					HelpChinese: "数据目录"},
				{Key: "drain", Value: "0", Source: "default: one node", Help: "how long to go on"},
				{Key: "of.a.host", Value: hostile, Source: "env", Help: hostile},
			}
		}
	})
	cookie := h.testUser("root", storage.RoleAdmin).cookie
	page := h.open("/console/settings", cookie).Body.String()
	before, folded, _ := strings.Cut(page, "2 with their defaults")
	for text, open := range map[string]bool{"<code>mail.from</code><small>the sender</small>": false,
		"<code>data</code><small>the data folder</small>": true, "<code>listen</code>": false,
		"Default <code>one node</code>":    false,
		"<h2>Addresses and the store</h2>": true, "<h2>Mail</h2>": false, "<h2>Others</h2>": false,
		"<code>file x.yaml</code>": false, "<code>flag --data</code> <em>as by default</em>": true} {
		if strings.Contains(before, text) != open || strings.Contains(folded, text) == open {
			t.Errorf("%q is before what is folded: %v", text, !open)
		}
	}
	if strings.Contains(page, "<h2>Gateway</h2>") || strings.Contains(page, hostile) {
		t.Errorf("the page has a group of nothing, or what somebody wrote: %s", page)
	}
	if found := h.open("/console/settings?q=listen", cookie).Body.String(); !strings.Contains(found, "<details open>") ||
		strings.Contains(found, "mail.from") {
		t.Errorf("what was searched for is folded: %s", found)
	}
	zh := h.open("/console/settings?lang=zh-CN", cookie).Body.String()
	if !strings.Contains(zh, "<h2>地址与存储</h2>") || !strings.Contains(zh, `<code lang="en">the sender</code>`) ||
		!strings.Contains(zh, "<small>数据目录</small>") {
		t.Errorf("in Chinese it is %s", zh)
	}
}

func TestPageThatThereIsNotSaysOneThing(t *testing.T) {
	h := newFixture(t)
	cookie := h.testUser("root", storage.RoleAdmin).cookie
	for path, want := range map[string][2]bool{"/console/nowhere": {true, false}, "/console/apps/ksgone": {false, true}} {
		page := h.open(path, cookie).Body.String()
		got := [2]bool{strings.Contains(page, "<h1>There is no such page</h1>"), strings.Contains(page, `role="alert"`)}
		if got != want {
			t.Errorf("%s says %v: %s", path, got, page)
		}
	}
}

func TestEventsAreSoughtByTheNameOfTheirApplication(t *testing.T) {
	h := newFixture(t, operates)
	root := h.testUser("root", storage.RoleAdmin)
	app := h.app("Shop", root.Sub)
	if page := h.open("/console/events?client_id=shop", root.cookie).Body.String(); !strings.Contains(page, app.ID) {
		t.Errorf("by name it shows %s", page)
	}
	if w := h.open("/console/events?client_id=nothing", root.cookie); w.Code != 404 ||
		!strings.Contains(w.Body.String(), `aria-invalid="true"`) {
		t.Errorf("of nothing it is %d %s", w.Code, w.Body)
	}
}
