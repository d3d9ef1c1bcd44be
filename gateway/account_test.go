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
