package span

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// scope names this library in the spans.
const scope = "github.com/keystile/keystile"

// Kind says on which side of a call a span is.
type Kind = trace.SpanKind

// Kinds of spans.
const (
	Server = trace.SpanKindServer
	Client = trace.SpanKindClient
)

// Span is one that has begun. The zero Span is none: nobody records.
type Span struct{ otel trace.Span }

// Start begins a span below the one that is recorded in a context, if one is. Its attributes are set
// afterwards, and only if it is On, so nothing is allocated where no spans are recorded.
func Start(ctx context.Context, kind Kind, name string) (context.Context, Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, Span{}
	}
	ctx, s := tracerOf(ctx, parent).Start(ctx, name, trace.WithSpanKind(kind))
	return ctx, Span{s}
}

// tracerOf returns the tracer that a request's span was begun by, which is known without asking its provider.
func tracerOf(ctx context.Context, parent trace.Span) trace.Tracer {
	if o, ok := ctx.Value(originKey{}).(*origin); ok && o.tracer != nil {
		return o.tracer
	}
	return parent.TracerProvider().Tracer(scope)
}

// Of returns the span that is recorded in a context, if one is.
func Of(ctx context.Context) Span {
	if s := trace.SpanFromContext(ctx); s.IsRecording() {
		return Span{s}
	}
	return Span{}
}

// On reports whether the span is recorded.
func (s Span) On() bool { return s.otel != nil }

// Rename gives the span a name that was not known when it began.
func (s Span) Rename(name string) {
	if s.otel != nil {
		s.otel.SetName(name)
	}
}

// Set adds a text, unless it is empty. It must be one of few, and not what a stranger has sent.
func (s Span) Set(key, value string) {
	if s.otel != nil && value != "" {
		s.otel.SetAttributes(attribute.String(key, value))
	}
}

// SetAll adds several texts, unless there are none; what Set says of one goes for each.
func (s Span) SetAll(key string, values []string) {
	if s.otel != nil && len(values) > 0 {
		s.otel.SetAttributes(attribute.StringSlice(key, values))
	}
}

// SetInt adds a number.
func (s Span) SetInt(key string, value int) {
	if s.otel != nil {
		s.otel.SetAttributes(attribute.Int(key, value))
	}
}

// Fail says what kind of failure the span ended with: a word, such as timeout, or a status. The text of an
// error is never told.
func (s Span) Fail(kind string) {
	if s.otel != nil {
		s.otel.SetStatus(codes.Error, "")
		s.otel.SetAttributes(attribute.String("error.type", kind))
	}
}

// End ends the span.
func (s Span) End() {
	if s.otel != nil {
		s.otel.End()
	}
}

// SampledID returns the id of the trace that a context belongs to, "" if that is not recorded.
func SampledID(ctx context.Context) string {
	if c := trace.SpanContextFromContext(ctx); c.IsSampled() && !c.IsRemote() {
		return c.TraceID().String()
	}
	return ""
}
