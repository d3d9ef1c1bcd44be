package telemetry

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// open makes a Telemetry that sends to a handler, and returns what it logs.
func open(t *testing.T, c Config, h http.HandlerFunc) (*Telemetry, *bytes.Buffer) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	var log bytes.Buffer
	c.Endpoint, c.Sample, c.Log = server.URL, 1, slog.New(slog.NewTextHandler(&log, nil))
	all, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return all, &log
}

// record records one span and sends it.
func record(t *testing.T, all *Telemetry) {
	t.Helper()
	_, s := all.Provider().Tracer("test").Start(t.Context(), "span")
	s.End()
	if err := all.provider.ForceFlush(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOutageIsLoggedOnceAndSoIsItsEnd(t *testing.T) {
	var status atomic.Int32
	status.Store(500)
	all, log := open(t, Config{}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(status.Load())) })
	for range 3 {
		record(t, all)
	}
	if n := strings.Count(log.String(), "level=WARN"); n != 1 || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("three failures are logged as %s", log)
	}
	status.Store(200)
	record(t, all)
	record(t, all)
	if n := strings.Count(log.String(), "again"); n != 1 || !strings.Contains(log.String(), "lost=3") {
		t.Errorf("that it works again is logged as %s", log)
	}
	if sent, failed := all.Counts(); sent != 2 || failed != 3 {
		t.Errorf("%d spans were sent, and %d were not", sent, failed)
	}
	all.Close()
}

func TestKeyIsSentToTheCollectorAloneAndIsNotLogged(t *testing.T) {
	const key = "s3cr3t-key"
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect was followed, with %v", r.Header)
	}))
	defer elsewhere.Close()
	got := ""
	all, log := open(t, Config{Headers: map[string]string{"X-Key": key}}, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("X-Key")
		w.Header().Set("Location", elsewhere.URL)
		w.WriteHeader(http.StatusTemporaryRedirect)
		w.Write([]byte("who are you, " + got + "? " + strings.Repeat("x", 10_000)))
	})
	record(t, all)
	all.Close()
	if got != key || strings.Contains(log.String(), key) || !strings.Contains(log.String(), "307") || log.Len() > 1_000 {
		t.Errorf("sent %q, logged %.2000s", got, log)
	}
}

func TestLastSpansAreSentAtTheEnd(t *testing.T) {
	var asked atomic.Int32
	all, log := open(t, Config{}, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	_, s := all.Provider().Tracer("test").Start(t.Context(), "span")
	s.End()
	all.Close()
	if asked.Load() != 1 || log.Len() > 0 {
		t.Errorf("asked %d times: %s", asked.Load(), log)
	}
}

func TestSamplingIgnoresWhatClientsChoose(t *testing.T) {
	elsewhere := func(flags trace.TraceFlags) context.Context {
		c := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1},
			TraceFlags: flags, Remote: true})
		return trace.ContextWithSpanContext(t.Context(), c)
	}
	here := func(flags trace.TraceFlags) context.Context {
		c := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1},
			TraceFlags: flags})
		return trace.ContextWithSpanContext(t.Context(), c)
	}
	trusted := func(ctx context.Context) context.Context { return context.WithValue(ctx, followed{}, true) }
	for name, c := range map[string]struct {
		ctx   context.Context
		drawn bool // the coin decides
		flag  bool // else this
	}{
		"no parent":                {t.Context(), true, false},
		"no parent, trusted":       {trusted(t.Context()), true, false},
		"a stranger, sampled":      {elsewhere(trace.FlagsSampled), true, false},
		"a stranger, not sampled":  {elsewhere(0), true, false},
		"a proxy, sampled":         {trusted(elsewhere(trace.FlagsSampled)), false, true},
		"a proxy, not sampled":     {trusted(elsewhere(0)), false, false},
		"this process, sampled":    {here(trace.FlagsSampled), false, true},
		"this process, not sample": {here(0), false, false},
	} {
		for _, drawn := range []float64{0, 0.09, 0.1, 0.99} {
			s := newSampler(0.1)
			s.draw = func() float64 { return drawn }
			want := c.flag
			if c.drawn {
				want = drawn < 0.1
			}
			if got := s.ShouldSample(sdk.SamplingParameters{ParentContext: c.ctx,
				TraceID: trace.TraceID{1}}).Decision == sdk.RecordAndSample; got != want {
				t.Errorf("%s, drawn %v: sampled %t", name, drawn, got)
			}
		}
	}
}

func TestTelemetryIsOffWithoutAConfiguration(t *testing.T) {
	var none *Telemetry
	h := http.NewServeMux()
	if none.Provider() != nil || none.Front(h) != http.Handler(h) {
		t.Error("there is something")
	}
	none.Close()
}
