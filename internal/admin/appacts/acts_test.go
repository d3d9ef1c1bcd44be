package appacts

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/claim"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/memory"
)

// office is a service in which acts are done.
type office struct {
	*storage.Store
	t         *testing.T
	acts      *Acts
	clients   *Clients
	trail     []event.Event
	told      []string
	revoked   []driver.Revocation
	forgotten []string
	fails     error     // of the trail
	meanwhile func()    // called once before an application is written
	behind    time.Time // what the store's clock has reached, if it is not zero
}

func (o *office) Later(now time.Time) time.Time {
	if !o.behind.IsZero() {
		return o.behind
	}
	return o.Store.Later(now)
}

func newOffice(t *testing.T) *office {
	t.Helper()
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	o := &office{Store: store, t: t}
	recorder := admin.Recorder{Trail: o, Notifier: o}
	forget := func(id string) { o.forgotten = append(o.forgotten, id) }
	o.acts = New(Config{Store: o, Billing: bank{o: o}, Revoke: o.Revoke, Recorder: recorder, Forget: forget})
	o.clients = NewClients(ClientConfig{Store: o, Revoke: o.Revoke, Recorder: recorder, Forget: forget})
	return o
}

func (o *office) NoteNow(_ context.Context, e event.Event) error {
	o.trail = append(o.trail, e)
	return o.fails
}

func (o *office) Notify(_ context.Context, sub string, n event.Notice) {
	o.told = append(o.told, sub+": "+n.Detail)
}

func (o *office) Revoke(_ context.Context, rs ...driver.Revocation) error {
	o.revoked = append(o.revoked, rs...)
	return nil
}

func (o *office) SaveApp(ctx context.Context, a storage.App) (storage.App, error) {
	if first := o.meanwhile; first != nil {
		o.meanwhile = nil
		first()
	}
	return o.Store.SaveApp(ctx, a)
}

// bank is a Billing that decides as it is told.
type bank struct {
	Billing
	o *office
}

func (bank) Limit(storage.App) storage.Quota { return storage.Quota{} }

func (b bank) RemoveApp(ctx context.Context, id string) error {
	if len(b.o.revoked) == 0 {
		b.o.t.Error("it is removed before its tokens have ended")
	}
	a, err := b.o.App(ctx, id)
	if err != nil {
		return err
	}
	return b.o.DeleteApp(ctx, a, storage.Quota{})
}

func (b bank) Cancel(ctx context.Context, id, by string, may func(storage.Order, storage.App) error) (storage.Order,
	error) {
	o, err := b.o.Order(ctx, id)
	if err != nil {
		return o, err
	}
	a, err := b.o.App(ctx, o.AppID)
	if err == nil {
		err = may(o, a)
	}
	if err != nil {
		return o, err
	}
	o.Status, o.DecidedBy, a.Order = storage.OrderCanceled, by, ""
	o, _, err = b.o.SaveOrder(ctx, o, a)
	return o, err
}

// user makes a user, and the actor who they are.
func (o *office) user(name, role string) admin.Actor {
	o.t.Helper()
	u, err := o.SaveUser(o.t.Context(), storage.User{Sub: "u" + name, Username: name, Role: role})
	if err != nil {
		o.t.Fatal(err)
	}
	return admin.Actor{User: u, Session: "s", AuthTime: time.Now(), Proved: true}
}

var shop = NewApp{Change: Change{Name: new("Shop"), Domains: List{Instead: []string{"shop.example"}}}}

func (o *office) made(by admin.Actor, n NewApp) storage.App {
	o.t.Helper()
	a, err := o.acts.Create(o.t.Context(), by, n)
	if err != nil {
		o.t.Fatal(err)
	}
	return a
}

// Each act is refused to everybody but those who may do it, and then changes, records, ends and tells nothing.
func TestActsOnApplicationsAreRefusedToOthers(t *testing.T) {
	o := newOffice(t)
	ada, other, auditor := o.user("ada", ""), o.user("bob", storage.RoleDeveloper), o.user("eve", storage.RoleAuditor)
	a := o.made(ada, shop)
	stale := ada
	stale.AuthTime = time.Now().Add(-time.Hour)
	o.trail, o.told, o.forgotten = nil, nil, nil
	ctx := t.Context()
	for name, by := range map[string]admin.Actor{
		"another user": other, "an auditor": auditor, "another application": {Application: "ksother"}, "nobody": {},
		"the owner an hour ago":                                   stale,
		"the owner by a front that says nothing of their sign-in": {User: ada.User},
	} {
		for act, err := range map[string]error{
			"Set":          second(o.acts.Set(ctx, by, a.ID, Change{Name: new("X")})),
			"RotateSecret": second(o.acts.RotateSecret(ctx, by, a.ID, 0)),
			"Delete":       first(o.acts.Delete(ctx, by, a.ID)),
			"SetTier":      second(o.acts.SetTier(ctx, by, a.ID, storage.TierEnterprise, time.Time{})),
			"Approve":      first(o.acts.Approve(ctx, by, "or1", time.Time{})),
			"Reject":       first(o.acts.Reject(ctx, by, "or1", "")),
			"Disable":      first(o.clients.Disable(ctx, by, "ks-1", true)),
			"Refetch":      first(o.clients.Refetch(ctx, by, "ks-1")),
			"Forget":       first(o.clients.Forget(ctx, by, "ks-1")),
			"SetHost":      second(o.clients.SetHost(ctx, by, "agents.example", true)),
			"ForgetHost":   first(o.clients.ForgetHost(ctx, by, "agents.example")),
		} {
			if err == nil {
				t.Errorf("%s may %s", name, act)
			}
		}
	}
	if _, err := o.acts.Create(ctx, auditor, shop); err == nil {
		t.Error("an auditor makes an application")
	}
	if _, err := o.acts.Create(ctx, admin.Actor{}, shop); err == nil {
		t.Error("nobody makes an application")
	}
	if got, err := o.App(ctx, a.ID); err != nil || got.Version != a.Version ||
		len(o.trail)+len(o.told)+len(o.revoked)+len(o.forgotten) > 0 {
		t.Errorf("it is %+v %v, %v %v %v %v", got, err, o.trail, o.told, o.revoked, o.forgotten)
	}
}

func first[T any](_ T, err error) error          { return err }
func second[T, U any](_ T, _ U, err error) error { return err }

// An application rotates its own secret and takes back its own order that waits, and does nothing else.
func TestApplicationDoesLittleForItself(t *testing.T) {
	o, ctx := newOffice(t), t.Context()
	a := o.made(o.user("ada", ""), shop)
	itself := admin.Actor{Application: a.ID, Bearer: true}
	for act, err := range map[string]error{
		"Create": first(o.acts.Create(ctx, itself, shop)),
		"Set":    second(o.acts.Set(ctx, itself, a.ID, Change{Name: new("X")})),
		"Delete": first(o.acts.Delete(ctx, itself, a.ID)),
	} {
		if !errors.Is(err, notByItself) {
			t.Errorf("%s = %v", act, err)
		}
	}
	before, after, err := o.acts.RotateSecret(ctx, itself, a.ID, 0)
	if err != nil || before.AppKey().Equal(after.AppKey().Reveal()) {
		t.Errorf("rotated: %v", err)
	}
	for status, want := range map[string]error{storage.OrderPending: nil, storage.OrderApproved: notByItself} {
		order := storage.Order{ID: "or" + status, AppID: a.ID, Owner: a.Owner, Tier: storage.TierEnterprise, Status: status,
			CreatedAt: time.Now()}
		if order, _, err = o.SaveOrder(ctx, order, after); err != nil {
			t.Fatal(err)
		}
		if got, err := o.acts.Cancel(ctx, itself, order.ID); !errors.Is(err, want) || want == nil && got.DecidedBy != a.ID {
			t.Errorf("a %s order: %+v, %v, want %v", status, got, err, want)
		}
		after, _ = o.App(ctx, a.ID)
	}
}

// Fields that administrators set are refused to others even where they would change nothing.
func TestFieldsOfAdministratorsAreRefusedToOwners(t *testing.T) {
	o, ctx := newOffice(t), t.Context()
	ada := o.user("ada", "")
	a := o.made(ada, shop)
	for name, c := range map[string]Change{
		"first_party": {FirstParty: new(false)}, "disabled": {Disabled: new(false)}, "owner": {Owner: new(ada.Sub)},
		"held":                {Held: []string{}},
		"allow_http_redirect": {AllowHTTPRedirect: new(false)}, "forbid_plain": {ForbidPlain: new(false)},
		"forbid_plain_key": {ForbidPlainKey: new(false)}, "legacy_nested": {LegacyNested: new(false)},
		"allow": {Allow: []string{"everyone"}}, "deny": {Deny: []string{}},
		"group_filter":           {Learns: Learns{GroupFilter: []string{}}},
		"groups_in_access_token": {Learns: Learns{GroupsInAccessToken: new(false)}},
		"claims":                 {Learns: Learns{Claims: []claim.Rule{}}},
	} {
		if _, _, err := o.acts.Set(ctx, ada, a.ID, c); err == nil ||
			!strings.HasPrefix(err.Error(), name+" is an administrator's") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := o.acts.Create(ctx, ada, NewApp{Change: shop.Change, Tier: new("enterprise")}); err == nil {
		t.Error("a tier is an owner's to set")
	}
	if _, _, err := o.acts.Set(ctx, admin.CommandLine(), a.ID, Change{Owner: new("nobody")}); !errors.Is(err, noOwner) {
		t.Errorf("an owner who is not there: %v", err)
	}
}

func TestSetLosesNoChangeThatWasMadeMeanwhile(t *testing.T) {
	o, ctx := newOffice(t), t.Context()
	a := o.made(admin.CommandLine(), shop)
	o.meanwhile = func() {
		if _, _, err := o.acts.Set(ctx, admin.CommandLine(), a.ID,
			Change{Domains: List{Add: []string{"B.example"}}}); err != nil {
			t.Error(err)
		}
	}
	before, after, err := o.acts.Set(ctx, admin.CommandLine(), a.ID,
		Change{Name: new("Store"), Domains: List{Add: []string{"c.example"}}})
	if err != nil || after.Name != "Store" || !slices.Equal(after.Domains,
		[]string{"shop.example", "b.example", "c.example"}) {
		t.Errorf("it is %+v, %v", after, err)
	}
	if len(before.Domains) != 2 {
		t.Errorf("before it was %+v", before)
	}
}

// Both owners of an application that is given away are told, and the trail has its subject.
func TestSetTellsBothOwnersAndTheTrail(t *testing.T) {
	o, ctx := newOffice(t), t.Context()
	ada, bob := o.user("ada", ""), o.user("bob", "")
	a := o.made(ada, shop)
	o.trail, o.told = nil, nil
	_, after, err := o.acts.Set(ctx, admin.CommandLine(), a.ID, Change{Owner: &bob.Sub, Disabled: new(true)})
	if err != nil || after.Owner != bob.Sub || !after.Disabled {
		t.Fatalf("it is %+v, %v", after, err)
	}
	what := ": by the operator: changed: disabled, owner"
	if !slices.Equal(o.told, []string{ada.Sub + what, bob.Sub + what}) {
		t.Errorf("told %q", o.told)
	}
	if len(o.trail) != 1 || o.trail[0].App != a.ID || o.trail[0].User != bob.Sub ||
		!strings.Contains(o.trail[0].Detail, "disabled false -> true; owner ") {
		t.Errorf("the trail has %+v", o.trail)
	}
	if len(o.revoked) != 1 || o.revoked[0].ID != a.ID || !slices.Contains(o.forgotten, a.ID) {
		t.Errorf("revoked %+v, forgotten %v", o.revoked, o.forgotten)
	}
}

func TestDeleteDisablesThenRevokesThenRemoves(t *testing.T) {
	o, ctx := newOffice(t), t.Context()
	ada := o.user("ada", "")
	a := o.made(ada, shop)
	before, err := o.acts.Delete(ctx, ada, a.ID)
	if err != nil || before.Disabled || len(o.revoked) != 1 || !o.revoked[0].Before.After(time.Now()) {
		t.Errorf("before it was %+v, %v; revoked %+v", before, err, o.revoked)
	}
	if _, err := o.App(ctx, a.ID); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("it is still there: %v", err)
	}
	if last := o.trail[len(o.trail)-1]; last.App != a.ID || !strings.HasPrefix(last.Detail,
		"app delete "+a.ID+" by "+ada.Sub+": name \"Shop\" -> \"\"") {
		t.Errorf("the trail has %+v", last)
	}
}

// An act that is done and not recorded says so, and returns what it made: a secret is shown once.
func TestCreateReturnsTheSecretEvenIfTheTrailFails(t *testing.T) {
	o := newOffice(t)
	o.fails = errors.New("the store is away")
	a, err := o.acts.Create(t.Context(), admin.CommandLine(), shop)
	if unrecorded := (*admin.Unrecorded)(nil); !errors.As(err, &unrecorded) || a.AppKey().IsZero() {
		t.Errorf("made %+v, %v", a, err)
	}
}

func TestListIsReplacedThenAddedToAndTakenFrom(t *testing.T) {
	lower := func(s string) (string, error) { return strings.ToLower(s), nil }
	now := []string{"a", "b"}
	got, err := List{Instead: []string{"C", "d", "c"}, Add: []string{"E", "d"}, Remove: []string{"D"}}.of("domains", now,
		lower)
	if err != nil || !slices.Equal(got, []string{"c", "e"}) || !slices.Equal(now, []string{"a", "b"}) {
		t.Errorf("it is %q, %v; before %q", got, err, now)
	}
	if _, err := (List{Remove: []string{"x"}}).of("domains", now, lower); !errors.Is(err, storage.ErrInvalid) ||
		!strings.Contains(err.Error(), "it is not there") {
		t.Errorf("taking away what is not there: %v", err)
	}
}
