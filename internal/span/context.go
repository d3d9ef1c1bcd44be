package span

import (
	"context"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// The headers of W3C Trace Context, as net/http writes their names.
const (
	headerParent = "Traceparent"
	headerState  = "Tracestate"
)

// origin holds what a context remembers of where its trace came from.
type origin struct {
	tracer trace.Tracer // nil: nothing is begun here
	state  string       // tracestate, as it came
}

type originKey struct{}

// Arrive returns the context of what is done because of a request that may not have come through a [Tracer]: what is
// sent in it carries the trace of the request on.
func Arrive(ctx context.Context, h http.Header) context.Context {
	if len(h[headerParent]) == 0 || trace.SpanContextFromContext(ctx).IsValid() {
		return ctx
	}
	parent, state := read(h)
	if !parent.IsValid() {
		return ctx
	}
	return trace.ContextWithRemoteSpanContext(context.WithValue(ctx, originKey{}, &origin{state: state}), parent)
}

// read returns what a request says of its trace. Its tracestate is left out of the SpanContext.
func read(h http.Header) (parent trace.SpanContext, state string) {
	if len(h[headerParent]) != 1 {
		return parent, ""
	}
	given := propagation.HeaderCarrier{headerParent: h[headerParent]}
	parent = trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), given))
	if !parent.IsValid() {
		return parent, ""
	}
	if lines := h[headerState]; len(lines) > 0 {
		if parsed, err := trace.ParseTraceState(strings.Join(lines, ",")); err == nil {
			state = parsed.String()
		}
	}
	return parent, state
}

// write says in a header which trace a context belongs to, in place of what is said there.
func write(ctx context.Context, h http.Header) {
	delete(h, headerParent)
	delete(h, headerState)
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(h))
	if o, ok := ctx.Value(originKey{}).(*origin); ok && o.state != "" && h[headerState] == nil {
		h[headerState] = []string{o.state}
	}
}
