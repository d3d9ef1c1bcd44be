package oteltrace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/oteltrace"
	"github.com/keystile/keystile/storage/storagetest"
)

func TestContract(t *testing.T) {
	storagetest.Run(t, func(*testing.T) driver.Backend { return oteltrace.New(memory.New()) })
}

// within returns a context in a recorded span, and what has been recorded below it.
func within(t *testing.T) (context.Context, func() tracetest.SpanStubs) {
	t.Helper()
	spans := tracetest.NewInMemoryExporter()
	p := sdk.NewTracerProvider(sdk.WithSyncer(spans))
	ctx, parent := p.Tracer("test").Start(t.Context(), "parent")
	return ctx, func() tracetest.SpanStubs {
		all := spans.GetSpans()
		for _, s := range all {
			if s.Parent.SpanID() != parent.SpanContext().SpanID() || s.SpanKind != trace.SpanKindClient {
				t.Errorf("%s is below %s, of kind %v", s.Name, s.Parent.SpanID(), s.SpanKind)
			}
		}
		return all
	}
}

func TestStepIsASpanBelowItsCallers(t *testing.T) {
	ctx, recorded := within(t)
	inner := memory.New()
	b := oteltrace.New(inner)
	at := time.Now()
	b.Issue(ctx, driver.Token{Key: driver.Key{1}})
	b.Token(ctx, driver.Key{1})
	b.Exchange(ctx, driver.Key{1}, at)
	b.Revoke(ctx)
	b.Revocations(ctx, 0, 1)
	b.Count(ctx, driver.Batch{Node: "n", Seq: 1}, nil)
	b.Usage(ctx, driver.UsageQuery{})
	b.Append(ctx)
	b.Records(ctx, 0, 1)
	b.Appended(ctx)
	b.Prune(ctx, 1, 1)
	b.Put(ctx, driver.Doc{Kind: "app", ID: "a"})
	b.Get(ctx, "app", "a")
	b.List(ctx, "app", driver.Span{}, 1)
	b.Sweep(ctx, at, 1)
	want := []string{"Issue", "Token", "Exchange", "Revoke", "Revocations", "Count", "Usage", "Append", "Records",
		"Appended", "Prune", "Put app", "Get app", "List app", "Sweep"}
	if g, ok := driver.As[driver.Gatherer](b); ok {
		g.Gather(ctx)
		want = append(want, "Gather")
	}
	if p, ok := driver.As[driver.Picker](b); ok {
		p.Pick(ctx)
		want = append(want, "Pick")
	}
	if m, ok := driver.As[driver.Meters](b); ok {
		m.UsageOf(ctx, nil, driver.UsageQuery{})
		want = append(want, "UsageOf")
	}
	var names []string
	for _, s := range recorded() {
		names = append(names, s.Name)
		if got := fmt.Sprint(s.Attributes[0].Key, s.Attributes[0].Value.AsString()); got != "db.system.namememory" {
			t.Errorf("%s: its system is %s", s.Name, got)
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("recorded %q, want %q", names, want)
	}
	if is[driver.Gatherer](b) != is[driver.Gatherer](inner) || is[driver.Picker](b) != is[driver.Picker](inner) ||
		is[driver.Meters](b) != is[driver.Meters](inner) {
		t.Error("the Backend can do more, or less, than the one it wraps")
	}
}

func is[T any](b driver.Backend) bool {
	_, ok := driver.As[T](b)
	return ok
}

func TestSpansHoldNothingOfARecord(t *testing.T) {
	ctx, recorded := within(t)
	b := oteltrace.New(memory.New())
	const secret = "s3cr3t@example.com"
	b.Put(ctx, driver.Doc{Kind: "user", ID: secret, Data: []byte(secret), Index: []string{secret}})
	b.Get(ctx, "user", secret)
	b.List(ctx, "user", driver.Span{From: secret}, 1)
	b.Usage(ctx, driver.UsageQuery{AppID: secret})
	b.Revoke(ctx, driver.Revocation{Kind: driver.RevokeUser, ID: secret})
	if all := recorded(); len(all) != 5 || bytes.Contains(fmt.Append(nil, all), []byte("s3cr3t")) {
		t.Errorf("%d spans: %v", len(all), all)
	}
}

// failing is a Backend that does not answer.
type failing struct {
	driver.Backend
	err error
}

func (f failing) Get(context.Context, string, string) (driver.Doc, error) { return driver.Doc{}, f.err }

func TestFailureIsToldByItsKindAndAVerdictIsNone(t *testing.T) {
	for err, want := range map[error]string{
		fmt.Errorf("app s3cr3t: %w", driver.ErrNotFound): "", driver.ErrConflict: "",
		fmt.Errorf("to s3cr3t: %w", context.Canceled): "canceled", context.DeadlineExceeded: "timeout",
		errors.New("postgres://u:s3cr3t@host is away"): "_OTHER",
	} {
		ctx, recorded := within(t)
		if _, got := oteltrace.New(failing{memory.New(), err}).Get(ctx, "app", "a"); got != err {
			t.Errorf("answered %v, want %v", got, err)
		}
		all, kind := recorded(), ""
		for _, a := range all[0].Attributes {
			if a.Key == "error.type" {
				kind = a.Value.AsString()
			}
		}
		if failed := all[0].Status.Code.String() == "Error"; kind != want || failed != (want != "") ||
			bytes.Contains(fmt.Append(nil, all), []byte("s3cr3t")) {
			t.Errorf("%v: recorded as %q, failed %t: %v", err, kind, failed, all)
		}
	}
}

// nested is a Backend that says within which span it is asked.
type nested struct {
	driver.Backend
	within *trace.SpanContext
}

func (n nested) Get(ctx context.Context, _, _ string) (driver.Doc, error) {
	*n.within = trace.SpanContextFromContext(ctx)
	return driver.Doc{}, nil
}

func TestAdapterIsAskedWithinTheStep(t *testing.T) {
	ctx, recorded := within(t)
	var inner trace.SpanContext
	oteltrace.New(nested{memory.New(), &inner}).Get(ctx, "app", "a")
	if all := recorded(); len(all) != 1 || all[0].SpanContext.SpanID() != inner.SpanID() {
		t.Errorf("asked within %v, recorded %v", inner.SpanID(), all)
	}
}

func TestStepThatNobodyRecordsAllocatesNothing(t *testing.T) {
	inner := failing{memory.New(), driver.ErrNotFound}
	b := oteltrace.New(inner)
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() { b.Get(ctx, "app", "a") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
