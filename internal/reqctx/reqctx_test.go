package reqctx

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/keystile/keystile/storage"
)

func TestAChargeMovesOnce(t *testing.T) {
	var moved []string
	over := errors.New("over")
	ctx := &Visit{Context: t.Context(), Move: func(app storage.App) error { moved = append(moved, app.ID); return over }}
	if err := Charge(ctx, storage.App{ID: "one"}); err != over {
		t.Errorf("Charge() = %v, want what Move says", err)
	}
	if err := Charge(ctx, storage.App{ID: "one"}); err != nil || len(moved) != 1 || moved[0] != "one" {
		t.Errorf("Charge() again = %v, moved %v; want one move to one", err, moved)
	}
}

func TestWithoutAGatewayNothingIsCharged(t *testing.T) {
	if err := Charge(context.Background(), storage.App{}); err != nil {
		t.Errorf("Charge() = %v, want nil", err)
	}
}

func TestAVisitIsFoundInContextsMadeFromIt(t *testing.T) {
	type other struct{}
	v := &Visit{Context: context.WithValue(t.Context(), other{}, 1)}
	ctx, cancel := context.WithCancel(context.WithValue(v, other{}, 2))
	defer cancel()
	if From(ctx) != v || From(v) != v || ctx.Value(other{}) != 2 || v.Value(other{}) != 1 {
		t.Error("a visit is lost, or hides what was there")
	}
}

func TestWhereARequestCameFromIsFoundOutOnce(t *testing.T) {
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
