package groupacts

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/memory"
)

// office is a store of groups with its acts, the audit trail and what users were told.
type office struct {
	*testing.T
	*Acts
	store *storage.Store
	trail []event.Event
	told  []string
}

func newOffice(t *testing.T) *office {
	t.Helper()
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	o := &office{T: t, store: store}
	o.Acts = New(Config{Store: store, Recorder: admin.Recorder{Trail: o, Notifier: o}})
	return o
}

func (o *office) NoteNow(_ context.Context, e event.Event) error {
	o.trail = append(o.trail, e)
	return nil
}

func (o *office) Notify(_ context.Context, sub string, n event.Notice) {
	o.told = append(o.told, sub+" "+n.Detail)
}

func (o *office) user(name, role string) storage.User {
	o.Helper()
	u, err := o.store.CreateUser(o.Context(), storage.User{Username: name, Role: role},
		storage.Login{Method: storage.LoginSelf, Subject: name})
	if err != nil {
		o.Fatal(err)
	}
	return u
}

// group makes a group, which leaves nothing on the trail.
func (o *office) group(name string, managers ...string) {
	o.Helper()
	if _, err := o.store.SaveGroup(o.Context(), groups.Group{Name: name, Managers: managers}); err != nil {
		o.Fatal(err)
	}
}

// mapped stores a mapping of the connector staff.
func (o *office) mapped() {
	o.Helper()
	if _, err := o.store.SaveGroupMapping(o.Context(), groups.Mapping{Connector: "staff", Claim: "groups",
		Groups: map[string]string{"/ops": "ops"}}); err != nil {
		o.Fatal(err)
	}
}

func (o *office) groupsOf(sub string) (names []string) {
	o.Helper()
	all, err := o.store.Memberships(o.Context(), sub)
	if err != nil {
		o.Fatal(err)
	}
	for _, m := range all {
		names = append(names, m.Group)
	}
	return names
}

var operator = admin.Operator("command line, uid 0, host")

func by(u storage.User) admin.Actor { return admin.Actor{User: u, AuthTime: time.Now(), Proved: true} }

func late(u storage.User) admin.Actor {
	a := by(u)
	a.AuthTime = time.Now().Add(-11 * time.Minute)
	return a
}

// The group ops is managed by mia and by aud, an auditor; ned manages another one.
func TestGroupsAreForAdministratorsAndTheirMembersForManagersToo(t *testing.T) {
	label := "Operations"
	acts := map[string]func(*office, admin.Actor, storage.User) error{
		"create": func(o *office, a admin.Actor, _ storage.User) error {
			_, err := o.Create(o.Context(), a, groups.Group{Name: "new"})
			return err
		},
		"set": func(o *office, a admin.Actor, _ storage.User) error {
			_, _, err := o.Set(o.Context(), a, "ops", Change{Label: &label})
			return err
		},
		"delete": func(o *office, a admin.Actor, _ storage.User) error { return o.Delete(o.Context(), a, "ops") },
		"add": func(o *office, a admin.Actor, ada storage.User) error {
			_, err := o.AddMember(o.Context(), a, "ops", ada.Sub)
			return err
		},
		"remove": func(o *office, a admin.Actor, ada storage.User) error {
			_, err := o.RemoveMember(o.Context(), a, "ops", ada.Sub)
			return err
		},
		"map": func(o *office, a admin.Actor, _ storage.User) error {
			_, err := o.SetMapping(o.Context(), a, groups.Mapping{Connector: "staff", Claim: "groups",
				Groups: map[string]string{"/dev": "dev"}})
			return err
		},
		"unmap": func(o *office, a admin.Actor, _ storage.User) error { return o.RemoveMapping(o.Context(), a, "staff") },
	}
	for what, act := range acts {
		o := newOffice(t)
		ada, mia, ned := o.user("ada", ""), o.user("mia", ""), o.user("ned", storage.RoleDeveloper)
		root, aud := o.user("root", storage.RoleAdmin), o.user("aud", storage.RoleAuditor)
		o.group("ops", mia.Sub, aud.Sub)
		o.group("dev", ned.Sub)
		o.mapped()
		ofMember := what == "add" || what == "remove"
		refusal := func(group, members error) error {
			if ofMember {
				return members
			}
			return group
		}
		for _, c := range []struct {
			name string
			who  admin.Actor
			want error
		}{
			{"nobody", admin.Actor{}, refusal(admin.NotAdmin, storage.ErrNotFound)},
			{"an application", admin.Actor{Application: "ks1"}, refusal(admin.NotAdmin, storage.ErrNotFound)},
			{"a user", by(ada), refusal(admin.NotAdmin, storage.ErrNotFound)},
			{"the manager of another group", by(ned), refusal(admin.NotAdmin, storage.ErrNotFound)},
			{"an auditor who manages it", by(aud), refusal(admin.NotAdmin, admin.ReadsOnly)},
			{"a manager who signed in long ago", late(mia), refusal(admin.NotAdmin, admin.SignInAgain)},
			{"an administrator who signed in long ago", late(root), admin.SignInAgain},
		} {
			if err := act(o, c.who, ada); !errors.Is(err, c.want) {
				t.Errorf("%s by %s is %v, want %v", what, c.name, err, c.want)
			}
		}
		if len(o.trail)+len(o.told) > 0 || len(o.groupsOf(ada.Sub)) > 0 {
			t.Errorf("%s, refused, has left %v, %q", what, o.trail, o.told)
		}
		if err := act(o, by(mia), ada); !errors.Is(err, refusal(admin.NotAdmin, nil)) {
			t.Errorf("%s by a manager is %v", what, err)
		}
		if err := act(o, by(root), ada); err != nil {
			t.Errorf("%s by an administrator is %v", what, err)
		}
		if what == "create" || what == "delete" || what == "unmap" {
			continue // it is done
		}
		if err := act(o, operator, ada); err != nil {
			t.Errorf("%s by the operator is %v", what, err)
		}
	}
}

func TestManagersAreUsersWhoAreTold(t *testing.T) {
	o := newOffice(t)
	ada, mia := o.user("ada", ""), o.user("mia", "")
	if _, err := o.Create(t.Context(), operator, groups.Group{Name: "ops", Managers: []string{"unobody"}}); !errors.Is(
		err, storage.ErrInvalid) {
		t.Errorf("a manager who is nobody: %v", err)
	}
	if _, err := o.Create(t.Context(), operator, groups.Group{Name: "ops", Managers: []string{mia.Sub}}); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Create(t.Context(), operator, groups.Group{Name: "ops"}); !errors.Is(err, storage.ErrExists) ||
		!strings.HasPrefix(err.Error(), "name: there is a group ops already") {
		t.Errorf("one more of that name: %v", err)
	}
	for _, c := range []struct {
		change Managers
		want   []string
	}{
		{Managers{Add: []string{ada.Sub}}, []string{ada.Sub, mia.Sub}},
		{Managers{Drop: []string{mia.Sub, "unobody"}}, []string{ada.Sub}},
		{Managers{Instead: []string{mia.Sub, mia.Sub}}, []string{mia.Sub}},
		{Managers{}, []string{mia.Sub}},
		{Managers{Instead: []string{}}, nil},
	} {
		slices.Sort(c.want)
		_, g, err := o.Set(t.Context(), operator, "ops", Change{Managers: c.change})
		if err != nil || !slices.Equal(g.Managers, c.want) {
			t.Errorf("%+v: the managers are %q, %v; want %q", c.change, g.Managers, err, c.want)
		}
	}
	if _, _, err := o.Set(t.Context(), operator, "ops", Change{Managers: Managers{Add: []string{"unobody"}}}); !errors.Is(
		err, storage.ErrInvalid) {
		t.Errorf("nobody for a manager: %v", err)
	}
	now, no := " by the operator: manager of the group ops now", " by the operator: no longer manager of the group ops"
	want := []string{mia.Sub + now, ada.Sub + now, mia.Sub + no, ada.Sub + no, mia.Sub + now, mia.Sub + no}
	slices.Sort(o.told)
	if slices.Sort(want); !slices.Equal(o.told, want) {
		t.Errorf("told %q, want %q", o.told, want)
	}
}

func TestTrailHasTheGroupAndTheMember(t *testing.T) {
	o := newOffice(t)
	ada := o.user("ada", "")
	label := "Opérations"
	_, err := o.Create(t.Context(), operator, groups.Group{Name: "ops", Label: "Operations"})
	if err == nil {
		_, _, err = o.Set(t.Context(), operator, "ops", Change{Label: &label})
	}
	for range 2 { // the second time nothing changes
		if err == nil {
			_, err = o.AddMember(t.Context(), operator, "ops", ada.Sub)
		}
	}
	for range 2 {
		if err == nil {
			_, err = o.RemoveMember(t.Context(), operator, "ops", ada.Sub)
		}
	}
	if err == nil {
		err = o.Delete(t.Context(), operator, "ops")
	}
	if err != nil {
		t.Fatal(err)
	}
	who := " ops by " + operator.Name()
	want := []string{
		`group create` + who + `: name "" -> "ops"; label "" -> "Operations"`,
		`group set` + who + `: label "Operations" -> "Opérations"`,
		`group add` + who + `: member +` + ada.Sub, `group add` + who, `group remove` + who + `: member -` + ada.Sub,
		`group delete` + who + `: name "ops" -> ""; label "Opérations" -> ""`,
	}
	for i, e := range o.trail {
		ofMember := strings.HasPrefix(e.Detail, "group add") || strings.HasPrefix(e.Detail, "group remove")
		if i >= len(want) || e.Detail != want[i] || (e.User == ada.Sub) != ofMember {
			t.Errorf("on the trail is %q of user %q", e.Detail, e.User)
		}
	}
	if len(o.trail) != len(want) || len(o.told) > 0 {
		t.Errorf("%d records, told %q", len(o.trail), o.told)
	}
}

func TestGroupThatIsNotThereIsNotChanged(t *testing.T) {
	o := newOffice(t)
	ada := o.user("ada", "")
	_, _, set := o.Set(t.Context(), operator, "none", Change{})
	_, add := o.AddMember(t.Context(), operator, "none", ada.Sub)
	_, remove := o.RemoveMember(t.Context(), operator, "\x00", ada.Sub)
	for _, err := range []error{set, add, remove, o.Delete(t.Context(), operator, "none")} {
		if !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("it is %v", err)
		}
	}
	o.group("ops")
	if _, err := o.AddMember(t.Context(), operator, "ops", "unobody"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a member who is nobody: %v", err)
	}
	if len(o.trail) > 0 {
		t.Errorf("on the trail is %v", o.trail)
	}
}
