package consolebench

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/internal/audit/search"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/record/ranking"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/toolplan"
)

// The names that what is filled in has.
func username(i int) string  { return fmt.Sprintf("person-%07d", i) }
func appName(i int) string   { return fmt.Sprintf("Shop %07d", i) }
func member(i int) string    { return fmt.Sprintf("member%03d", i) }
func groupName(i int) string { return fmt.Sprintf("team-%05d", i) }

const (
	members = 150 // capabilities, each with tools
	tools   = 120 // of each
	some    = 300 // of what hangs on one user or application
)

// filler fills an empty store.
type filler struct {
	testing.TB
	sizes
	adapter
	key   storage.MasterKey
	store *storage.Store
	now   time.Time
	subs  []string // of some users
	apps  []string // of some applications
}

func (f *filler) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// step times one part.
func (f *filler) step(what string, do func(ctx context.Context)) {
	began := time.Now()
	do(f.Context())
	f.Logf("%s: %v", what, time.Since(began).Round(time.Millisecond))
}

func (f *filler) fill(loaders int) {
	f.now = time.Now().UTC()
	var err error
	f.store, err = storage.Open(f.Context(), f.adapter, f.key)
	f.must(err)
	f.step("groups", f.teams)
	h, err := newHoard(f.Context(), f.adapter, loaders)
	f.must(err)
	f.store, err = storage.Open(f.Context(), h, f.key)
	f.must(err)
	f.step("users", f.people)
	f.step("applications", f.applications)
	f.step("the rest of them", func(ctx context.Context) { f.must(h.end(ctx)) })
	f.store, err = storage.Open(f.Context(), f.adapter, f.key)
	f.must(err)
	f.step("what hangs on them", func(ctx context.Context) { f.hanging(ctx); f.orders(ctx); f.bus(ctx) })
	f.step("usage", f.counts)
	f.step("audit records", f.records)
	f.step("their index", f.index)
}

// teams makes groups, 64 at once.
func (f *filler) teams(ctx context.Context) {
	var all sync.WaitGroup
	for first := range 64 {
		all.Go(func() {
			for i := first; i < f.groups; i += 64 {
				_, err := f.store.SaveGroup(ctx, groups.Group{Name: groupName(i), Label: fmt.Sprint("Group number ", i)})
				if err != nil {
					f.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func (f *filler) people(ctx context.Context) {
	for i := range f.users {
		u, err := f.store.CreateUser(ctx, storage.User{
			Username: username(i), Name: fmt.Sprintf("Person %d of a Long Family Name", i),
			Email: fmt.Sprintf("person%07d@example.com", i), Nickname: fmt.Sprintf("nick%07d", i),
		})
		f.must(err)
		in := 0
		if i%10 == 9 {
			in = i % f.groups
		}
		_, err = f.store.AddMember(ctx, groupName(in), u.Sub)
		f.must(err)
		if len(f.subs) < some {
			f.subs = append(f.subs, u.Sub)
		}
	}
}

func (f *filler) applications(ctx context.Context) {
	for i := range f.sizes.apps {
		owner := ""
		if i%3 > 0 {
			owner = f.subs[i%some]
		}
		a, err := f.store.SaveApp(ctx, storage.App{Name: appName(i), Domains: []string{fmt.Sprintf("shop%d.example.com", i)},
			Owner: owner})
		f.must(err)
		if len(f.apps) < 2*some {
			f.apps = append(f.apps, a.ID)
		}
	}
}

// hanging makes sessions, grants and API keys: many of the first user and the first application.
func (f *filler) hanging(ctx context.Context) {
	for i := range some {
		for _, sub := range []string{f.subs[0], f.subs[i]} {
			_, err := f.store.SaveSession(ctx, storage.Session{
				ID: handle.Hash(handle.NewCookie()), UserID: sub, IP: "2001:db8:aaaa:bbbb:cccc:dddd:eeee:7", AuthTime: f.now,
				ExpiresAt: f.now.Add(20 * 24 * time.Hour), EndsAt: f.now.Add(25 * 24 * time.Hour),
				Agent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
			})
			f.must(err)
		}
		for _, c := range []storage.Consent{{AppID: f.apps[i+1], UserID: f.subs[0]}, {AppID: f.apps[0], UserID: f.subs[i]}} {
			c.Scope = "email openid phone profile tools"
			_, err := f.store.SaveConsent(ctx, c)
			f.must(err)
		}
		host := fmt.Sprintf("agents-of-somebody-%d.example.com", i)
		_, err := f.store.SetClientHost(ctx, host, true)
		f.must(err)
		_, err = f.store.SaveApp(ctx, storage.App{
			ID: "https://" + host + "/oauth/client-metadata.json", Name: fmt.Sprint("An agent of somebody ", i), Public: true,
			Client: &client.Description{Kind: client.Document, AuthMethod: client.AuthNone,
				RedirectURIs: []string{"https://" + host + "/cb"}, Grants: []string{"authorization_code"}},
		})
		f.must(err)
	}
}

func (f *filler) orders(ctx context.Context) {
	for i := range some {
		app, err := f.store.App(ctx, f.apps[i])
		f.must(err)
		o := storage.Order{ID: handle.NewOrderID(f.now), AppID: app.ID, Owner: app.Owner, By: f.subs[i], From: "free",
			Tier: "white_label", AmountFen: 99_900, CreatedAt: f.now, Status: storage.OrderPending}
		if i%2 == 0 {
			o.Status, o.DecidedAt, o.EffectiveAt, o.ExpiresAt = storage.OrderApproved, f.now, f.now, f.now.AddDate(1, 0, 0)
		} else {
			app.Order = o.ID
		}
		_, _, err = f.store.SaveOrder(ctx, o, app)
		f.must(err)
	}
}

// bus makes capabilities with tools, access lists and bundles.
func (f *filler) bus(ctx context.Context) {
	schema := json.RawMessage(`{"type":"object","properties":{"id":{"type":"string","description":"the id of what is asked for"},"deep":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"array","items":{"type":"string"}}}}},"required":["id"]}`)
	for i := range members {
		var all []toolplan.Tool
		for j := range tools {
			all = append(all, toolplan.Tool{
				Name: fmt.Sprintf("getSomething%03d", j), Method: "get", Path: "/something/:id",
				Description: "Returns something that is asked for by its id, and says what it is.", InputSchema: schema,
				Call: &toolplan.Call{Template: "/something/{id}",
					Params: []toolplan.Param{{Arg: "id", Name: "id", In: "path", Required: true},
						{Arg: "deep", Name: "deep", In: "query", JSON: true}}},
			})
		}
		_, err := f.store.SaveCapability(ctx, storage.Capability{
			Member: member(i), Label: fmt.Sprint("Capability ", i), Kind: storage.CapabilityREST,
			UpstreamURL: "https://upstream.example.com", Publish: true, Owner: f.subs[i%10],
			ToolCount: tools, WebhookURL: "https://hooks.example.com/in", CreatedAt: f.now, UpdatedAt: f.now,
		}, all)
		f.must(err)
		l := access.List{Member: member(i)}
		for j := range 120 {
			l.Rules = append(l.Rules, access.Rule{Subject: "user:" + f.subs[j],
				Tools: []string{"getSomething001", "getSomething002"}})
		}
		_, err = f.store.SaveAccess(ctx, l)
		f.must(err)
		_, err = f.store.SaveBundle(ctx, access.Bundle{Name: fmt.Sprintf("bundle%03d", i), Label: "A bundle",
			Tools: []string{member(i) + "__*"}})
		f.must(err)
	}
}

// counts writes rows of usage: those of the whole service for a month, of the first application for a
// year, and of the others by chance; and what processes have ranked.
func (f *filler) counts(ctx context.Context) {
	seq, rows, written := uint64(0), []driver.Count(nil), 0
	send := func() {
		seq++
		f.must(f.store.Count(ctx, driver.Batch{Node: "filler", Seq: seq}, rows))
		written, rows = written+len(rows), nil
	}
	today, products := driver.Day(f.now), []string{"ai", "mcp", "identity", "payment", "storage"}
	for hour := range 31 * 24 {
		at := today.Add(time.Duration(hour-30*24) * time.Hour)
		if at.After(f.now) {
			break
		}
		rows = append(rows, driver.Count{AppID: ledger.By("", ledger.OfService), Product: ledger.All, At: at, Calls: 100,
			Errors: 3})
		for _, product := range append(products, "") {
			for i := range ledger.Ranges {
				name := "beyond"
				if i < len(ledger.Bounds) {
					name = fmt.Sprintf("%06d", ledger.Bounds[i].Milliseconds())
				}
				rows = append(rows, driver.Count{AppID: ledger.By("", ledger.OfLatency(product)), Product: name, At: at, Calls: 1})
			}
			rows = append(rows, driver.Count{AppID: ledger.By("", ledger.OfProducts), Product: product + "x", At: at, Calls: 17})
		}
		for i := range 10 {
			rows = append(rows, driver.Count{AppID: f.apps[i], Product: products[i%5], At: at, Calls: 3, Errors: 1},
				driver.Count{AppID: ledger.By(f.apps[i], ledger.ByTool),
					Product: fmt.Sprint(member(i), "__getSomething", 100+hour%50), At: at, Calls: 1},
				driver.Count{AppID: ledger.By(f.apps[i], ledger.ByUser), Product: f.subs[hour%some], At: at, Calls: 1})
		}
		if len(rows) > 5000 {
			send()
		}
	}
	send()
	for written < f.usage {
		for range min(5000, f.usage-written) {
			rows = append(rows, driver.Count{AppID: f.apps[rand.IntN(len(f.apps))], Product: products[rand.IntN(5)],
				At: today.Add(-time.Duration(rand.IntN(300*24)) * time.Hour), Calls: 5})
		}
		send()
	}
	for _, of := range ranking.Kinds() {
		for day := range 31 {
			for node := range 3 {
				r := ranking.Ranking{ID: fmt.Sprint(of, "-", day, "-", node), Of: of, Day: today.AddDate(0, 0, -day), Floor: 1}
				for i := range ranking.MaxNames {
					name := map[string]string{ranking.Apps: f.apps[i%len(f.apps)], ranking.Agents: f.apps[i%len(f.apps)],
						ranking.Tools: fmt.Sprint(member(i%members), "__getSomething", 100+i%20), ranking.Users: f.subs[i%some]}[of]
					if i >= some {
						name = fmt.Sprintf("%s%04d", of, i+day)
					}
					r.Names, r.Calls = append(r.Names, name), append(r.Calls, int64(100_000/(i+1)))
					r.Errors, r.Over = append(r.Errors, 1), append(r.Over, int64(i))
				}
				_, err := f.store.SaveRanking(ctx, r)
				f.must(err)
			}
		}
	}
}

// records writes a year of audit records, which stand in no chain.
func (f *filler) records(ctx context.Context) {
	kinds := []string{event.Call, event.Call, event.Call, event.ToolCall, event.Token, event.SignIn, event.Admin}
	step := 364 * 24 * time.Hour / time.Duration(max(f.audit, 1))
	var page []driver.Record
	for i := range f.audit {
		e := audit.AsKept(event.Event{
			At: f.now.Add(-364*24*time.Hour + time.Duration(i)*step), Kind: kinds[rand.IntN(len(kinds))],
			App: f.apps[rand.IntN(some)*rand.IntN(some)/some], User: f.subs[rand.IntN(some)],
			IP: fmt.Sprintf("192.0.2.%d", rand.IntN(256)), RequestID: requestID(i),
			Status: []int{200, 200, 200, 204, 302, 404, 403, 500, 0}[rand.IntN(9)],
			Path:   "/api/something/that/is/long/enough", Method: "GET", Product: "ai", Latency: 12345678,
		})
		line, err := json.Marshal(e)
		f.must(err)
		page = append(page, driver.Record{At: e.At, Data: fmt.Appendf(line[:len(line)-1], `,"hash":"%064x"}`, 0)})
		if len(page) == driver.Page || i == f.audit-1 {
			f.must(f.store.Append(ctx, page...))
			page = nil
		}
	}
}

func requestID(i int) string { return fmt.Sprintf("%08x-%d", uint32(i)*2654435761, i) }

func (f *filler) index(ctx context.Context) {
	x := search.Indexer{Store: f.store, Log: slog.New(slog.DiscardHandler)}
	for busy := true; busy; {
		var err error
		busy, err = x.Turn(ctx)
		f.must(err)
	}
}
