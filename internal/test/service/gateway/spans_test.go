package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/keystile/keystile/gateway"
)

const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// recorded is a fixture whose gateway records spans.
func recorded(t *testing.T) (*fixture, *tracetest.InMemoryExporter) {
	t.Helper()
	spans := tracetest.NewInMemoryExporter()
	return newFixture(t, func(c *gateway.Config) { c.Tracer = sdk.NewTracerProvider(sdk.WithSyncer(spans)) }), spans
}

// only1 returns the only span with a name.
func only1(t *testing.T, spans *tracetest.InMemoryExporter, name string) (found tracetest.SpanStub) {
	t.Helper()
	n := 0
	for _, s := range spans.GetSpans() {
		if s.Name == name {
			found = s
			n++
		}
	}
	if n != 1 {
		t.Fatalf("%d spans %q in %v", n, name, spans.GetSpans())
	}
	return found
}

func has(s tracetest.SpanStub, key attribute.Key, value string) bool {
	for _, a := range s.Attributes {
		if a.Key == key && a.Value.String() == value {
			return true
		}
	}
	return false
}

func TestCallIsASpanWithItsProductAndItsApplication(t *testing.T) {
	h, spans := recorded(t)
	h.call("GET", "/ai/x", h.bearer(h.app), "Traceparent", parent)
	s := only1(t, spans, "GET /ai/")
	if !has(s, "keystile.product", gateway.ProductAI) || !has(s, "keystile.client_id", h.app.ID) ||
		s.Parent.SpanID().String() != "00f067aa0ba902b7" {
		t.Errorf("recorded %+v", s)
	}
	spans.Reset()
	h.call("GET", "/ai/x", "nothing")
	if s := only1(t, spans, "GET /ai/"); !has(s, "http.response.status_code", "401") ||
		has(s, "keystile.client_id", h.app.ID) {
		t.Errorf("a refused call is recorded as %+v", s)
	}
	spans.Reset()
	if h.call("GET", "/healthz/live", ""); len(spans.GetSpans()) != 0 {
		t.Error("an exempt path is recorded")
	}
}

func TestGuardWithoutAFrontBeginsTheSpan(t *testing.T) {
	h, spans := recorded(t)
	guarded := h.gateway.Guard(gateway.ProductAI, http.HandlerFunc(service))
	guarded.ServeHTTP(httptest.NewRecorder(), h.request("GET", "/ai/x", h.bearer(h.app), nil))
	if all := spans.GetSpans(); len(all) != 1 || !has(all[0], "keystile.product", gateway.ProductAI) {
		t.Errorf("recorded %+v", all)
	}
}

func TestMalformedTraceparentIsReplacedOnItsWayToAService(t *testing.T) {
	h, spans := recorded(t)
	var got http.Header
	user := behind(t, h, func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
	h.want(h.call("GET", "/svc/a", user, "Traceparent", "00-s3cr3t", "Tracestate", "a=s3cr3t"), 200, "a call")
	client := spans.GetSpans()[0] // its parent ends later
	want := fmt.Sprintf("00-%s-%s-01", client.SpanContext.TraceID(), client.SpanContext.SpanID())
	if got.Get("Traceparent") != want || len(got["Traceparent"]) != 1 || got["Tracestate"] != nil {
		t.Errorf("the service got %q %q, want %q", got["Traceparent"], got["Tracestate"], want)
	}
	h.call("GET", "/svc/a", user, "Traceparent", parent, "Tracestate", "a=1")
	if !strings.HasPrefix(got.Get("Traceparent"), parent[:35]) || got.Get("Traceparent") == parent ||
		got.Get("Tracestate") != "a=1" {
		t.Errorf("the service got %q %q", got["Traceparent"], got["Tracestate"])
	}
}

// The gateway treats a call alike, whether or not it is traced.
func TestRecordedWebSocketWorksAsOthersDo(t *testing.T) {
	ended := make(endings, 2)
	h := newFixture(t, func(c *gateway.Config) { c.Tracer = sdk.NewTracerProvider(sdk.WithSyncer(ended)) })
	sockets := newSockets()
	user := behind(t, h, sockets.ServeHTTP)
	conn, in := connect(t, h, user)
	echo(t, conn, in, "hello")
	conn.Close()
	ending(t, sockets.ended)
	if e := only(t, h); e.Status != 101 { // it is on the trail once it is over
		t.Errorf("on the trail: %+v", e)
	}
	for _, kind := range []trace.SpanKind{trace.SpanKindClient, trace.SpanKindServer} {
		if s := <-ended; s.SpanKind() != kind || !slices.Contains(s.Attributes(),
			attribute.Int("http.response.status_code", 101)) {
			t.Errorf("recorded %v", s)
		}
	}
}

// endings is an exporter that waits until somebody looks.
type endings chan sdk.ReadOnlySpan

func (e endings) ExportSpans(_ context.Context, spans []sdk.ReadOnlySpan) error {
	for _, s := range spans {
		e <- s
	}
	return nil
}

func (e endings) Shutdown(context.Context) error { return nil }

func TestBehindAHostsOwnSpanNoOtherIsBegun(t *testing.T) {
	h, mine := recorded(t)
	hosts := tracetest.NewInMemoryExporter()
	ctx, span := sdk.NewTracerProvider(sdk.WithSyncer(hosts)).Tracer("host").Start(context.Background(), "host")
	h.handler.ServeHTTP(httptest.NewRecorder(), h.request("GET", "/ai/x", h.bearer(h.app), nil).WithContext(ctx))
	span.End()
	if all := hosts.GetSpans(); len(mine.GetSpans()) != 0 || len(all) != 1 ||
		!has(all[0], "keystile.product", gateway.ProductAI) {
		t.Errorf("recorded %v and %v", mine.GetSpans(), all)
	}
}
