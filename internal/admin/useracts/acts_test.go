package useracts

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/logout"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/apikey"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/memory"
)

// office is a store of users with its acts, the audit trail and what users were told.
type office struct {
	*testing.T
	*Acts
	store     *storage.Store
	trail     []event.Event
	told      []string
	forgotten []string
	away      error // what the trail answers
}

func newOffice(t *testing.T) *office {
	t.Helper()
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	o := &office{T: t, store: store}
	o.Acts = New(Config{
		Store: store, Recorder: admin.Recorder{Trail: o, Notifier: o},
		Ways: access.Ways{{Method: storage.LoginSelf, SignUp: access.SignUpInvitation}},
		Create: func(ctx context.Context, u storage.User, _ string) (storage.User, error) {
			return store.CreateUser(ctx, u, storage.Login{Method: storage.LoginSelf, Subject: u.Username})
		},
		Revoke: func(ctx context.Context, rs ...driver.Revocation) error {
			for i := range rs {
				rs[i].Until = time.Now().Add(time.Hour)
			}
			return logout.By(store)(ctx, rs...)
		},
		Forget:      func(sub string) { o.forgotten = append(o.forgotten, sub) },
		SetPassword: func(context.Context, string, string) error { return storage.ErrNotFound },
	})
	return o
}

func (o *office) NoteNow(_ context.Context, e event.Event) error {
	if o.away == nil {
		o.trail = append(o.trail, e)
	}
	return o.away
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

var operator = admin.Operator("command line, uid 0, host")

func by(u storage.User) admin.Actor { return admin.Actor{User: u, AuthTime: time.Now(), Proved: true} }

func TestActsRefuseEverybodyButTheOperatorAndFreshAdministrators(t *testing.T) {
	o := newOffice(t)
	ada, root := o.user("ada", ""), o.user("root", storage.RoleAdmin)
	late := by(root)
	late.AuthTime = time.Now().Add(-11 * time.Minute)
	role := storage.RoleAdmin
	acts := map[string]func(admin.Actor) error{
		"Create": func(a admin.Actor) error {
			_, err := o.Create(t.Context(), a, storage.User{Username: "eve"}, "x")
			return err
		},
		"Set": func(a admin.Actor) error {
			_, err := o.Set(t.Context(), a, ada.Sub,
				Change{Role: &role})
			return err
		},
		"SignOut":      func(a admin.Actor) error { _, err := o.SignOut(t.Context(), a, ada.Sub); return err },
		"EndSessions":  func(a admin.Actor) error { return o.EndSessions(t.Context(), a, storage.Session{UserID: ada.Sub}) },
		"ResetFactors": func(a admin.Actor) error { _, _, err := o.ResetFactors(t.Context(), a, ada.Sub); return err },
		"CreateKey": func(a admin.Actor) error {
			_, _, err := o.CreateKey(t.Context(), a, ada, "x", "tools", time.Hour)
			return err
		},
		"RevokeKeys":     func(a admin.Actor) error { return o.RevokeKeys(t.Context(), a, apikey.Key{UserID: ada.Sub}) },
		"WithdrawGrants": func(a admin.Actor) error { return o.WithdrawGrants(t.Context(), a, Grant{ada.Sub, "ksx"}) },
		"Invite":         func(a admin.Actor) error { _, _, err := o.Invite(t.Context(), a, "", 7); return err },
		"UnlockAddress": func(a admin.Actor) error {
			_, err := o.UnlockAddress(t.Context(), a, netip.MustParseAddr("192.0.2.7"))
			return err
		},
		"UnlockUser": func(a admin.Actor) error { _, _, err := o.UnlockUser(t.Context(), a, ada); return err },
		"Erase":      func(a admin.Actor) error { _, err := o.Erase(t.Context(), a, ada.Sub); return err },
		"Exported":   func(a admin.Actor) error { return o.Exported(t.Context(), a, ada.Sub) },
	}
	for name, act := range acts {
		for who, a := range map[string]admin.Actor{
			"nobody": {}, "a user": by(ada), "an auditor": by(storage.User{Sub: "u1", Role: storage.RoleAuditor}),
			"a developer": by(storage.User{Sub: "u2", Role: storage.RoleDeveloper}), "an application": {Application: "ks1"},
		} {
			if err := act(a); !errors.Is(err, admin.NotAdmin) {
				t.Errorf("%s by %s is %v", name, who, err)
			}
		}
		if err := act(late); !errors.Is(err, admin.SignInAgain) {
			t.Errorf("%s by an administrator who signed in long ago is %v", name, err)
		}
	}
	if len(o.trail)+len(o.told)+len(o.forgotten) > 0 {
		t.Errorf("refused acts have left %v, %q, %q", o.trail, o.told, o.forgotten)
	}
	for _, a := range []admin.Actor{operator, by(root)} {
		if err := acts["ResetFactors"](a); err != nil {
			t.Errorf("by %s it is %v", a.Name(), err)
		}
	}
}

func TestSetKeepsTheLastAdministratorButForTheOperator(t *testing.T) {
	o := newOffice(t)
	root := o.user("root", storage.RoleAdmin)
	disabled := true
	if _, err := o.Set(t.Context(), by(root), root.Sub, Change{Disabled: &disabled}); !errors.Is(err,
		storage.ErrLastAdmin) || len(o.trail) > 0 {
		t.Errorf("an administrator who disables the last one: %v, trail %v", err, o.trail)
	}
	done, err := o.Set(t.Context(), operator, root.Sub, Change{Disabled: &disabled})
	if err != nil || done.Before.Disabled || !done.After.Disabled || !done.SignedOut ||
		!slices.Equal(o.told, []string{root.Sub + " by the operator: disabled"}) {
		t.Errorf("the operator: %+v, %v, told %q", done, err, o.told)
	}
}

// The part of a change that was done is on the trail, although the rest has failed.
func TestSetWritesDownWhatWasDoneWhenTheRestFails(t *testing.T) {
	o := newOffice(t)
	ada, root := o.user("ada", ""), o.user("root", storage.RoleAdmin)
	role, password := storage.RoleAdmin, "battery staple horse"
	if _, err := o.Set(t.Context(), by(root), ada.Sub, Change{Password: &password}); !errors.Is(err, ErrNoPassword) ||
		len(o.trail) > 0 {
		t.Fatalf("a password alone: %v, trail %v", err, o.trail)
	}
	_, err := o.Set(t.Context(), by(root), ada.Sub, Change{Role: &role, Password: &password})
	if !errors.Is(err, ErrNoPassword) || len(o.trail) != 1 || !strings.HasSuffix(o.trail[0].Detail, `: role "" -> "admin"; sessions and grants -> ended`) || o.trail[0].User != ada.Sub {
		t.Errorf("%v, trail %v", err, o.trail)
	}
	if want := []string{ada.Sub + " by an administrator: role is admin now"}; !slices.Equal(o.told, want) ||
		!slices.Equal(o.forgotten, []string{ada.Sub}) {
		t.Errorf("told %q, want %q; forgotten %q", o.told, want, o.forgotten)
	}
}

func TestSetChangesNothingForAPasswordThatTheRulesRefuse(t *testing.T) {
	o := newOffice(t)
	ada := o.user("ada", "")
	o.c.CheckPassword = func(_ string, known ...string) error {
		if !slices.Equal(known, []string{"ada", "", "ada@example.com"}) {
			t.Errorf("it is held against %q", known)
		}
		return &reply.Failure{Msg: "too short"}
	}
	role, email, password := storage.RoleAdmin, "ada@example.com", "x"
	if _, err := o.Set(t.Context(), operator, ada.Sub, Change{Role: &role, Email: &email,
		Password: &password}); !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("it is %v", err)
	}
	if u, err := o.store.User(t.Context(), ada.Sub); err != nil || u.Role != "" || u.Email != "" || len(o.trail) > 0 {
		t.Errorf("the user is %+v, %v; trail %v", u, err, o.trail)
	}
}

func TestAdministratorsNeitherEraseNorResetThemselves(t *testing.T) {
	o := newOffice(t)
	root, password := o.user("root", storage.RoleAdmin), "battery staple horse"
	o.user("other", storage.RoleAdmin)
	if _, err := o.Erase(t.Context(), by(root), root.Sub); !errors.Is(err, ErrOneself) {
		t.Errorf("erased: %v", err)
	}
	if _, err := o.Set(t.Context(), by(root), root.Sub, Change{Password: &password}); !errors.Is(err, ErrOneself) {
		t.Errorf("a new password: %v", err)
	}
}

func TestEraseRemovesNothingThatCannotBeWrittenDown(t *testing.T) {
	o := newOffice(t)
	ada := o.user("ada", "")
	o.away = errors.New("the store is away")
	_, err := o.Erase(t.Context(), operator, ada.Sub)
	u, there := o.store.User(t.Context(), ada.Sub)
	if unrecorded := (*admin.Unrecorded)(nil); err == nil || errors.As(err, &unrecorded) || there != nil || !u.Disabled ||
		!u.Erasing {
		t.Errorf("it is %v; the user is %+v, %v", err, u, there)
	}
	o.away = nil
	if _, err := o.Erase(t.Context(), operator, ada.Sub); err != nil || !slices.Equal(o.forgotten, []string{ada.Sub}) {
		t.Errorf("once more: %v, forgotten %q", err, o.forgotten)
	}
}

func TestWithdrawGrantsEndsNothingIfOneIsNotThere(t *testing.T) {
	o := newOffice(t)
	ada := o.user("ada", "")
	app, err := o.store.SaveApp(t.Context(), storage.App{Name: "Shop", Domains: []string{"shop.example"}})
	if err == nil {
		_, err = o.store.SaveConsent(t.Context(), storage.Consent{AppID: app.ID, UserID: ada.Sub, Scope: "openid"})
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := o.WithdrawGrants(t.Context(), operator, Grant{ada.Sub, app.ID}, Grant{ada.Sub, "ksnone"}); !errors.Is(err,
		storage.ErrNotFound) || len(o.trail)+len(o.told) > 0 {
		t.Errorf("%v, trail %v, told %q", err, o.trail, o.told)
	}
	if err := o.WithdrawGrants(t.Context(), operator, Grant{ada.Sub, app.ID}); err != nil || len(o.trail) != 1 ||
		len(o.told) != 1 {
		t.Errorf("%v, trail %v, told %q", err, o.trail, o.told)
	}
	if _, err := o.store.Consent(t.Context(), app.ID, ada.Sub); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the consent is there: %v", err)
	}
}

func TestAttributesAreMergedAndOnTheTrailByNameAlone(t *testing.T) {
	o := newOffice(t)
	ada := o.user("ada", "")
	set := func(changes map[string]*string) (storage.User, error) {
		done, err := o.Set(t.Context(), operator, ada.Sub, Change{Attributes: &changes})
		return done.After, err
	}
	text := func(value string) *string { return &value }
	for _, c := range []struct {
		changes map[string]*string
		want    map[string]string
		trail   string
	}{
		{map[string]*string{"dept": text("Sales"), "floor": text("")}, map[string]string{"dept": "Sales", "floor": ""},
			": attribute dept none -> set; attribute floor none -> set"},
		{map[string]*string{"dept": text("Ops"), "gone": nil}, map[string]string{"dept": "Ops", "floor": ""},
			": attribute dept changed"},
		{map[string]*string{"floor": nil}, map[string]string{"dept": "Ops"}, ": attribute floor set -> none"},
		{map[string]*string{}, map[string]string{"dept": "Ops"}, operator.Name()},
	} {
		u, err := set(c.changes)
		if last := o.trail[len(o.trail)-1].Detail; err != nil || !maps.Equal(u.Attributes, c.want) ||
			!strings.HasSuffix(last, c.trail) || strings.Contains(last, "Ops") {
			t.Errorf("%v: %v, %v; on the trail is %q", c.changes, u.Attributes, err, last)
		}
	}
	records := len(o.trail)
	many := map[string]*string{}
	for i := range 32 {
		many["a"+strconv.Itoa(i)] = text("x")
	}
	for _, changes := range []map[string]*string{{"Dept": text("x")}, {"dept": text(strings.Repeat("x", 1025))}, many} {
		if _, err := set(changes); !errors.Is(err, storage.ErrInvalid) {
			t.Errorf("%d attributes: %v", len(changes), err)
		}
	}
	u, err := o.store.User(t.Context(), ada.Sub)
	if err != nil || !maps.Equal(u.Attributes, map[string]string{"dept": "Ops"}) || len(o.trail) > records ||
		len(o.told) > 0 {
		t.Errorf("the user has %v, %v; trail %v, told %q", u.Attributes, err, o.trail, o.told)
	}
}
