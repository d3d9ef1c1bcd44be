package oteltrace

import (
	"context"
	"errors"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/keystile/keystile/storage/driver"
)

// New returns a Backend that records the steps of b. The optional powers of b are found behind it, as
// behind any Backend with Unwrap; gathering, picking and reading usage are steps too.
func New(b driver.Backend) driver.Backend {
	s := steps{attribute.String("db.system.name", systemOf(b))}
	var whole driver.Backend = backend{b, s}
	if p, ok := driver.As[driver.Picker](b); ok {
		whole = picker{whole, p, s}
	}
	if m, ok := driver.As[driver.Meters](b); ok {
		whole = meters{whole, m, s}
	}
	if g, ok := driver.As[driver.Gatherer](b); ok {
		whole = gatherer{whole, g, s}
	}
	return whole
}

// systemOf returns what a database is called in spans, such as postgresql for PostgreSQL.
func systemOf(b driver.Backend) string {
	if d, ok := driver.As[driver.Described](b); ok {
		kind, _, _ := d.Describe()
		return strings.ToLower(kind)
	}
	return "other"
}

// steps begins the spans.
type steps struct{ system attribute.KeyValue }

// scope names this library in the spans.
const scope = "github.com/keystile/keystile"

// step is one that has begun. The zero step is recorded by nobody.
type step struct{ span trace.Span }

// begin begins a step, of documents of a kind if it is of documents.
func (s steps) begin(ctx context.Context, operation, kind string) (context.Context, step) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, step{}
	}
	name, attributes := operation, []attribute.KeyValue{s.system, attribute.String("db.operation.name", operation)}
	if kind != "" {
		name += " " + kind
		attributes = append(attributes, attribute.String("db.collection.name", kind))
	}
	ctx, span := parent.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attributes...))
	return ctx, step{span}
}

// verdicts are answers, and no failures.
var verdicts = []error{driver.ErrNotFound, driver.ErrExists, driver.ErrConflict, driver.ErrSpent, driver.ErrRevoked,
	driver.ErrInvalid}

// end ends a step. Of an error it tells the kind, never the text.
func (s step) end(err error) {
	if s.span == nil {
		return
	}
	defer s.span.End()
	if err == nil {
		return
	}
	for _, v := range verdicts {
		if errors.Is(err, v) {
			return
		}
	}
	kind := "_OTHER"
	switch {
	case errors.Is(err, context.Canceled):
		kind = "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		kind = "timeout"
	}
	s.span.SetStatus(codes.Error, "")
	s.span.SetAttributes(attribute.String("error.type", kind))
}
