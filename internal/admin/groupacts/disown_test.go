package groupacts

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// A group that is deleted leaves what it owned to nobody, its orders included, and another one that is made under its
// name has none of it. The things of others stay theirs.
func TestDeletedGroupOwnsNothingAlsoUnderItsNameAgain(t *testing.T) {
	o := newOffice(t)
	ctx, mia := t.Context(), o.user("mia", "")
	o.group("ops", mia.Sub)
	made := map[string]storage.App{}
	for _, owner := range []string{"group:ops", "group:ops-2", mia.Sub} {
		app, err := o.store.SaveApp(ctx, storage.App{Name: "Shop", Owner: owner, Domains: []string{"shop.example"}})
		if err != nil {
			t.Fatal(err)
		}
		made[owner] = app
	}
	app := made["group:ops"]
	order := storage.Order{ID: "o1", AppID: app.ID, Owner: app.Owner, Status: storage.OrderApproved}
	if _, _, err := o.store.SaveOrder(ctx, order, app); err != nil {
		t.Fatal(err)
	}
	gone, err := o.store.SaveApp(ctx, storage.App{Name: "Old", Owner: "group:ops", Domains: []string{"old.example"}})
	if err == nil {
		err = o.store.DeleteApp(ctx, gone, storage.Quota{})
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, member := range []string{"pets", "once"} {
		c, err := o.store.SaveCapability(ctx, storage.Capability{Member: member, Kind: storage.CapabilityStatic,
			UpstreamURL: "https://pets.example", Owner: "group:ops"}, []toolplan.Tool{{Name: "get"}})
		if err == nil && member == "once" {
			err = o.store.DeleteCapability(ctx, c)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Delete(ctx, operator, "ops"); err != nil {
		t.Fatal(err)
	}
	o.group("ops")
	apps, _, err := o.store.Apps(ctx, "group:ops", "", 10)
	closed, _, err2 := o.store.ClosedApps(ctx, "group:ops", "", 10)
	capabilities, _, err3 := o.store.Capabilities(ctx, "group:ops", "", 10)
	orders, _, err4 := o.store.Orders(ctx, storage.OrderQuery{Owner: "group:ops"}, "", 10)
	if len(apps)+len(closed)+len(capabilities)+len(orders) > 0 || err != nil || err2 != nil || err3 != nil || err4 != nil {
		t.Errorf("it has %v, %v, %v, %v; %v %v %v %v", apps, closed, capabilities, orders, err, err2, err3, err4)
	}
	for owner, app := range made {
		now, err := o.store.App(ctx, app.ID)
		if owner == "group:ops" && now.Owner != "" ||
			owner != "group:ops" && now.Owner != owner || err != nil {
			t.Errorf("the application of %s belongs to %q, %v", owner, now.Owner, err)
		}
	}
	c, tools, err := o.store.Tools(ctx, "pets")
	if err != nil || c.Owner != "" || len(tools) != 1 {
		t.Errorf("the capability is %+v with %d tools, %v", c, len(tools), err)
	}
	again, err := o.store.SaveCapability(ctx, storage.Capability{Member: "once", Kind: storage.CapabilityStatic,
		UpstreamURL: "https://pets.example", Owner: "group:ops"}, nil)
	if err != nil || again.Since().Before(c.UpdatedAt) {
		t.Errorf("the name of a capability of before is the group's since %v, %v", again.Since(), err)
	}
	var trail []string
	for _, e := range o.trail {
		trail = append(trail, e.Detail)
	}
	for _, want := range []string{`app set ` + app.ID, `capability update pets`, `group delete ops`} {
		if !slices.ContainsFunc(trail, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("%s is not on the trail: %q", want, trail)
		}
	}
	if !slices.Contains(o.told, mia.Sub+" by the operator: changed: owner") {
		t.Errorf("told %q", o.told)
	}
}

// A gift to a group that is being deleted belongs to it before, and to nobody then, or is refused.
func TestDeletedGroupIsGivenNothing(t *testing.T) {
	for range 20 {
		o := newOffice(t)
		ctx := t.Context()
		o.group("ops")
		app, err := o.store.SaveApp(ctx, storage.App{Name: "Shop", Domains: []string{"shop.example"}})
		if err != nil {
			t.Fatal(err)
		}
		given := make(chan error)
		go func() {
			_, err := o.store.GiveApp(ctx, app, "group:ops")
			given <- err
		}()
		if err := o.Delete(ctx, operator, "ops"); err != nil {
			t.Fatal(err)
		}
		if err := <-given; err != nil && !errors.Is(err, storage.ErrInvalid) {
			t.Fatal(err)
		}
		if app, err = o.store.App(ctx, app.ID); err != nil || app.Owner != "" {
			t.Fatalf("it belongs to %q, %v", app.Owner, err)
		}
	}
}
