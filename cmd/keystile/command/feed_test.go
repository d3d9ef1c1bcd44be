package command

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
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
	"github.com/keystile/keystile/internal/apidoc"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// cutOff is a store that others write to, whose documents of a change cannot be read now and then.
type cutOff struct {
	driver.Backend
	cut atomic.Bool
}

func (c *cutOff) Listen(context.Context, func()) error { return nil }

func (c *cutOff) List(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
	if kind == driver.KindEpoch && c.cut.Load() {
		return nil, "", errors.New("the line is cut")
	}
	return c.Backend.List(ctx, kind, span, n)
}

func TestServerWhoseFeedIsStaleIsNotReadyAndShowsItInItsMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := config.Load(cli.Args{}, []string{"KEYSTILE_DATA=" + t.TempDir(), "KEYSTILE_STORAGE_STALE_AFTER=4s"})
		fatal(t, err)
		f, err := folder.Open(c.Data)
		fatal(t, err)
		backend := &cutOff{Backend: memory.New()}
		data, err := program{storage: Storage{Name: "shared", Open: func(context.Context,
			string) (driver.Backend, error) {
			return backend, nil
		}}}.openStore(t.Context(), c, f)
		fatal(t, err)
		m := metrics.New("v1", func() float64 { return 0 })
		operators := operatorsMux(m, data, slog.New(slog.DiscardHandler))
		service, err := assemble(t.Context(), c, apidoc.Example, data, new(membership), nil, slog.New(slog.DiscardHandler),
			nil)
		fatal(t, err)
		defer func() { fatal(t, errors.Join(service.Close(context.Background()), data.Close())) }()
		m.WatchFeed(service.Tokens.Feed)
		get := func(h http.Handler, path string) (int, string) {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", apidoc.Example+path, nil))
			if w.Code == 503 && w.Header().Get("Retry-After") == "" {
				t.Errorf("%s: no Retry-After", path)
			}
			return w.Code, w.Body.String()
		}
		check := func(when string, status int, lines ...string) {
			t.Helper()
			for _, h := range []http.Handler{operators, service} {
				if code, text := get(h, "/healthz/ready"); code != status || status == 503 &&
					!strings.Contains(text, "the feed is stale") {
					t.Errorf("%s, ready = %d %s, want %d", when, code, text, status)
				}
			}
			_, text := get(operators, "/metrics")
			for _, line := range lines {
				if !strings.Contains(text, "\n"+line+"\n") {
					t.Errorf("%s, the metrics have no line %q", when, line)
				}
			}
		}
		time.Sleep(1500 * time.Millisecond)
		check("in order", 200, "keystile_feed_age_seconds 0.5", "keystile_feed_stale 0", "keystile_feed_regressions_total 0")
		backend.cut.Store(true)
		time.Sleep(3 * time.Second)
		check("cut for 3 s", 200, "keystile_feed_age_seconds 3.5", "keystile_feed_stale 0")
		time.Sleep(3 * time.Second)
		check("cut for 6 s", 503, "keystile_feed_age_seconds 6.5", "keystile_feed_stale 1")
		backend.cut.Store(false)
		time.Sleep(time.Second)
		check("mended", 200, "keystile_feed_age_seconds 0.5", "keystile_feed_stale 0", "keystile_feed_regressions_total 0")
	})
}
