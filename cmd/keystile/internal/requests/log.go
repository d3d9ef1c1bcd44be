package requests

import (
	"context"
	"log/slog"

	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/span"
)

// Handler is a slog.Handler. Make it with Log.
type Handler struct {
	slog.Handler
	sums *sums
}

// Log returns a handler whose records carry the id of the request they were made in, and that of its trace if it
// is recorded. Of records that strangers cause it writes 60 of a kind in a minute, and then how many more there were.
// Close writes what was summed last.
func Log(h slog.Handler) *Handler { return &Handler{h, &sums{out: h, kinds: map[kind]*sum{}}} }

// Close writes how many records were not written since the last minute. Records that come after it are written.
func (h *Handler) Close() { h.sums.close() }

// Handle writes a record, or sums it.
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	if k, is := stranger(ctx, &r); is && !h.sums.takes(k) {
		return nil
	}
	if id := reqctx.ID(ctx); id != "" {
		r = r.Clone() // the caller may hand it to other handlers too
		r.AddAttrs(slog.String("request_id", id))
		if trace := span.SampledID(ctx); trace != "" {
			r.AddAttrs(slog.String("trace_id", trace))
		}
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &Handler{h.Handler.WithAttrs(attrs), h.sums}
}

// WithGroup implements slog.Handler.
func (h *Handler) WithGroup(name string) slog.Handler {
	return &Handler{h.Handler.WithGroup(name), h.sums}
}
