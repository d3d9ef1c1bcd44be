package gateway

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/storage"
)

// anyApp is a store in which every application is there.
type anyApp struct{ Store }

func (anyApp) App(_ context.Context, id string) (storage.App, error) { return storage.App{ID: id}, nil }

func (anyApp) Later(now time.Time) time.Time { return now }

// dated is a store of one application, whose own clock is ahead of that of the machine.
type dated struct {
	Store
	app   storage.App
	ahead time.Duration
}

func (d *dated) App(context.Context, string) (storage.App, error) { return d.app, nil }

func (d *dated) Later(now time.Time) time.Time { return now.Add(d.ahead) }

// A node whose clock is behind refused an application for as long what another node had just allowed it.
func TestTierHoldsByTheClockOfTheStore(t *testing.T) {
	now := time.Now()
	store := &dated{app: storage.App{ID: "a", Tier: storage.TierFree}, ahead: 28 * time.Second}
	store.app.SetTier(storage.TierEnterprise, store.Later(now), store.Later(now).Add(time.Minute))
	w := newBackground()
	defer w.close()
	a := newAccounts(store, func(string) billing.Plan { return billing.Plan{} }, w)
	for _, c := range []struct {
		at   time.Duration
		want string
	}{{0, storage.TierEnterprise}, {59 * time.Second, storage.TierEnterprise}, {time.Minute, storage.TierFree}} {
		is, err := a.of(t.Context(), "a", now.Add(c.at))
		if err != nil || is.Tier != c.want {
			t.Errorf("after %v the tier is %v, %v, want %s", c.at, is.Tier, err, c.want)
		}
	}
}

func TestApplicationsTakeBoundedMemory(t *testing.T) {
	w := newBackground()
	defer w.close()
	a := newAccounts(anyApp{}, func(string) billing.Plan { return billing.Plan{} }, w)
	for i := range maxAccounts + 1000 {
		if _, err := a.of(t.Context(), strconv.Itoa(i), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if held := a.known.Len(); held > maxAccounts || held < maxAccounts/4 {
		t.Errorf("%d applications are remembered, want at most %d, and the last ones among them", held, maxAccounts)
	}
}

func TestAccountBeginsNothingAfterTheEnd(t *testing.T) {
	w := newBackground()
	w.close()
	w.do(func(context.Context) { t.Error("work is done after close") })
	w.all.Wait()
}
