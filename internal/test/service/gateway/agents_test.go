package gateway_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/gateway/usage"
	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/internal/test/forgery"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// acting returns a token of a user of an application, for whom others act.
func (h *fixture) acting(app storage.App, sub string, actors ...string) string {
	h.Helper()
	s := h.service(sub)
	s.ClientID, s.Actors = app.ID, actors
	return forgery.Genuine(h, s)
}

// delegation is a person whose token was handed on from agent to agent.
type delegation struct {
	person string
	agents []string // the last one is the current one
	tokens []string // by how many agents have it, less one
	calls  []int    // by the same
}

const depth = event.MaxActors

// delegations makes five chains of ten agents. The agents of the last chain are named by actor_tokens: one application
// sends all of its calls.
func (h *fixture) delegations() (all []*delegation) {
	h.Helper()
	for i := range 5 {
		d := &delegation{person: fmt.Sprint("person", i), calls: make([]int, depth)}
		for n := range depth {
			app := h.other
			if i < 4 {
				app = must(h.store.SaveApp(h.Context(), storage.App{Name: fmt.Sprint("Agent ", i, n),
					Domains: []string{"agent.example.com"}, Tier: storage.TierEnterprise}))(h)
				d.agents = append(d.agents, app.ID)
			} else {
				d.agents = append(d.agents, fmt.Sprint("named", n))
			}
			d.tokens = append(d.tokens, h.acting(app, d.person, d.actors(n+1)...))
		}
		all = append(all, d)
	}
	return all
}

// actors returns who acts where the token has been handed on so often.
func (d *delegation) actors(n int) []string {
	actors := slices.Clone(d.agents[:n])
	slices.Reverse(actors)
	return actors
}

// callAround has calls made at random depths of the chains, and holds every record of them against who made it. It
// returns how many records there are. The records are removed if they are to be forgotten.
func (h *fixture) callAround(chains []*delegation, calls int, random *rand.Rand, forget bool) (records int) {
	h.Helper()
	after := must(h.audit.State(context.Background()))(h).Appended
	for range calls {
		i, n := random.IntN(len(chains)), random.IntN(depth)
		a := h.call("GET", fmt.Sprintf("/ai/200/%d/%d", i, n), chains[i].tokens[n])
		if a.status != 200 {
			h.Fatalf("a call of chain %d at depth %d is answered %d %s", i, n+1, a.status, a.text)
		}
		chains[i].calls[n]++
	}
	if err := h.audit.NoteNow(context.Background(), event.Event{Kind: event.Admin}); err != nil { // and all before it
		h.Fatal(err)
	}
	for {
		page := must(h.store.Records(context.Background(), after, driver.Page))(h)
		for _, r := range page {
			e := must(audit.Decode(r))(h)
			if after = r.Seq; e.Kind != event.Call {
				continue
			}
			var i, n int
			fmt.Sscanf(e.Path, "/ai/200/%d/%d", &i, &n)
			if e.User != chains[i].person || !slices.Equal(e.Actors, chains[i].actors(n+1)) || e.App == "" {
				h.Fatalf("%s is by %q for %q, want %q for %q", e.Path, e.Actors, e.User, chains[i].actors(n+1), chains[i].person)
			}
			records++
		}
		if len(page) < driver.Page {
			break
		}
	}
	if forget {
		must(h.store.Prune(context.Background(), after))(h)
	}
	return records
}

// newAgency makes a fixture whose agents call as often as they like.
func newAgency(t testing.TB) *fixture {
	return newFixture(t, func(c *gateway.Config) { c.Plans = unlimited() })
}

func TestRecordOfAnAgentsCallHasThePersonAndTheWholeChain(t *testing.T) {
	h := newAgency(t)
	chains := h.delegations()
	const calls = 3_000
	if n := h.callAround(chains, calls, rand.New(rand.NewPCG(1, 2)), false); n != calls {
		t.Errorf("%d records, want one of each of %d calls", n, calls)
	}
	for i, d := range chains {
		for at, agent := range d.agents {
			want := 0
			for _, n := range d.calls[at:] { // and all to whom it was handed on
				want += n
			}
			got, q := 0, event.Query{Agent: agent, User: d.person, Kind: event.Call, Limit: event.MaxLimit}
			for {
				page := must(h.audit.Search(t.Context(), q))(t)
				got += len(page.Entries)
				if q.Before = page.Next; page.Next == 0 {
					break
				}
			}
			if got != want {
				t.Errorf("agent %d of chain %d is found in %d calls, want %d", at, i, got, want)
			}
		}
	}
	stranger := must(h.audit.Search(t.Context(), event.Query{Agent: chains[0].agents[0], User: chains[1].person}))(t)
	if len(stranger.Entries) != 0 {
		t.Errorf("an agent is found in %d calls of a person for whom it never acted", len(stranger.Entries))
	}
}

// agentsAreCounted holds usage by agent against the calls of the chains.
func (h *fixture) agentsAreCounted(chains []*delegation) {
	h.Helper()
	want := map[string]int64{}
	for i, d := range chains {
		for n, calls := range d.calls {
			app := d.agents[n]
			if want[app] = int64(calls); i == 4 {
				app = h.other.ID
			}
			a := must(h.gateway.Usage().Usage(h.Context(), usage.Query{ClientID: app, Daily: true, By: usage.ByAgent}))(h)
			if a.Totals[d.agents[n]] != int64(calls) || i < 4 && len(a.Totals) != 1 {
				h.Errorf("agent %d of chain %d has made %v, want %d", n, i, a.Totals, calls)
			}
		}
	}
	if err := h.gateway.Close(context.Background()); err != nil { // what is ranked is stored
		h.Fatal(err)
	}
	for _, e := range must(h.gateway.Usage().Top(h.Context(), usage.TopQuery{Of: usage.Agents, N: 100}))(h) {
		if e.Calls != want[e.Name] || e.AtLeast {
			h.Errorf("%s is ranked with %d calls, want %d", e.Name, e.Calls, want[e.Name])
		}
		delete(want, e.Name)
	}
	if len(want) > 0 {
		h.Errorf("not ranked: %v", want)
	}
}

// agentCalls returns how many calls are made: some by day, AGENT_CALLS by night.
func agentCalls(t *testing.T) int {
	text := os.Getenv("AGENT_CALLS")
	if text == "" {
		return 10_000
	}
	return must(strconv.Atoi(text))(t)
}

func TestCallsOfAgentsAreAllOnTheTrailAndCounted(t *testing.T) {
	const atOnce = 5_000 // which the trail's queue holds
	h, calls := newAgency(t), agentCalls(t)
	chains, random, began := h.delegations(), rand.New(rand.NewPCG(3, 4)), time.Now()
	made, records := 0, 0
	for ; made < calls; made += atOnce {
		records += h.callAround(chains, atOnce, random, true)
	}
	t.Logf("%d records of %d calls in %v", records, made, time.Since(began))
	if records != made {
		t.Errorf("%d records, want one of each of %d calls", records, made)
	}
	h.agentsAreCounted(chains)
}

// An application's own calls need no rows of their own: those before its agents had rows are counted, too.
func TestUsageByAgentIsThatOfWhoActs(t *testing.T) {
	h := newAgency(t)
	h.spend(h.app, 3, gateway.ProductAI, "", "u1", false)
	h.spend(h.app, 1, gateway.ProductMCP, "shop__order", "", true)
	charge := func(c storage.Caller, failed bool) {
		if err := h.gateway.Charge(c, gateway.ProductMCP, "shop__order", 0, failed); err != nil {
			t.Fatal(err)
		}
	}
	charge(storage.Caller{AppID: h.app.ID, UserID: "u1", Actors: []string{h.app.ID, "planner"}}, false)
	charge(storage.Caller{AppID: h.app.ID, UserID: "u2", Actors: []string{"planner", h.app.ID}}, true)
	charge(storage.Caller{AppID: h.app.ID, UserID: "u2", Actors: []string{"planner"}}, false)
	a := h.want(h.call("GET", "/api/v1/usage?by=agent", h.bearer(h.app)), 200, "by agent")
	if a.number("data.totals."+h.app.ID) != 5 || a.number("data.totals.planner") != 2 {
		t.Errorf("by agent: %s", a.text)
	}
	day := driver.Day(time.Now()).Format(time.RFC3339)
	rows := []string{day + "," + h.app.ID + ",5,1", day + ",planner,2,1"}
	slices.Sort(rows)
	a = h.want(h.call("GET", "/api/v1/usage?by=agent&format=csv", h.bearer(h.app)), 200, "csv")
	if want := "at,agent,calls,errors\n" + rows[0] + "\n" + rows[1] + "\n"; a.text != want {
		t.Errorf("the table is %q, want %q", a.text, want)
	}
}

// An agent that nobody registered is charged to its user, who alone learns what it has called.
func TestPersonSeesTheirOwnAgents(t *testing.T) {
	h := newAgency(t)
	app := h.vendor("https://agent.example/client.json")
	h.spend(app, 2, gateway.ProductMCP, "shop__order", "u1", false)
	h.spend(app, 5, gateway.ProductMCP, "shop__order", "u2", false)
	mine := h.acting(app, "u1", "planner", app.ID)
	h.want(h.call("GET", "/ai/200", mine), 200, "a call")
	a := h.want(h.call("GET", "/api/v1/usage?by=agent", mine), 200, "by agent")
	totals, _ := a.body["data"].(map[string]any)["totals"].(map[string]any)
	if len(totals) != 2 || totals[app.ID] != 2.0 || totals["planner"] != 1.0 {
		t.Errorf("by agent: %s", a.text)
	}
}

// An act at /api/v1 is about an application and its owner, so the record names who has changed it beside them.
func TestActOfAnApplicationForItsOwnerNamesWhoActs(t *testing.T) {
	h := newFixture(t)
	ada := h.testUser("ada", "")
	id, _ := h.made(ada, shop)
	s := h.service(ada.Sub)
	s.Scope, s.Actors = "openid apps", []string{"planner", h.app.ID}
	h.want(h.do("PATCH", "/api/v1/apps/"+id, forgery.Genuine(h, s), `{"name":"Store"}`), 200, "PATCH by an agent")
	var got []string
	for _, e := range h.trail() {
		if e.Kind == event.Admin && e.App == id {
			got = append(got, fmt.Sprint(e.User == ada.Sub, e.Actors))
		}
	}
	want := []string{fmt.Sprint(true, []string{h.app.ID}), fmt.Sprint(true, []string{"planner", h.app.ID})}
	if !slices.Equal(got, want) {
		t.Errorf("the acts are by %q, want %q", got, want)
	}
}
