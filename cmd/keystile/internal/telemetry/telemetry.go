package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/keystile/keystile/internal/clientip"
	"github.com/keystile/keystile/internal/reqctx"
)

// Config says where spans go, and which.
type Config struct {
	Endpoint string            // of the collector, such as http://127.0.0.1:4318; /v1/traces is put behind it
	Headers  map[string]string // of each request to it, such as a key
	Sample   float64           // the share of requests that are recorded: 0 to 1

	// Follow lets the sampled flag of requests that come from TrustedProxies decide in place of Sample.
	Follow         bool
	TrustedProxies []netip.Prefix

	Service, Version, Node string // who sends
	Log                    *slog.Logger
}

const (
	queued    = 2048 // spans that wait
	batch     = 512  // spans of one request
	every     = 5 * time.Second
	within    = 5 * time.Second  // one request to the collector
	tryingFor = 20 * time.Second // one batch
	flushing  = 2 * time.Second  // at the end
)

// Telemetry records spans. Nil records none.
type Telemetry struct {
	provider *sdk.TracerProvider
	sent     *reporting
	trusts   func(*http.Request) bool // nil: nobody is followed
}

// Open makes a Telemetry. It connects to nobody.
func Open(ctx context.Context, c Config) (*Telemetry, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	exporter, err := otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(strings.TrimSuffix(c.Endpoint, "/")+"/v1/traces"),
		otlptracehttp.WithHeaders(c.Headers),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true, InitialInterval: time.Second,
			MaxInterval: 5 * time.Second, MaxElapsedTime: tryingFor}),
		otlptracehttp.WithHTTPClient(&http.Client{
			Transport: transport, Timeout: within,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}))
	if err != nil {
		return nil, fmt.Errorf("otel.endpoint: %w", err)
	}
	is, err := resource.New(ctx, resource.WithFromEnv(), resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", c.Service), attribute.String("service.version", c.Version),
		attribute.String("service.instance.id", c.Node)))
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	t := &Telemetry{sent: &reporting{SpanExporter: exporter, log: c.Log, hidden: c.Headers}}
	t.provider = sdk.NewTracerProvider(
		sdk.WithResource(is), sdk.WithSampler(newSampler(c.Sample)),
		sdk.WithBatcher(t.sent, sdk.WithMaxQueueSize(queued), sdk.WithMaxExportBatchSize(batch), sdk.WithBatchTimeout(every),
			sdk.WithExportTimeout(tryingFor+within)),
	)
	if c.Follow {
		t.trusts = clientip.New(c.TrustedProxies).Trusts
	}
	return t, nil
}

// Provider returns what records the spans; nil: nothing does.
func (t *Telemetry) Provider() trace.TracerProvider {
	if t == nil {
		return nil
	}
	return t.provider
}

// Front marks the requests whose sampled flag is believed. It stands before what begins their spans, and hands
// on the very request that it is handed.
func (t *Telemetry) Front(next http.Handler) http.Handler {
	if t == nil || t.trusts == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if t.trusts(r) {
			var v *reqctx.Visit
			r, v = reqctx.Begin(w, r)
			v.Context = context.WithValue(v.Context, followed{}, true)
		}
		next.ServeHTTP(w, r)
	})
}

// followed is the key of the mark.
type followed struct{}

// Counts returns how many spans the collector has taken, and how many could not be sent.
func (t *Telemetry) Counts() (sent, failed uint64) { return t.sent.sent.Load(), t.sent.failed.Load() }

// Close sends what is left, as far as there is time, and ends recording.
func (t *Telemetry) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushing)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.sent.fail(fmt.Errorf("the last ones: %w", err), 0)
		t.sent.SpanExporter.Shutdown(ctx) // the SDK leaves a batch that is being sent
	}
}
