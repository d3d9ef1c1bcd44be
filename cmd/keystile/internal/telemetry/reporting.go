package telemetry

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// reporting is an exporter that says once that it fails, and once that it works again.
type reporting struct {
	sdk.SpanExporter
	log    *slog.Logger
	hidden map[string]string // values that no log may have

	down         atomic.Bool
	sent, failed atomic.Uint64
}

// ExportSpans sends spans. Its error is told here: the SDK would write it to standard error, each time.
func (r *reporting) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if err := r.SpanExporter.ExportSpans(ctx, spans); err != nil {
		r.fail(err, len(spans))
		return nil
	}
	r.sent.Add(uint64(len(spans)))
	if r.down.CompareAndSwap(true, false) {
		r.log.Info("traces are sent to the collector again", "lost", r.failed.Load())
	}
	return nil
}

const most = 300 // bytes of an error that may have a collector's page in it

func (r *reporting) fail(err error, spans int) {
	r.failed.Add(uint64(spans))
	if r.down.Swap(true) {
		return
	}
	text := err.Error()
	for _, value := range r.hidden {
		if value != "" {
			text = strings.ReplaceAll(text, value, "[secret]")
		}
	}
	if len(text) > most {
		text = text[:most] + "..."
	}
	r.log.Warn("traces are not sent, and those that wait too long are dropped: see whether the collector at "+
		"otel.endpoint takes OTLP over HTTP", "err", text)
}
