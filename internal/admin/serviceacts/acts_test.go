package serviceacts

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/memory"
)

// office is a store with two keys, and the acts on the service.
type office struct {
	*testing.T
	acts   *Acts
	store  *storage.Store
	keys   []storage.SigningKey
	trail  []event.Event
	away   error // what the trail answers
	untold error // what the bus answers
}

func newOffice(t *testing.T) *office {
	t.Helper()
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	o := &office{T: t, store: store, keys: []storage.SigningKey{{ID: "k1", Alg: "ES256", State: storage.KeyActive},
		{ID: "k2", Alg: "ES256", State: storage.KeyNext}, {ID: "k3", Alg: "EdDSA", State: storage.KeyActive}}}
	o.acts = New(Config{Store: store, Webhook: store, Keys: o, Recorder: admin.Recorder{Trail: o},
		Reload: func(context.Context) error { return o.untold }})
	return o
}

func (o *office) SigningKeys(context.Context) ([]storage.SigningKey, error) {
	return slices.Clone(o.keys), nil
}

func (o *office) RotateKey(context.Context, string) (storage.SigningKey, error) {
	o.keys[0].State, o.keys[1].State = storage.KeyRetired, storage.KeyActive
	return o.keys[1], nil
}

func (o *office) RetireKey(_ context.Context, kid string) error {
	o.keys = slices.DeleteFunc(o.keys, func(k storage.SigningKey) bool { return k.ID == kid })
	return nil
}

func (o *office) NoteNow(_ context.Context, e event.Event) error {
	if o.away == nil {
		o.trail = append(o.trail, e)
	}
	return o.away
}

// all are all acts, in the order in which they can be done.
func (o *office) all() []func(admin.Actor) error {
	ctx := o.Context()
	return []func(admin.Actor) error{
		func(a admin.Actor) error { _, _, err := o.acts.Set(ctx, a, storage.SettingForcePKCE, "1"); return err },
		func(a admin.Actor) error { _, err := o.acts.RotateKey(ctx, a, "ES256"); return err },
		func(a admin.Actor) error { return o.acts.RetireKey(ctx, a, "k1") },
		func(a admin.Actor) error {
			_, err := o.acts.SetUserWebhook(ctx, a, "https://hooks.example.com/of?key=hush", false)
			return err
		},
	}
}

func by(role string) admin.Actor {
	return admin.Actor{User: storage.User{Sub: "u1", Role: role}, AuthTime: time.Now(), Proved: true}
}

// untouched fails if an act has left anything.
func (o *office) untouched() {
	o.Helper()
	value, err := o.store.Setting(o.Context(), storage.SettingForcePKCE)
	to, _, failed := o.store.UserWebhook(o.Context())
	if err := errors.Join(err, failed); err != nil || value != "" || to != "" || o.keys[0].State != storage.KeyActive {
		o.Errorf("the setting is %q, the webhook %q, the keys are %v, %v", value, to, o.keys, err)
	}
	if len(o.trail) > 0 {
		o.Errorf("the trail has %v", o.trail)
	}
}

func TestActsOnTheServiceAreForFreshAdministrators(t *testing.T) {
	o := newOffice(t)
	late := by(storage.RoleAdmin)
	late.AuthTime = time.Now().Add(-11 * time.Minute)
	for who, a := range map[string]admin.Actor{"the zero Actor": {}, "a user": by(""),
		"an application": {Application: "ks1"}, "a developer": by(storage.RoleDeveloper),
		"an auditor": by(storage.RoleAuditor), "late": late} {
		want := admin.NotAdmin
		if who == "late" {
			want = admin.SignInAgain
		}
		for i, act := range o.all() {
			if err := act(a); !errors.Is(err, want) {
				t.Errorf("act %d by %s is %v, want %v", i, who, err, want)
			}
		}
	}
	o.untouched()
}

func TestActsOnTheServiceAreRecorded(t *testing.T) {
	for _, a := range []admin.Actor{by(storage.RoleAdmin), admin.Operator("command line")} {
		o := newOffice(t)
		for i, act := range o.all() {
			if err := act(a); err != nil {
				t.Fatalf("act %d by %s: %v", i, a.Name(), err)
			}
		}
		hash := regexp.MustCompile(`sha256:\w+`)
		var got []string
		for _, e := range o.trail {
			if e.User != a.Sub {
				t.Errorf("the event is of %q: %+v", e.User, e)
			}
			got = append(got, strings.Replace(hash.ReplaceAllString(e.Detail, "HASH"), " by "+a.Name(), "", 1))
		}
		want := []string{
			`setting set service_config.oauth_force_pkce: value "0" -> "1"`,
			"key rotate begins ES256", "key rotate ES256: active k1 -> k2",
			"key retire begins k1", "key retire k1: state retired -> withdrawn",
			`webhook set users: url "" -> "https://hooks.example.com"; secret none -> HASH`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("by %s the trail has\n%s\nwant\n%s", a.Name(), strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// Signing keys and settings do not change while the trail cannot be written.
func TestSettingsAndKeysStayWhileTheTrailIsAway(t *testing.T) {
	o := newOffice(t)
	o.away = errors.New("the store is away")
	for i, act := range o.all()[:3] {
		if err := act(by(storage.RoleAdmin)); err == nil || !strings.Contains(err.Error(), "nothing was changed") {
			t.Errorf("act %d is %v", i, err)
		}
	}
	o.untouched()
}

func TestSettingIsOneThatThereIs(t *testing.T) {
	o := newOffice(t)
	if _, _, err := o.acts.Set(t.Context(), by(storage.RoleAdmin), "other", "1"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("another setting is %v", err)
	}
	_, _, err := o.acts.Set(t.Context(), by(storage.RoleAdmin), storage.SettingForcePKCE, "2")
	if !errors.Is(err, storage.ErrInvalid) || !strings.Contains(err.Error(), "0, 1") {
		t.Errorf("another value is %v", err)
	}
	if err := o.acts.RetireKey(t.Context(), by(storage.RoleAdmin), "k9"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("another key is %v", err)
	}
	o.untouched()
	o.untold = errors.New("away")
	before, after, err := o.acts.Set(t.Context(), by(storage.RoleAdmin), storage.SettingForcePKCE, "1")
	if no := (*admin.Untold)(nil); !errors.As(err, &no) || before != "0" || after != "1" {
		t.Errorf("while the bus is away it is %q -> %q, %v", before, after, err)
	}
}

func TestWebhookIsAnAddressThatMayBeSentTo(t *testing.T) {
	o := newOffice(t)
	root := by(storage.RoleAdmin)
	for _, to := range []string{"http://hooks.example.com/", "ftp://hooks.example.com/", "https://ada:key@example.com/",
		"x"} {
		if _, err := o.acts.SetUserWebhook(t.Context(), root, to, false); !errors.Is(err, storage.ErrInvalid) {
			t.Errorf("%s is %v", to, err)
		}
	}
	o.untouched()
	for _, c := range []struct {
		to    string
		renew bool
		drawn bool
	}{{"http://127.0.0.1:8080/", false, true}, {"http://localhost/", false, false}, {"http://localhost/", true, true},
		{"", false, false}} {
		drawn, err := o.acts.SetUserWebhook(t.Context(), root, c.to, c.renew)
		if err != nil || drawn.IsZero() == c.drawn {
			t.Errorf("%+v: a secret is drawn: %t, %v", c, !drawn.IsZero(), err)
		}
	}
}
