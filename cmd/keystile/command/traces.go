package command

import (
	"context"
	"log/slog"

	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/metrics"
	"github.com/keystile/keystile/cmd/keystile/internal/telemetry"
)

// openTraces makes what sends traces; nil: the configuration names no collector.
func openTraces(ctx context.Context, c *config.Config, others *membership, log *slog.Logger) (*telemetry.Telemetry,
	error) {
	if c.OTel.Endpoint == "" {
		return nil, nil
	}
	headers := map[string]string{}
	for name, value := range c.OTel.Headers {
		headers[name] = value.Reveal()
	}
	return telemetry.Open(ctx, telemetry.Config{
		Endpoint: c.OTel.Endpoint, Headers: headers, Sample: c.OTel.Sample, Follow: c.OTel.Follow,
		TrustedProxies: c.TrustedProxies,
		Service:        c.OTel.Service, Version: versionOf(), Node: others.node.ID(), Log: log,
	})
}

// watchTraces adds what becomes of the traces to the metrics.
func watchTraces(m *metrics.Metrics, t *telemetry.Telemetry) {
	if t == nil {
		return
	}
	m.Counter("keystile_trace_spans_sent_total", "Spans that the collector has taken.",
		func() float64 { sent, _ := t.Counts(); return float64(sent) })
	m.Counter("keystile_trace_spans_failed_total", "Spans that could not be sent to the collector.",
		func() float64 { _, failed := t.Counts(); return float64(failed) })
}
