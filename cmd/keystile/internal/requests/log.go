package requests

import (
	"context"
	"log/slog"

	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/span"
)

// Log returns a handler whose records carry the id of the request they were made in, and that of its trace if it
// is recorded.
func Log(h slog.Handler) slog.Handler { return handler{h} }

type handler struct{ slog.Handler }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if id := reqctx.ID(ctx); id != "" {
		r = r.Clone() // the caller may hand it to other handlers too
		r.AddAttrs(slog.String("request_id", id))
		if trace := span.SampledID(ctx); trace != "" {
			r.AddAttrs(slog.String("trace_id", trace))
		}
	}
	return h.Handler.Handle(ctx, r)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }
