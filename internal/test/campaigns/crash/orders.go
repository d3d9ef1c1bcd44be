package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
)

// buyer orders tiers for an application, and decides about them as its operator.
type buyer struct {
	*life
	rand   *rand.Rand
	app    *application // nil: a new one is to be made
	bearer string
	orders int               // of this application
	tiers  map[string]*thing // that it has the tier
	open   map[string]*thing // that its open order has the status; nil: there is none
}

// order holds the fields read from an order.
type order struct {
	ID     string `json:"order_id"`
	Status string `json:"status"`
}

// maxOrders bounds the orders of an application: its own requests are few a minute.
const maxOrders = 4

const (
	free       = "free"
	whiteLabel = "white_label"
)

func (b *buyer) work(l *life) {
	b.life = l
	for l.alive() {
		if err := b.step(); err != nil {
			b.app = nil // with an order that nobody may know of
			return
		}
	}
}

func (b *buyer) step() error {
	switch {
	case b.app == nil || b.orders >= maxOrders && b.open == nil:
		return b.begin()
	case b.open == nil && b.tier() != free: // an order of less takes effect weeks later
		return b.setTier(free)
	case b.open == nil:
		return b.order()
	}
	switch b.rand.IntN(4) {
	case 0:
		return b.decide(rejectOrder, "billing reject", "rejected")
	case 1:
		return b.setTier([]string{free, whiteLabel, "enterprise"}[b.rand.IntN(3)])
	case 2:
		return b.cancel()
	}
	return b.decide(approveOrder, "billing approve", "approved")
}

func (b *buyer) begin() (err error) {
	if b.app, err = b.makeApp("Buyer", free); err != nil {
		return err
	}
	b.orders, b.open, b.tiers = 0, nil, map[string]*thing{}
	for _, tier := range []string{free, whiteLabel, "enterprise"} {
		b.tiers[tier] = b.journal.add(&thing{kind: aTier, name: b.app.ID, secret: tier, ended: tier != free}, createApp)
	}
	b.bearer, err = b.machine(b.app)
	return err
}

// tier is the one that the application has.
func (b *buyer) tier() string {
	for name, t := range b.tiers {
		if !t.ended {
			return name
		}
	}
	return ""
}

func (b *buyer) order() error {
	a, err := b.ask(http.MethodPost, "/api/v1/billing/upgrade", `{"tier":"`+whiteLabel+`"}`)
	if err != nil {
		b.journal.lose(makeOrder)
		return err
	}
	var got struct{ Data order }
	if json.Unmarshal(a.body, &got) != nil || got.Data.Status != "pending" {
		b.journal.violated(nil, "an order is answered %v", a)
		return errGone
	}
	b.orders++
	b.open = map[string]*thing{}
	for _, status := range []string{"pending", "approved", "rejected", "canceled"} {
		b.open[status] = b.journal.add(&thing{kind: anOrder, name: got.Data.ID, secret: status, of: b.app.ID,
			ended: status != "pending"}, makeOrder)
	}
	b.done(&attempt{what: makeOrder}, a.id())
	return nil
}

// turns list what a step changes at once: the order's status, and the tier.
func (b *buyer) turns(status, tier string) (all []*thing) {
	if b.open != nil && status != "" {
		all = append(all, b.open["pending"], b.open[status])
	}
	if is := b.tier(); is != tier {
		all = append(all, b.tiers[is], b.tiers[tier])
	}
	return all
}

func (b *buyer) decide(what, command, status string) error {
	tier := b.tier()
	if status == "approved" {
		tier = whiteLabel
	}
	id := b.open["pending"].name
	asked := b.journal.begin(what, b.turns(status, tier)...)
	var is struct{ Status string }
	if err := b.made(&is, command, nil, id); err != nil {
		return err
	}
	b.open = nil
	b.done(asked, strings.Replace(command, "billing", "order", 1)+" "+id+" "+whiteLabel+" "+b.app.ID)
	return nil
}

func (b *buyer) setTier(tier string) error {
	asked := b.journal.begin(setTier, b.turns("canceled", tier)...)
	var is struct{ Tier string }
	if err := b.made(&is, "tier set", nil, b.app.ID, tier); err != nil {
		return err
	}
	b.open = nil
	b.done(asked, "tier set "+b.app.ID)
	return nil
}

func (b *buyer) cancel() error {
	asked := b.journal.begin(cancelOrder, b.turns("canceled", b.tier())...)
	a, err := b.ask(http.MethodDelete, "/api/v1/billing/orders/"+b.open["pending"].name, "")
	switch {
	case err != nil:
		return err
	case a.status != http.StatusOK:
		b.journal.violated(b.open["pending"], "its cancellation is answered %v", a)
		return errGone
	}
	b.open = nil
	b.done(asked, a.id())
	return nil
}

func (b *buyer) ask(method, path, body string) (answer, error) {
	return b.send(method, path, body, "Authorization", "Bearer "+b.bearer, "Content-Type", "application/json")
}

// probeOrder asks for the status of an order.
func (l *life) probeOrder(t *thing) (probed, error) {
	var all []order
	err := l.made(&all, "billing orders", []string{"app", t.of})
	works := slices.Contains(all, order{t.name, t.secret})
	return probed{works: works, answer: answer{body: fmt.Append(nil, all)}}, err
}

// probeTier asks for the tier of an application.
func (l *life) probeTier(t *thing) (probed, error) {
	var is struct{ Tier string }
	err := l.made(&is, "app show", nil, t.name)
	return probed{works: is.Tier == t.secret, answer: answer{body: []byte(is.Tier)}}, err
}
