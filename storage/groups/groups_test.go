package groups_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/memory"
)

// town is a store with users and groups.
type town struct {
	*testing.T
	*storage.Store
}

func newTown(t *testing.T) town {
	t.Helper()
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	return town{t, store}
}

func (w town) user(name string) storage.User {
	w.Helper()
	u, err := w.CreateUser(w.Context(), storage.User{Username: name},
		storage.Login{Method: storage.LoginSelf, Subject: name})
	if err != nil {
		w.Fatal(err)
	}
	return u
}

func (w town) group(name string, managers ...string) groups.Group {
	w.Helper()
	g, err := w.SaveGroup(w.Context(), groups.Group{Name: name, Managers: managers})
	if err != nil {
		w.Fatal(err)
	}
	return g
}

func (w town) add(group, sub string) {
	w.Helper()
	if _, err := w.AddMember(w.Context(), group, sub); err != nil {
		w.Fatal(group, sub, err)
	}
}

func (w town) groupsOf(sub string) (names []string) {
	w.Helper()
	all, err := w.Memberships(w.Context(), sub)
	if err != nil {
		w.Fatal(err)
	}
	for _, m := range all {
		names = append(names, m.Group)
	}
	return names
}

// members reads all members of a group, n on a page.
func (w town) members(g groups.Group, n int) (subs []string) {
	w.Helper()
	for from := ""; ; {
		page, next, err := w.Members(w.Context(), g, from, n)
		if err != nil || len(page) > n {
			w.Fatalf("a page of %d: %v", len(page), err)
		}
		for _, m := range page {
			subs = append(subs, m.Sub)
		}
		if from = next; next == "" {
			return subs
		}
	}
}

func (w town) want(what string, got []string, want ...string) {
	w.Helper()
	if !slices.Equal(got, want) {
		w.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestMembersAreFoundFromTheGroupAndGroupsFromTheUser(t *testing.T) {
	w := newTown(t)
	ada, bob := w.user("ada"), w.user("bob")
	ops, dev := w.group("ops"), w.group("dev")
	w.add("ops", ada.Sub)
	w.add("ops", bob.Sub)
	w.add("dev", ada.Sub)
	w.want("of ada", w.groupsOf(ada.Sub), "dev", "ops")
	w.want("of bob", w.groupsOf(bob.Sub), "ops")
	w.want("of nobody", w.groupsOf("unobody"))
	both := []string{ada.Sub, bob.Sub}
	slices.Sort(both)
	w.want("in ops", w.members(ops, 1), both...)
	w.want("in dev", w.members(dev, 10), ada.Sub)
	if added, err := w.AddMember(t.Context(), "ops", ada.Sub); added || err != nil {
		t.Errorf("a second time: %t, %v", added, err)
	}
	for range 2 {
		if _, err := w.RemoveMember(t.Context(), "ops", ada.Sub); err != nil {
			t.Fatal(err)
		}
	}
	w.want("of ada", w.groupsOf(ada.Sub), "dev")
	w.want("in ops", w.members(ops, 10), bob.Sub)
	if _, err := w.AddMember(t.Context(), "ops", "\x00"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("who cannot be a user: %v", err)
	}
	if _, err := w.AddMember(t.Context(), "none", ada.Sub); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a group that is not there: %v", err)
	}
}

func TestNamesOfGroupsAreChecked(t *testing.T) {
	for name, good := range map[string]bool{
		"a": true, "0": true, "team-a.b_c": true, strings.Repeat("a", 63): true,
		"": false, "A": false, "-a": false, ".": false, "_a": false, "a b": false, "a:b": false, "ä": false, "a\n": false,
		strings.Repeat("a", 64): false,
	} {
		if access.IsGroupName(name) != good {
			t.Errorf("%q: %t, want %t", name, !good, good)
		}
	}
	w := newTown(t)
	for what, g := range map[string]groups.Group{
		"name": {Name: "Ops"}, "label": {Name: "ops", Label: strings.Repeat("x", 201)},
		"managers": {Name: "ops", Managers: subs(groups.MaxManagers + 1)},
	} {
		if _, err := w.SaveGroup(t.Context(), g); !errors.Is(err, storage.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", what, err)
		}
	}
	w.group("ops")
	if _, err := w.SaveGroup(t.Context(), groups.Group{Name: "ops"}); !errors.Is(err, storage.ErrExists) {
		t.Errorf("a second group of a name: %v, want ErrExists", err)
	}
}

func subs(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("u%03d", i))
	}
	return all
}

func TestUserIsInAtMostTwoHundredGroups(t *testing.T) {
	w := newTown(t)
	ada := w.user("ada")
	var names []string
	for i := range groups.MaxGroupsOfUser + 1 {
		names = append(names, fmt.Sprintf("g%03d", i))
		w.group(names[i])
	}
	for _, i := range rand.Perm(groups.MaxGroupsOfUser) {
		w.add(names[i], ada.Sub)
	}
	w.want("of ada", w.groupsOf(ada.Sub), names[:groups.MaxGroupsOfUser]...)
	last := names[groups.MaxGroupsOfUser]
	if _, err := w.AddMember(t.Context(), last, ada.Sub); !errors.Is(err, groups.ErrTooManyGroups) {
		t.Errorf("one more: %v", err)
	}
	for _, name := range names[:groups.MaxGroupsOfUser] {
		g, err := w.Group(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		w.want(name, w.members(g, 10), ada.Sub)
	}
	// A group that has ended makes room.
	g, err := w.Group(t.Context(), names[7])
	if err == nil {
		err = w.DeleteGroup(t.Context(), g)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.add(last, ada.Sub)
	for i, name := range names {
		if _, err := w.RemoveMember(t.Context(), name, ada.Sub); err != nil {
			t.Fatal(i, err)
		}
	}
	w.want("of ada", w.groupsOf(ada.Sub))
}

// The groups of a user and the members of a group agree, whatever many writers do at once.
func TestBothSidesSayTheSameWhateverIsDoneAtOnce(t *testing.T) {
	w := newTown(t)
	var all []groups.Group
	for i := range 5 {
		all = append(all, w.group(fmt.Sprint("g", i)))
	}
	var users []string
	for i := range 6 {
		users = append(users, w.user(fmt.Sprint("user", i)).Sub)
	}
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			for range 60 {
				group, sub := fmt.Sprint("g", random.IntN(5)), users[random.IntN(6)]
				var err error
				switch random.IntN(3) {
				case 0:
					_, err = w.RemoveMember(t.Context(), group, sub)
				case 1:
					_, _, err = w.FollowGroups(t.Context(), sub, "oidc", []string{group, "none"})
				default:
					_, err = w.AddMember(t.Context(), group, sub)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	for _, g := range all {
		var want []string
		for _, sub := range users {
			if slices.Contains(w.groupsOf(sub), g.Name) {
				want = append(want, sub)
			}
		}
		slices.Sort(want)
		w.want(g.Name, w.members(g, 2), want...)
	}
}

func TestDeletedGroupHasNoMembersAlsoUnderItsNameAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		ada := w.user("ada")
		var others []string
		for i := range 120 {
			others = append(others, w.user(fmt.Sprint("user", i)).Sub)
		}
		slices.Sort(others)
		ops := w.group("ops")
		w.group("dev")
		w.add("dev", ada.Sub)
		w.add("ops", ada.Sub)
		for _, sub := range others {
			w.add("ops", sub)
		}
		if err := w.DeleteGroup(t.Context(), ops); err != nil {
			t.Fatal(err)
		}
		w.want("of ada", w.groupsOf(ada.Sub), "dev")
		again := w.group("ops")
		w.want("of ada", w.groupsOf(ada.Sub), "dev")
		w.want("in ops", w.members(again, 10))
		w.add("ops", ada.Sub)
		w.want("of ada", w.groupsOf(ada.Sub), "dev", "ops")

		removed := 0
		for {
			n, err := w.SweepGroups(t.Context(), time.Now(), 50)
			if err != nil {
				t.Fatal(err)
			}
			if removed += n; n == 0 {
				break
			}
		}
		if removed != len(others) { // ada's were written without it when she was added
			t.Errorf("%d memberships are removed, want %d", removed, len(others))
		}
		w.want("left in the group that ended", w.members(ops, 10))
		w.want("of ada", w.groupsOf(ada.Sub), "dev", "ops")
		time.Sleep(25 * time.Hour)
		if _, err := w.SweepGroups(t.Context(), time.Now(), 50); err != nil {
			t.Fatal(err)
		}
		w.want("of ada", w.groupsOf(ada.Sub), "dev", "ops")
	})
}

func TestDeletingAGroupNeedsItsNewestState(t *testing.T) {
	w := newTown(t)
	before := w.group("ops")
	changed := before
	changed.Label = "Operations"
	changed, err := w.SaveGroup(t.Context(), changed)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.DeleteGroup(t.Context(), before); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("one that has changed: %v", err)
	}
	if err := w.DeleteGroup(t.Context(), changed); err != nil {
		t.Errorf("one as it is: %v", err)
	}
	if err := w.DeleteGroup(t.Context(), before); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("one that is gone: %v", err)
	}
	w.group("ops")
	if err := w.DeleteGroup(t.Context(), before); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("one that was made anew: %v", err)
	}
	if _, err := w.Group(t.Context(), "ops"); err != nil {
		t.Errorf("the new one: %v", err)
	}
}

func TestGroupBeginsWithWhatFindsIt(t *testing.T) {
	w := newTown(t)
	g, err := w.SaveGroup(t.Context(), groups.Group{Name: "team-a", Label: "Überblick"})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "team", "TEAM-A", "über", "ÜB", "team-b", "blick", "a"} {
		found, _, err := w.FindGroups(t.Context(), text, "", 10)
		if err != nil || g.Begins(text) != (len(found) == 1) {
			t.Errorf("%q: it begins so is %t, found are %d, %v", text, g.Begins(text), len(found), err)
		}
	}
}

func TestConnectorRemovesOnlyWhomItHasAdded(t *testing.T) {
	w := newTown(t)
	ada := w.user("ada")
	for _, name := range []string{"a", "b", "c"} {
		w.group(name)
	}
	follow := func(connector string, changed bool, names ...string) {
		t.Helper()
		before, after, err := w.FollowGroups(t.Context(), ada.Sub, connector, names)
		if slices.Equal(before, after) == changed || err != nil {
			t.Errorf("%s follows %q: %q -> %q, %v", connector, names, before, after, err)
		}
	}
	w.add("a", ada.Sub)
	follow("oidc", true, "a", "b")
	follow("oidc", false, "a", "b")
	w.want("of ada", w.groupsOf(ada.Sub), "a", "b")
	follow("other", true, "c")
	follow("oidc", true)
	w.want("of ada", w.groupsOf(ada.Sub), "a", "c")
	follow("oidc", true, "b")
	w.add("b", ada.Sub) // by hand: she stays
	follow("oidc", false)
	w.want("of ada", w.groupsOf(ada.Sub), "a", "b", "c")
}

func TestGroupsAreFoundByNameLabelAndManager(t *testing.T) {
	w := newTown(t)
	for i := range 5 {
		if _, err := w.SaveGroup(t.Context(), groups.Group{Name: fmt.Sprint("team-", i), Label: fmt.Sprint("Ops ", i),
			Managers: []string{"u1", "u1"}}); err != nil {
			t.Fatal(err)
		}
	}
	w.group("other", "u2")
	names := func(find func(from string) ([]groups.Group, string, error)) (names []string) {
		for from := ""; ; {
			page, next, err := find(from)
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range page {
				names = append(names, g.Name)
			}
			if from = next; next == "" {
				return names
			}
		}
	}
	find := func(text string) []string {
		return names(func(from string) ([]groups.Group, string, error) { return w.FindGroups(t.Context(), text, from, 2) })
	}
	teams := []string{"team-0", "team-1", "team-2", "team-3", "team-4"}
	w.want("all", find(""), append([]string{"other"}, teams...)...)
	w.want("team", find("TEAM"), teams...)
	w.want("ops", find("ops"), teams...)
	w.want("ops 3", find("Ops 3"), "team-3")
	w.want("managed", names(func(from string) ([]groups.Group, string, error) {
		return w.GroupsManagedBy(t.Context(), "u1", from, 2)
	}), teams...)
}

func TestErasedUserIsInNoGroupAndManagesNone(t *testing.T) {
	w := newTown(t)
	ada, bob := w.user("ada"), w.user("bob")
	ops := w.group("ops", ada.Sub, bob.Sub)
	w.add("ops", ada.Sub)
	ada.Disabled, ada.Erasing = true, true
	ada, err := w.SaveUser(t.Context(), ada)
	if err == nil {
		err = w.EraseUser(t.Context(), ada.Sub, func(string) []string { return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	w.want("in ops", w.members(ops, 10))
	ops, err = w.Group(t.Context(), "ops")
	if err != nil {
		t.Fatal(err)
	}
	w.want("managers", ops.Managers, bob.Sub)
	if _, err := w.AddMember(t.Context(), "ops", ada.Sub); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a user who is erased: %v", err)
	}
	w.want("in ops", w.members(ops, 10))
}

// The first group of a store keeps versions out that know of none.
func TestVersionBeforeDoesNotOpenAStoreWithGroups(t *testing.T) {
	backend, key := memory.New(), storage.NewMasterKey()
	store, err := storage.Open(t.Context(), backend, key)
	if err != nil {
		t.Fatal(err)
	}
	w := town{t, store}
	has := func(ctx context.Context) int {
		all, err := w.Features(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return len(slices.DeleteFunc(all, func(f storage.Feature) bool { return f.Name != "groups of users" }))
	}
	if has(t.Context()) != 0 {
		t.Error("a store without a group has the feature")
	}
	w.group("ops")
	if has(t.Context()) != 1 {
		t.Error("a store with a group has not the feature")
	}
}

// The list of what was deleted begins with the first of several deletions at once.
func TestGroupsAreDeletedAtOnce(t *testing.T) {
	w := newTown(t)
	ada := w.user("ada")
	var all []groups.Group
	for i := range 16 {
		all = append(all, w.group(fmt.Sprint("g", i)))
		w.add(all[i].Name, ada.Sub)
	}
	var work sync.WaitGroup
	for _, g := range all {
		work.Go(func() {
			if err := w.DeleteGroup(t.Context(), g); err != nil {
				t.Errorf("%s: %v", g.Name, err)
			}
		})
	}
	work.Wait()
	w.want("of ada", w.groupsOf(ada.Sub))
}
