package toolacts

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/toolplan"
)

// office is a store with the capability shop of the developer u1, and the acts on it.
type office struct {
	*testing.T
	*Acts
	store    *storage.Store
	trail    []event.Event
	reloaded int
	away     error // what the trail and the bus answer
	delivery string
}

const owner = "u1"

func newOffice(t *testing.T) *office {
	t.Helper()
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	o := &office{T: t, store: store}
	o.must(err)
	tools := []toolplan.Tool{{Name: "getPet", Method: "get", Path: "/p", Call: &toolplan.Call{Template: "/p"}}}
	_, err = store.SaveCapability(t.Context(), storage.Capability{Member: "shop", Kind: storage.CapabilityREST,
		UpstreamURL: "https://up.example.com", Publish: true, Owner: owner, ToolCount: 1}, tools,
		storage.Delivery{Event: "tools.changed", URL: "https://hook.example.com/", Payload: []byte("{}")})
	o.must(err)
	all, err := store.Deliveries(t.Context(), "shop")
	o.must(err)
	o.delivery = all[0].ID
	o.Acts = New(Config{Store: store, Recorder: admin.Recorder{Trail: o}, Reload: func(context.Context) error {
		o.reloaded++
		return o.away
	}})
	return o
}

func (o *office) must(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}

func (o *office) NoteNow(_ context.Context, e event.Event) error {
	if o.away == nil {
		o.trail = append(o.trail, e)
	}
	return o.away
}

// giveUp ends the attempts of the delivery.
func (o *office) giveUp() {
	o.Helper()
	all, err := o.store.Deliveries(o.Context(), "shop")
	o.must(err)
	all[0].GivenUpAt, all[0].Attempts = time.Now(), 9
	_, err = o.store.SaveDelivery(o.Context(), all[0])
	o.must(err)
}

// acts are all acts, each done once.
func (o *office) acts() map[string]func(admin.Actor) error {
	ctx := o.Context()
	return map[string]func(admin.Actor) error{
		"SetAccess": func(a admin.Actor) error {
			_, _, err := o.SetAccess(ctx, a, "shop", AccessChange{Add: []access.Rule{{Subject: access.SubjectEveryone}}})
			return err
		},
		"Resend": func(a admin.Actor) error { _, err := o.Resend(ctx, a, "shop", o.delivery); return err },
		"CreateBundle": func(a admin.Actor) error {
			_, err := o.CreateBundle(ctx, a, access.Bundle{Name: "all", Tools: []string{"shop__*", "shop__getPet", "shop__*"}})
			return err
		},
		"DeleteBundle": func(a admin.Actor) error { return o.DeleteBundle(ctx, a, "all") },
	}
}

func by(sub, role string) admin.Actor {
	return admin.Actor{User: storage.User{Sub: sub, Role: role}, AuthTime: time.Now(), Proved: true}
}

func TestActsOnCapabilitiesAreRefusedToOthers(t *testing.T) {
	o := newOffice(t)
	o.giveUp()
	long := time.Now().Add(-11 * time.Minute)
	late, lateRoot := by(owner, storage.RoleDeveloper), by("u9", storage.RoleAdmin)
	late.AuthTime, lateRoot.AuthTime = long, long
	for who, c := range map[string]struct {
		by          admin.Actor
		own, bundle error // of what belongs to the owner of the capability, and of bundles
	}{
		"the zero Actor":      {admin.Actor{}, storage.ErrNotFound, admin.NotAdmin},
		"an application":      {admin.Actor{Application: "ks1"}, storage.ErrNotFound, admin.NotAdmin},
		"another developer":   {by("u2", storage.RoleDeveloper), storage.ErrNotFound, admin.NotAdmin},
		"an auditor":          {by("u3", storage.RoleAuditor), admin.NotAllowed, admin.NotAdmin},
		"a late owner":        {late, admin.SignInAgain, admin.NotAdmin},
		"a late administator": {lateRoot, admin.SignInAgain, admin.SignInAgain},
	} {
		for name, act := range o.acts() {
			want := c.own
			if strings.HasSuffix(name, "Bundle") {
				want = c.bundle
			}
			if err := act(c.by); !errors.Is(err, want) {
				t.Errorf("%s by %s is %v, want %v", name, who, err, want)
			}
		}
	}
	if len(o.trail)+o.reloaded > 0 {
		t.Errorf("refused acts have left %v, and the bus was told %d times", o.trail, o.reloaded)
	}
}

func TestActsOnCapabilitiesAreRecordedAndObeyed(t *testing.T) {
	o := newOffice(t)
	o.giveUp()
	acts := o.acts()
	o.must(acts["SetAccess"](by(owner, storage.RoleDeveloper)))
	o.must(acts["Resend"](by(owner, storage.RoleDeveloper)))
	o.must(acts["CreateBundle"](by("u9", storage.RoleAdmin)))
	o.must(acts["DeleteBundle"](admin.Operator("command line")))
	var got []string
	for _, e := range o.trail {
		got = append(got, e.User+" "+e.Detail)
	}
	want := []string{
		"u1 capability access shop by u1: 0 rules -> 1; + allow everyone (all)",
		"u1 delivery resend " + o.delivery + " by u1: shop: given up -> waiting",
		" bundle create all by u9: none -> shop__*, shop__getPet",
		" bundle delete all by command line: shop__*, shop__getPet -> none",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the trail has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if o.reloaded != 3 {
		t.Errorf("the bus was told %d times, want 3: a delivery does not concern it", o.reloaded)
	}
	all, err := o.store.Deliveries(t.Context(), "shop")
	if err != nil || !all[0].Waiting() || all[0].Attempts != 0 {
		t.Errorf("the delivery is %+v, %v", all[0], err)
	}
}

func TestAccessSaysWhatIsDoneAndNotYetKnown(t *testing.T) {
	o := newOffice(t)
	o.away = errors.New("away")
	err := o.acts()["SetAccess"](by(owner, storage.RoleDeveloper))
	unrecorded, untold := (*admin.Unrecorded)(nil), (*admin.Untold)(nil)
	if !errors.As(err, &unrecorded) || !errors.As(err, &untold) {
		t.Errorf("it is %v", err)
	}
	if l, err := o.store.Access(t.Context(), "shop"); err != nil || len(l.Rules) != 1 {
		t.Errorf("the list is %+v, %v: it is done all the same", l, err)
	}
}

func TestAccessRuleOfAnOperatorStaysUntilOneTakesItAway(t *testing.T) {
	o := newOffice(t)
	ctx, dev, root := t.Context(), by(owner, storage.RoleDeveloper), by("u9", storage.RoleAdmin)
	deny := access.Rule{Subject: "role:" + storage.RoleAuditor, Deny: true}
	_, _, err := o.SetAccess(ctx, root, "shop", AccessChange{Add: []access.Rule{deny}})
	o.must(err)
	allow := deny
	allow.Deny, allow.Operator = false, true // which only the actor decides
	for name, ch := range map[string]AccessChange{
		"reset": {Reset: true}, "removed": {Remove: func(r access.Rule) bool { return r.Deny }},
		"turned": {Add: []access.Rule{allow}}, "replaced": {Reset: true, Add: []access.Rule{deny}},
	} {
		if _, _, err := o.SetAccess(ctx, dev, "shop", ch); !errors.Is(err, OperatorsRule) {
			t.Errorf("%s by the owner it is %v", name, err)
		}
	}
	if _, after, err := o.SetAccess(ctx, root, "shop", AccessChange{Reset: true}); err != nil || len(after.Rules) != 0 {
		t.Errorf("by an administrator it is %+v, %v", after, err)
	}
	_, _, err = o.SetAccess(ctx, root, "shop", AccessChange{Remove: func(access.Rule) bool { return true }})
	if no := (*Missing)(nil); !errors.As(err, &no) || no.Kind != "rule" {
		t.Errorf("a rule that is not there is %v", err)
	}
}

func TestActsNameWhatIsMissing(t *testing.T) {
	o := newOffice(t)
	ctx, root := t.Context(), by("u9", storage.RoleAdmin)
	add := func(member string, r access.Rule) error {
		_, _, err := o.SetAccess(ctx, root, member, AccessChange{Add: []access.Rule{r}})
		return err
	}
	resend := func(id string) error { _, err := o.Resend(ctx, root, "shop", id); return err }
	bundle := func(tool string) error {
		_, err := o.CreateBundle(ctx, root, access.Bundle{Name: "all", Tools: []string{tool}})
		return err
	}
	for want, err := range map[string]error{
		`there is no capability "x"`:     add("x", access.Rule{Subject: access.SubjectEveryone}),
		`there is no user "u5"`:          add("shop", access.Rule{Subject: "user:u5"}),
		`there is no application "ks5"`:  add("shop", access.Rule{Subject: "app:ks5"}),
		`shop has no tool "sell"`:        add("shop", access.Rule{Subject: access.SubjectEveryone, Tools: []string{"sell"}}),
		`there is no delivery "d5"`:      resend("d5"),
		`there is no capability "y"`:     bundle("y__get"),
		`shop has no tool "buy"`:         bundle("shop__buy"),
		`there is no bundle "forgotten"`: o.DeleteBundle(ctx, root, "forgotten"),
	} {
		if !errors.Is(err, storage.ErrNotFound) || err.Error() != want {
			t.Errorf("it is %v, want %s", err, want)
		}
	}
	if err := resend(o.delivery); !errors.Is(err, StillWaits) {
		t.Errorf("a delivery that waits is %v", err)
	}
	if len(o.trail) > 0 {
		t.Errorf("the trail has %v", o.trail)
	}
}
