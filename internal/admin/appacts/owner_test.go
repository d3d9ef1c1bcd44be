package appacts

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/groups"
)

// Administrators alone give an application to a group, which has to be there. Its managers change it as its owner does,
// and may not give it on; a member, or a manager of before, is told that there is none.
func TestApplicationOfAGroupIsItsManagersToChange(t *testing.T) {
	o := newOffice(t)
	ctx := t.Context()
	g, err := o.SaveGroup(ctx, groups.Group{Name: "ops", Managers: []string{"u1"}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := o.Store.SaveApp(ctx, storage.App{Name: "Shop", Domains: []string{"shop.example"}})
	if err != nil {
		t.Fatal(err)
	}
	manager := admin.Actor{User: storage.User{Sub: "u1"}, AuthTime: time.Now(), Proved: true,
		Manages: admin.Managing(ctx, o.Store, "u1")}
	rename, give := Change{Name: new("Store")}, Change{Owner: new("group:ops")}
	if _, _, err := o.acts.Set(ctx, manager, a.ID, rename); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a manager changes what belongs to nobody: %v", err)
	}
	if _, _, err := o.acts.Set(ctx, admin.CommandLine(), a.ID, Change{Owner: new("group:none")}); !errors.Is(err,
		storage.ErrInvalid) {
		t.Errorf("it is given to a group that is not there: %v", err)
	}
	if _, after, err := o.acts.Set(ctx, admin.CommandLine(), a.ID, give); err != nil || after.Owner != "group:ops" {
		t.Fatalf("it belongs to %q, %v", after.Owner, err)
	}
	if _, after, err := o.acts.Set(ctx, manager, a.ID, rename); err != nil || after.Name != "Store" {
		t.Errorf("a manager has named it %q, %v", after.Name, err)
	}
	if _, _, err := o.acts.Set(ctx, manager, a.ID, Change{Owner: new("u1")}); !reserved(err) {
		t.Errorf("a manager takes it: %v", err)
	}
	if _, err := o.acts.Create(ctx, manager, NewApp{Change: Change{Name: new("X"), Owner: new("group:ops")}}); !reserved(
		err) {
		t.Errorf("a manager gives their group one: %v", err)
	}
	if g, err = o.Store.Group(ctx, "ops"); err != nil {
		t.Fatal(err)
	}
	g.Managers = nil
	if _, err := o.SaveGroup(ctx, g); err != nil {
		t.Fatal(err)
	}
	manager.Manages = admin.Managing(ctx, o.Store, "u1") // as the next request has it
	if _, _, err := o.acts.Set(ctx, manager, a.ID, rename); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a manager of before changes it: %v", err)
	}
}

func reserved(err error) bool {
	f := (*reply.Failure)(nil)
	return errors.As(err, &f) && f.Status == adminOnly.Status && strings.HasPrefix(f.Msg, "owner is an administrator's")
}

// The quota of applications that a group has removed counts for the group's next one, and for nobody else's.
func TestGroupHasAQuotaAccountOfItsOwn(t *testing.T) {
	o := newOffice(t)
	ctx, limit := t.Context(), storage.Quota{Calls: 100, Until: time.Now().Add(time.Hour).UTC()}
	if _, err := o.SaveGroup(ctx, groups.Group{Name: "ops"}); err != nil {
		t.Fatal(err)
	}
	made := func(owner string) storage.App {
		a, err := o.CreateApp(ctx, storage.App{Name: "Shop", Owner: owner, Domains: []string{"shop.example"}}, 0, limit)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	used := limit
	used.Calls = 40
	if err := o.DeleteApp(ctx, made("group:ops"), used); err != nil {
		t.Fatal(err)
	}
	if other, ops := made("u1"), made("group:ops"); other.Spent.Calls != 0 || ops.Spent.Calls != 40 {
		t.Errorf("%d calls are counted against a manager, %d against the group", other.Spent.Calls, ops.Spent.Calls)
	}
}
