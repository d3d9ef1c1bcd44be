package reqctx

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"testing"

	"github.com/keystile/keystile/storage"
)

func TestChargeMovesOnce(t *testing.T) {
	var moved []string
	over := errors.New("over")
	ctx := &Visit{Context: t.Context(),
		Mover: mover{move: func(app storage.App) error { moved = append(moved, app.ID); return over }}}
	if err := Charge(ctx, storage.App{ID: "one"}); err != over {
		t.Errorf("Charge() = %v, want what Move says", err)
	}
	if err := Charge(ctx, storage.App{ID: "one"}); err != nil || len(moved) != 1 || moved[0] != "one" {
		t.Errorf("Charge() again = %v, moved %v; want one move to one", err, moved)
	}
}

// mover is a Mover of a test's own.
type mover struct {
	move   func(storage.App) error
	moveTo func(refuse bool, keys ...Key) error
}

func (m mover) Move(_ context.Context, app storage.App) error { return m.move(app) }

func (m mover) MoveTo(_ context.Context, refuse bool, keys ...Key) error {
	return m.moveTo(refuse, keys...)
}

func TestChargeIsNothingWithoutAGateway(t *testing.T) {
	if err := Charge(context.Background(), storage.App{}); err != nil {
		t.Errorf("Charge() = %v, want nil", err)
	}
}

func TestVisitIsFoundInContextsMadeFromIt(t *testing.T) {
	type other struct{}
	v := &Visit{Context: context.WithValue(t.Context(), other{}, 1)}
	ctx, cancel := context.WithCancel(context.WithValue(v, other{}, 2))
	defer cancel()
	if From(ctx) != v || From(v) != v || ctx.Value(other{}) != 2 || v.Value(other{}) != 1 {
		t.Error("a visit is lost, or hides what was there")
	}
}

func TestRequestSourceIsFoundOutOnce(t *testing.T) {
	asked := 0
	from := Address(func(r *http.Request) netip.Addr {
		asked++
		return netip.MustParseAddrPort(r.RemoteAddr).Addr()
	})
	for _, peer := range []string{"192.0.2.1", "192.0.2.2"} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = peer + ":80"
		begun, _ := Begin(httptest.NewRecorder(), r)
		before := asked
		for range 3 {
			if got := from(begun).String(); got != peer {
				t.Errorf("a request of %s comes from %s", peer, got)
			}
		}
		if n := asked - before; n != 1 {
			t.Errorf("asked %d times, want once", n)
		}
	}
	unknown, before := httptest.NewRequest("GET", "/", nil), asked
	if from(unknown); from(unknown) != netip.MustParseAddr("192.0.2.1") || asked != before+2 {
		t.Error("outside of a gateway, it is not asked each time")
	}
}

func TestUserIsChargedOnceAndBeforeAnyApplication(t *testing.T) {
	type move struct {
		refuse bool
		keys   []Key
	}
	over := errors.New("over")
	for name, c := range map[string]struct {
		do   func(context.Context) error
		want move
		err  error
	}{
		"a session": {func(ctx context.Context) error { return ChargeSession(ctx, "s1", "u1") },
			move{true, []Key{{"session s1", 1}, {"user u1", 4}}}, over},
		"a sign-in": {func(ctx context.Context) error { ChargeSignIn(ctx, "u1"); return nil },
			move{false, []Key{{"sign-in u1", 0.1}}}, nil},
		"a grant": {func(ctx context.Context) error { ChargeGrant(ctx, "u1"); return nil },
			move{false, []Key{{"grant u1", 1}}}, nil},
	} {
		var moved []move
		v := &Visit{Context: t.Context(), Mover: mover{
			func(storage.App) error { t.Error("an application is charged too"); return nil },
			func(refuse bool, keys ...Key) error { moved = append(moved, move{refuse, keys}); return over },
		}}
		if err := c.do(v); err != c.err {
			t.Errorf("%s: %v, want %v", name, err, c.err)
		}
		c.do(v)
		Charge(v, storage.App{})
		if len(moved) != 1 || moved[0].refuse != c.want.refuse || !slices.Equal(moved[0].keys, c.want.keys) {
			t.Errorf("%s moved %v, want %v once", name, moved, c.want)
		}
	}
	v := &Visit{Context: t.Context(), Mover: mover{func(storage.App) error { return nil },
		func(bool, ...Key) error { t.Error("moved twice"); return nil }}}
	Charge(v, storage.App{})
	if err := ChargeSession(v, "s", "u"); err != nil {
		t.Error(err)
	}
	if err := ChargeSession(context.Background(), "s", "u"); err != nil {
		t.Errorf("without a gateway: %v", err)
	}
}
