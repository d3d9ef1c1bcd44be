package storage_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

func openMemory(t *testing.T) *storage.Store {
	t.Helper()
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func makeUser(t *testing.T, store *storage.Store, name, role string) storage.User {
	t.Helper()
	u, err := store.CreateUser(t.Context(), storage.User{Username: name, Role: role})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestLastAdministratorStaysOne(t *testing.T) {
	store := openMemory(t)
	root, other := makeUser(t, store, "root", storage.RoleAdmin), makeUser(t, store, "other", storage.RoleAdmin)
	makeUser(t, store, "dev", storage.RoleDeveloper)
	other.Disabled = true
	other, err := store.SaveUserKeepingAdmin(t.Context(), other)
	if err != nil {
		t.Fatalf("one of two administrators cannot be disabled: %v", err)
	}
	for name, change := range map[string]func(*storage.User){
		"another role": func(u *storage.User) { u.Role = storage.RoleDeveloper },
		"no role":      func(u *storage.User) { u.Role = "" },
		"disabled":     func(u *storage.User) { u.Disabled = true },
	} {
		u := root
		change(&u)
		if _, err := store.SaveUserKeepingAdmin(t.Context(), u); !errors.Is(err, storage.ErrLastAdmin) ||
			!errors.Is(err, storage.ErrInvalid) {
			t.Errorf("%s: %v, want ErrLastAdmin", name, err)
		}
	}
	root.Nickname = "R"
	if root, err = store.SaveUserKeepingAdmin(t.Context(), root); err != nil || root.Nickname != "R" {
		t.Errorf("another change of the last administrator: %v", err)
	}
	other.Role = ""
	if _, err := store.SaveUserKeepingAdmin(t.Context(), other); err != nil {
		t.Errorf("the role of a disabled administrator cannot be taken away: %v", err)
	}
	stale := root
	stale.Version--
	stale.Role = ""
	if _, err := store.SaveUserKeepingAdmin(t.Context(), stale); err == nil {
		t.Error("an old state was written")
	}
}

func TestAdministratorsWhoDemoteEachOtherAtOnceLeaveOne(t *testing.T) {
	for range 20 {
		store := openMemory(t)
		admins := []storage.User{makeUser(t, store, "a", storage.RoleAdmin), makeUser(t, store, "b", storage.RoleAdmin),
			makeUser(t, store, "c", storage.RoleAdmin)}
		var all sync.WaitGroup
		for _, u := range admins {
			u.Role = ""
			all.Go(func() {
				if _, err := store.SaveUserKeepingAdmin(context.Background(), u); err != nil &&
					!errors.Is(err, storage.ErrLastAdmin) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		left := 0
		for _, u := range admins {
			now, err := store.User(t.Context(), u.Sub)
			if err != nil {
				t.Fatal(err)
			}
			if now.Role == storage.RoleAdmin {
				left++
			}
		}
		if left != 1 {
			t.Fatalf("%d administrators are left, want 1", left)
		}
	}
}

func TestOrdersOfAnApplicationGoToItsNewOwner(t *testing.T) {
	store := openMemory(t)
	app, err := store.SaveApp(t.Context(), storage.App{Name: "Shop", Owner: "u1"})
	if err != nil {
		t.Fatal(err)
	}
	const many = 130 // more than one write holds
	at := time.Now()
	for range many {
		o := storage.Order{ID: handle.NewOrderID(at), AppID: app.ID, Owner: "u1", Tier: storage.TierFree,
			Status: storage.OrderRejected, CreatedAt: at}
		if _, app, err = store.SaveOrder(t.Context(), o, app); err != nil {
			t.Fatal(err)
		}
	}
	app.Name = "Store"
	if app, err = store.GiveApp(t.Context(), app, "u2"); err != nil || app.Owner != "u2" {
		t.Fatalf("%+v, %v", app, err)
	}
	if now, err := store.App(t.Context(), app.ID); err != nil || now.Owner != "u2" || now.Name != "Store" ||
		now.Version != app.Version {
		t.Errorf("stored is %+v, %v", now, err)
	}
	for owner, want := range map[string]int{"u1": 0, "u2": many} {
		orders, _, err := store.Orders(t.Context(), storage.OrderQuery{Owner: owner}, "", 1000)
		if err != nil || len(orders) != want {
			t.Errorf("%s has %d orders, %v, want %d", owner, len(orders), err, want)
		}
		apps, _, err := store.Apps(t.Context(), owner, "", 10)
		if err != nil || len(apps) != min(want, 1) {
			t.Errorf("%s has %d applications, %v", owner, len(apps), err)
		}
	}
	stale := app
	stale.Version--
	if _, err := store.GiveApp(t.Context(), stale, "u3"); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("an old state was given away: %v", err)
	}
}
