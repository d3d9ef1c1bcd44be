package command

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/cmd/keystile/internal/metrics"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// fullDisk is a store that takes no writes once it is full.
type fullDisk struct {
	driver.Backend
	full atomic.Bool
}

func (f *fullDisk) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	if f.full.Load() {
		return 0, errors.New("no space left on device")
	}
	return f.Backend.Put(ctx, docs...)
}

// vitals opens a store and returns it with what reads its metrics.
func vitals(t *testing.T, backend driver.Backend) (*dataStore, func(lines ...string)) {
	t.Helper()
	c, err := config.Load(cli.Args{}, []string{"KEYSTILE_DATA=" + t.TempDir()})
	fatal(t, err)
	f, err := folder.Open(c.Data)
	fatal(t, err)
	data, err := program{storage: Storage{Name: "mine", Open: func(context.Context,
		string) (driver.Backend, error) {
		return backend, nil
	}}}.openStore(t.Context(), c, f)
	fatal(t, err)
	t.Cleanup(func() { fatal(t, data.Close()) })
	m := metrics.New("v1", func() float64 { return 0 })
	data.watch(m)
	return data, func(lines ...string) {
		t.Helper()
		w := httptest.NewRecorder()
		m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
		for _, line := range lines {
			if !strings.Contains(w.Body.String(), "\n"+line+"\n") {
				t.Errorf("the metrics have no line %q: %s", line, w.Body)
			}
		}
	}
}

func TestDiskThatTakesNoWritesIsInTheMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := &fullDisk{Backend: memory.New()}
		data, want := vitals(t, backend)
		want("keystile_ready 1", "keystile_store_ready 1", "keystile_clock_wrong 0", "keystile_clock_offset_seconds 0")
		data.leaving.Store(true)
		want("keystile_ready 0", "keystile_store_ready 1")
		data.leaving.Store(false)
		backend.full.Store(true)
		time.Sleep(6 * time.Second) // until the last write proves nothing any more
		want("keystile_ready 0", "keystile_store_ready 0")
		backend.full.Store(false)
		time.Sleep(6 * time.Second)
		want("keystile_ready 1", "keystile_store_ready 1")
	})
}

func TestMailsAndWebhooksThatNobodyTakesAreInTheMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		data, want := vitals(t, memory.New())
		want("keystile_mails_waiting 0", "keystile_mails_retried 0", "keystile_webhooks_waiting 0",
			"keystile_webhooks_retried 0")
		ctx, now := t.Context(), time.Now().UTC()
		for attempts := range 3 {
			m, err := data.store.AddMail(ctx, storage.Mail{Kind: "letter", Content: storage.NewSecret("x"),
				ExpiresAt: now.Add(time.Hour)})
			fatal(t, err)
			m.Attempts, m.NextAt = attempts, now.Add(20*time.Minute)
			_, err = data.store.SaveMail(ctx, m)
			fatal(t, err)
		}
		hook := storage.Delivery{Event: "changed", URL: "https://shop.example/hook", Secret: storage.NewSecret("x"), Payload: []byte(`{}`)}
		_, err := data.store.SaveCapability(ctx, storage.Capability{Member: "shop"}, nil, hook)
		fatal(t, err)
		_, err = data.store.SetUserWebhook(ctx, "https://office.example/hook", true)
		fatal(t, err)
		_, err = data.users.Create(ctx, storage.User{Username: "ada"}, "correct horse battery")
		fatal(t, err)
		for _, due := range []func(context.Context, time.Time, int) ([]storage.Delivery, error){data.store.DueDeliveries,
			data.store.DueTold} {
			all, err := due(ctx, time.Now(), 10)
			fatal(t, err)
			for _, d := range all {
				d.Attempts, d.NextAt = 4, now.Add(6*time.Hour)
				_, err := data.store.SaveDelivery(ctx, d)
				fatal(t, err)
			}
		}
		want("keystile_mails_waiting 0") // what was read just now is not read again
		time.Sleep(6 * time.Second)
		want("keystile_mails_waiting 3", "keystile_mails_retried 1", "keystile_webhooks_waiting 2",
			"keystile_webhooks_retried 2")
	})
}

func TestQueueThatCannotBeReadHasNoLength(t *testing.T) {
	q := &queue{count: func(context.Context, time.Time) (waiting, error) { return waiting{3, 2}, errors.New("away") }}
	if w := q.read(); w.waiting == w.waiting || w.retried == w.retried {
		t.Errorf("%v wait", w)
	}
}

func TestDiskOfTheDataFolderIsInTheMetrics(t *testing.T) {
	if free, size := disk(t.TempDir()); !(free > 0 && size >= free) {
		t.Errorf("%v bytes of %v are free", free, size)
	}
	if free, size := disk("/nowhere/at/all"); free == free || size == size {
		t.Errorf("nowhere, %v bytes of %v are free", free, size)
	}
}
