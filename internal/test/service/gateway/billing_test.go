package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/driver"
)

// restart makes a new gateway over the same store, as a process that starts again does.
func (h *fixture) restart(edits ...func(*gateway.Config)) {
	h.Helper()
	if err := h.gateway.Close(context.Background()); err != nil {
		h.Fatal(err)
	}
	c := gateway.Config{Store: h.store, Tokens: h.tokens, Trail: h.audit, Log: quiet}
	for _, edit := range edits {
		edit(&c)
	}
	g := must(gateway.New(context.Background(), c))(h)
	h.Cleanup(func() { g.Close(context.Background()) })
	h.gateway = g
	ai := g.Guard(gateway.ProductAI, http.HandlerFunc(service))
	h.handler = g.Front(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/ai/") {
			ai.ServeHTTP(w, r)
			return
		}
		g.ServeHTTP(w, r)
	}))
}

func (h *fixture) upgrade(p testUser, id, tier string, status int) answer {
	h.Helper()
	return h.want(h.do("POST", "/api/v1/billing/upgrade", p.bearer, `{"client_id":"`+id+`","tier":"`+tier+`"}`), status, "upgrade to "+tier)
}

// Decision 30: the whole life of an upgrade, with a restart before each step.
func TestUpgradesWholeLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the bubble begins at 2000-01-01T00:00:00Z
		h := newFixture(t)
		ada := h.testUser("ada", "")
		id, _ := h.made(ada, shop)
		own := h.bearer(must(h.store.App(t.Context(), id))(t))
		quota := func(tier string, limit, left int64) {
			t.Helper()
			a := h.want(h.call("GET", "/api/v1/quota", own), 200, "quota")
			if a.member("data.tier") != tier || a.number("data.quota.calls_limit") != limit ||
				a.number("data.quota.calls_remaining") != left {
				t.Errorf("at %v the quota is %s, want %s %d of %d", time.Now().UTC(), a.text, tier, left, limit)
			}
		}
		h.want(h.call("GET", "/ai/200", own), 200, "a call")
		quota("free", 1000, 999)

		h.restart()
		time.Sleep(90 * time.Minute)
		ada = h.again(ada)
		a := h.upgrade(ada, id, "white_label", 200)
		order := a.member("data.order_id")
		if a.member("data.status") != "pending" || a.number("data.price.amount") != 99_900 ||
			a.member("data.price.currency") != "CNY" || a.member("data.effective_at") != "" {
			t.Errorf("the order is %s", a.text)
		}
		quota("free", 1000, 999)

		h.restart()
		if again := h.upgrade(ada, id, "white_label", 200); again.member("data.order_id") != order {
			t.Errorf("asked again it is another order: %s", again.text)
		}
		if no := h.upgrade(ada, id, "enterprise", 400); !strings.Contains(no.text, order) {
			t.Errorf("another order beside an open one: %s", no.text)
		}

		h.restart()
		approved := must(h.gateway.Billing().Approve(t.Context(), order, root, time.Time{}, nil))(t)
		if approved.EffectiveAt.Format(time.RFC3339) != "2000-01-01T01:30:00Z" ||
			approved.ExpiresAt.Format(time.RFC3339) != "2001-01-01T01:30:00Z" {
			t.Errorf("approved is %+v", approved)
		}
		if _, err := h.gateway.Billing().Reject(t.Context(), order, root, "no", nil); !errors.Is(err, storage.ErrInvalid) {
			t.Errorf("rejected after it was approved: %v", err)
		}
		h.want(h.call("GET", "/ai/200", own), 200, "a call")
		quota("white_label", 50_000, 49_999) // the quota of the new tier is whole

		h.restart()
		time.Sleep(100 * 24 * time.Hour)
		own = h.bearer(must(h.store.App(t.Context(), id))(t))
		ada = h.again(ada)
		down := h.upgrade(ada, id, "free", 200)
		if down.member("data.status") != "approved" || down.member("data.effective_at") != "2001-01-01T01:30:00Z" {
			t.Errorf("a downgrade is %s", down.text)
		}
		quota("white_label", 50_000, 50_000)
		h.want(h.do("DELETE", "/api/v1/billing/orders/"+down.member("data.order_id"), ada.bearer, ""), 200, "taken back")

		h.restart()
		contact := h.upgrade(ada, id, "enterprise", 200)
		if contact.member("data.status") != "contact" {
			t.Errorf("an order of enterprise is %s", contact.text)
		}
		must(h.gateway.Billing().Reject(t.Context(), contact.member("data.order_id"), root, "later", nil))(t)
		if a := h.call("GET", "/api/v1/billing/orders/"+contact.member("data.order_id"),
			ada.bearer); a.member("data.status") != "rejected" || a.member("data.reason") != "later" {
			t.Errorf("rejected it is %s", a.text)
		}
		if no := h.upgrade(ada, id, "white_label", 400); !strings.Contains(no.text, "already") {
			t.Error(no.text)
		}

		// The year is over in the midst of a running process, to the second.
		end := time.Date(2001, 1, 1, 1, 30, 0, 0, time.UTC)
		time.Sleep(time.Until(end) - time.Second)
		own = h.bearer(must(h.store.App(t.Context(), id))(t))
		quota("white_label", 50_000, 50_000)
		time.Sleep(time.Second)
		quota("free", 1000, 1000)
	})
}

// again is a user who has signed in again.
func (h *fixture) again(p testUser) testUser {
	p.bearer = h.granted(h.app, p.Sub, "openid apps")
	return p
}

func TestOrderIsMadeOnceHoweverManyAskAtOnce(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) { c.Plans = unlimited() })
	ada := h.testUser("ada", "")
	id, _ := h.made(ada, shop)
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() {
			tier := []string{"white_label", "enterprise"}[i%2]
			if a := h.do("POST", "/api/v1/billing/upgrade", ada.bearer, `{"client_id":"`+id+`","tier":"`+tier+`"}`); a.status != 200 && a.status != 400 {
				t.Errorf("%d %s", a.status, a.text)
			}
		})
	}
	all.Wait()
	if orders, _, err := h.store.Orders(t.Context(), storage.OrderQuery{AppID: id}, "", 100); len(orders) != 1 ||
		err != nil {
		t.Errorf("%d orders, %v", len(orders), err)
	}
}

// decider is a host's Decider.
type decider struct {
	status, reason string
	err            error
}

func (j decider) Decide(context.Context, storage.Order, storage.App) (string, string, error) {
	return j.status, j.reason, j.err
}

func TestHostsBillingDecides(t *testing.T) {
	for _, c := range []struct {
		decider decider
		answer  int
		status  string
		tier    string
	}{
		{decider{storage.OrderApproved, "", nil}, 200, "approved", "white_label"},
		{decider{storage.OrderRejected, "your card is refused", nil}, 200, "rejected", "free"},
		{decider{storage.OrderPending, "", nil}, 200, "pending", "free"},
		{decider{"", "", errors.New("the bank does not answer")}, 500, "", "free"},
		{decider{"perhaps", "", nil}, 500, "", "free"},
	} {
		h := newFixture(t, func(g *gateway.Config) { g.Decider = c.decider })
		ada := h.testUser("ada", "")
		id, _ := h.made(ada, shop)
		a := h.upgrade(ada, id, "white_label", c.answer)
		app := must(h.store.App(t.Context(), id))(t)
		if a.member("data.status") != c.status || a.member("data.reason") != c.decider.reason ||
			app.TierAt(time.Now()) != c.tier {
			t.Errorf("%+v: %s, the tier is %s", c.decider, a.text, app.TierAt(time.Now()))
		}
		if orders, _, _ := h.store.Orders(t.Context(), storage.OrderQuery{}, "",
			10); (len(orders) == 1) != (c.answer == 200) {
			t.Errorf("%+v: %d orders are stored", c.decider, len(orders))
		}
	}
}

// oracle counts the overage of an application by hand: each call one after the other.
type oracle struct {
	used map[string]int64 // by tier and period
	over int64
}

func (o *oracle) call(at time.Time, app storage.App) {
	plan := map[string]billing.Plan{}
	for _, p := range smallPlans() {
		plan[p.Tier] = p
	}
	hour := at.Truncate(time.Hour)
	last := hour.Add(time.Hour - 1)
	tier := app.TierAt(last)
	period := at.Format("2006-01-02")
	if plan[tier].Period == billing.PerMonth {
		period = at.Format("2006-01")
	}
	key := fmt.Sprint(tier, app.TierSince(last), period)
	if o.used[key]++; plan[tier].Calls != counters.Unlimited && o.used[key] > plan[tier].Calls {
		o.over++
	}
}

func smallPlans() []billing.Plan {
	plans := billing.Plans()
	for i := range plans {
		plans[i].PerMinute, plans[i].OverFen = counters.Unlimited, 333
	}
	plans[0].Calls, plans[1].Calls = 3, 40
	return plans
}

// Settlements match the ledger, for every application and every month.
func TestSettlementIsTheSumOfTheLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		edit := func(c *gateway.Config) { c.Plans = smallPlans() }
		h := newFixture(t, edit)
		ada := h.testUser("ada", "")
		type kept struct {
			id           string
			calls, wrong map[string]map[string]int64 // by month and product
			paid         map[string]int64
			agreed       []storage.Order
		}
		var apps []*kept
		for range 4 {
			id, _ := h.made(ada, shop)
			apps = append(apps, &kept{id: id, calls: map[string]map[string]int64{}, wrong: map[string]map[string]int64{},
				paid: map[string]int64{}})
		}
		random := rand.New(rand.NewPCG(7, 11))
		products := []string{gateway.ProductAI, gateway.ProductPayment, gateway.ProductMCP}
		for range 3000 {
			time.Sleep(time.Duration(random.IntN(100)) * time.Minute) // some 100 days
			a := apps[random.IntN(4)]
			now := time.Now().UTC()
			month := now.Format("2006-01")
			if a.calls[month] == nil {
				a.calls[month], a.wrong[month] = map[string]int64{}, map[string]int64{}
			}
			app := must(h.store.App(context.Background(), a.id))(t)
			switch n := random.IntN(1000); {
			case n < 4: // another tier, on an hour's last minutes too
				tier := []string{"free", "white_label", "enterprise"}[random.IntN(3)]
				if tier == app.TierAt(now) || app.Order != "" {
					continue
				}
				o := storage.Order{ID: handle.NewOrderID(now), AppID: a.id, Owner: ada.Sub, From: app.TierAt(now), Tier: tier,
					AmountFen: 99_900}
				o.Status, app.Order = storage.OrderPending, o.ID
				if _, _, err := h.store.SaveOrder(context.Background(), o, app); err != nil {
					t.Fatal(err)
				}
				o = must(h.gateway.Billing().Approve(context.Background(), o.ID, root, time.Time{}, nil))(t)
				a.agreed = slices.DeleteFunc(a.agreed, func(was storage.Order) bool { // off, unless it is the same
					off := was.EffectiveAt.After(now) && !was.EffectiveAt.Before(o.EffectiveAt) &&
						(was.Tier != o.Tier || !was.EffectiveAt.Equal(o.EffectiveAt))
					if off {
						a.paid[was.EffectiveAt.Format("2006-01")] -= was.AmountFen
					}
					return off
				})
				a.agreed = append(a.agreed, o)
				a.paid[o.EffectiveAt.Format("2006-01")] += o.AmountFen
			case n < 8:
				h.restart(edit)
			default:
				product := products[random.IntN(3)]
				failed := random.IntN(10) == 0
				if err := h.gateway.Charge(storage.Caller{AppID: a.id}, product, "", 0, failed); err != nil {
					t.Fatal(err)
				}
				a.calls[month][product]++
				if failed {
					a.wrong[month][product]++
				}
			}
		}
		h.restart(edit)
		ada = h.again(ada)
		for _, a := range apps {
			app := must(h.store.App(context.Background(), a.id))(t)
			// The oracle goes over the hours again, now that the tiers are known.
			rows := must(h.store.Usage(context.Background(), driver.UsageQuery{AppID: a.id, From: time.Unix(0, 0),
				To: time.Now().AddDate(1, 0, 0)}))(t)
			over, count := map[string]int64{}, &oracle{used: map[string]int64{}}
			byTier := map[string]int64{} // calls of a month in a tier
			for _, row := range rows {
				byTier[row.At.Format("2006-01 ")+app.TierAt(row.At.Add(time.Hour-1))] += row.Calls
				for range row.Calls {
					before := count.over
					count.call(row.At, app)
					over[row.At.Format("2006-01")] += count.over - before
				}
			}
			for month, calls := range a.calls {
				text := h.want(h.call("GET", "/api/v1/billing/settlements?month="+month+"&client_id="+a.id, ada.bearer), 200,
					"settlements").text
				var got struct {
					Data struct{ Settlements []billing.Settlement }
				}
				if err := json.Unmarshal([]byte(text), &got); err != nil || len(got.Data.Settlements) != 1 {
					t.Fatal(err, text)
				}
				s := got.Data.Settlements[0]
				var sum, spans, spanned, parts int64
				for _, p := range s.Products {
					if p.Calls != calls[p.Product] || p.Errors != a.wrong[month][p.Product] {
						t.Errorf("%s of %s in %s: %+v, want %d and %d errors", p.Product, a.id, month, p, calls[p.Product],
							a.wrong[month][p.Product])
					}
					sum, parts = sum+p.Calls, parts+p.Overage
				}
				fen := int64(0)
				for _, span := range s.Tiers {
					spans, spanned = spans+span.Calls, spanned+span.Overage
					fen += span.Overage * 333 / 1000
					byTier[month+" "+span.Tier] -= span.Calls
				}
				for tier, left := range byTier {
					if strings.HasPrefix(tier, month) && left != 0 {
						t.Errorf("%s: %s of %s is wrong by %d calls", text, tier, a.id, left)
					}
				}
				if s.Calls != sum || s.Calls != spans || s.Overage != parts || s.Overage != spanned || s.Overage != over[month] {
					t.Errorf("%s in %s: %s; by hand the overage is %d", a.id, month, text, over[month])
				}
				if s.Subscription != a.paid[month] || s.OverageFen != fen || s.TotalFen != s.Subscription+s.OverageFen {
					t.Errorf("%s in %s: %+v, paid %d, overage %d", a.id, month, s, a.paid[month], fen)
				}
			}
		}
	})
}

func TestDecisionHoldsForTheNextCall(t *testing.T) {
	h := newFixture(t)
	ada := h.testUser("ada", "")
	id, _ := h.made(ada, shop)
	own := h.bearer(must(h.store.App(t.Context(), id))(t))
	h.want(h.call("GET", "/ai/200", own), 200, "a call, so that the application is known")
	order := h.upgrade(ada, id, "white_label", 200).member("data.order_id")
	must(h.gateway.Billing().Approve(t.Context(), order, root, time.Time{}, nil))(t)
	if a := h.call("GET", "/api/v1/quota", own); a.member("data.tier") != "white_label" {
		t.Errorf("after it was approved: %s", a.text)
	}
}

func TestOrderThatWasTakenBackCostsNothing(t *testing.T) {
	h := newFixture(t)
	ada := h.testUser("ada", "")
	id, _ := h.made(ada, shop)
	app := must(h.store.App(t.Context(), id))(t)
	app, err := h.gateway.Billing().SetTier(t.Context(), id, "enterprise", "root", time.Now().AddDate(0, 0, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	order := h.upgrade(ada, id, "white_label", 200).member("data.order_id")
	o := must(h.gateway.Billing().Approve(t.Context(), order, root, time.Time{}, nil))(t)
	settled := func() int64 {
		t.Helper()
		return must(h.gateway.Billing().Settle(t.Context(), app, o.EffectiveAt))(t).Subscription
	}
	if got := settled(); got != 99_900 {
		t.Errorf("approved it costs %d", got)
	}
	h.want(h.do("DELETE", "/api/v1/billing/orders/"+order, ada.bearer, ""), 200, "taken back")
	if got := settled(); got != 0 {
		t.Errorf("taken back it costs %d", got)
	}
}

func TestRemovedApplicationIsStillSettled(t *testing.T) {
	h := newFixture(t)
	ada := h.testUser("ada", "")
	id, _ := h.made(ada, shop)
	for range 5 {
		if err := h.gateway.Charge(storage.Caller{AppID: id}, gateway.ProductAI, "", 0, false); err != nil {
			t.Fatal(err)
		}
	}
	h.want(h.do("DELETE", "/api/v1/apps/"+id, ada.bearer, ""), 200, "DELETE")
	for _, query := range []string{"", "?client_id=" + id} {
		if a := h.want(h.call("GET", "/api/v1/billing/settlements"+query, ada.bearer), 200, query); !strings.Contains(a.text, `"client_id":"`+id+`"`) || !strings.Contains(a.text, `"calls":5`) {
			t.Errorf("settlements%s: %s", query, a.text)
		}
	}
	h.want(h.call("GET", "/api/v1/billing/settlements?client_id="+id, h.testUser("bob", "").bearer), 404, "somebody else")
}

// A change by the clock is no reading: other processes' changes are noticed after it as they were
// before.
func TestApplicationWhoseTierHasEndedIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		app, err := h.gateway.Billing().SetTier(t.Context(), h.app.ID, "enterprise", "root", time.Now().Add(time.Minute), nil)
		if err != nil {
			t.Fatal(err)
		}
		bearer := h.bearer(app)
		h.want(h.call("GET", "/ai/200", bearer), 200, "a call within the tier")
		time.Sleep(time.Minute)
		h.want(h.call("GET", "/ai/200", bearer), 200, "a call after it")
		app.Disabled = true
		if _, err := h.store.SaveApp(t.Context(), app); err != nil { // by another process: nobody calls Forget
			t.Fatal(err)
		}
		for range 4 { // never idle for as long as a reading lasts
			time.Sleep(3 * time.Second)
			h.call("GET", "/ai/200", bearer)
			synctest.Wait()
		}
		h.want(h.call("GET", "/ai/200", bearer), 401, "a call of an application that was disabled elsewhere")
	})
}

// An order for later that is overtaken neither costs anything nor can be taken back: that would
// take back its successor.
func TestOvertakenOrderIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the bubble begins at 2000-01-01T00:00:00Z
		h := newFixture(t)
		ada := h.testUser("ada", "")
		id, _ := h.made(ada, shop)
		approve := func(order string) { must(h.gateway.Billing().Approve(t.Context(), order, root, time.Time{}, nil))(t) }
		approve(h.upgrade(ada, id, "enterprise", 200).member("data.order_id"))
		paid := h.upgrade(ada, id, "white_label", 200).member("data.order_id")
		approve(paid) // from February on
		if again := h.upgrade(ada, id, "white_label", 200); again.member("data.order_id") != paid ||
			again.member("data.status") != "approved" {
			t.Errorf("asked again for what is agreed on: %s", again.text)
		}
		free := h.upgrade(ada, id, "free", 200).member("data.order_id")
		if a := h.call("GET", "/api/v1/billing/orders/"+paid, ada.bearer); a.member("data.status") != "canceled" {
			t.Errorf("overtaken it is %s", a.text)
		}
		h.want(h.do("DELETE", "/api/v1/billing/orders/"+paid, ada.bearer, ""), 400, "taking back what is overtaken")
		february := time.Date(2000, 2, 15, 0, 0, 0, 0, time.UTC)
		app := must(h.store.App(t.Context(), id))(t)
		if s := must(h.gateway.Billing().Settle(t.Context(), app, february))(t); s.Subscription != 0 ||
			app.TierAt(february) != "free" {
			t.Errorf("in February it is %s and owes %d", app.TierAt(february), s.Subscription)
		}

		// An operator's word overtakes it too, and so does the end of the application.
		if _, err := h.gateway.Billing().SetTier(t.Context(), id, "white_label", "root", time.Time{}, nil); err != nil {
			t.Fatal(err)
		}
		if a := h.call("GET", "/api/v1/billing/orders/"+free, ada.bearer); a.member("data.status") != "canceled" {
			t.Errorf("overtaken by an operator it is %s", a.text)
		}
		last := h.upgrade(ada, id, "free", 200).member("data.order_id")
		h.want(h.do("DELETE", "/api/v1/apps/"+id, ada.bearer, ""), 200, "DELETE")
		if o := must(h.store.Order(t.Context(), last))(t); o.Status != storage.OrderCanceled {
			t.Errorf("of a removed application it is %s", o.Status)
		}
	})
}

func TestApplicationsTooManyForOneAnswerAreNotLeftOutInSilence(t *testing.T) {
	h := newFixture(t)
	ada := h.testUser("ada", "")
	for range 201 { // by the operator
		if _, err := h.store.SaveApp(t.Context(), storage.App{Name: "A", Owner: ada.Sub}); err != nil {
			t.Fatal(err)
		}
	}
	h.want(h.call("GET", "/api/v1/billing/settlements", ada.bearer), 400, "201 applications")
}
