package mcpbus_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/mcpbus"
)

// A host that traces has a span around the bus; its calls are below that.
func TestCallIsASpanThatSaysHowItEnded(t *testing.T) {
	failed := restcall.Result{IsError: true, Dispatched: true, Status: 200}
	for want, c := range map[string]struct {
		params string
		do     do
	}{
		"":           {getPet, nil},
		"tool_error": {getPet, always(mcpbus.FromREST(failed))},
		"503":        {getPet, always(mcpbus.FromREST(restcall.Result{IsError: true, Dispatched: true, Status: 503}))},
		"502": {getPet, always(mcpbus.FromREST(restcall.Result{IsError: true, Dispatched: true,
			Cause: errors.New("s3cr3t")}))},
		"400": {getPet, always(mcpbus.FromREST(restcall.Result{IsError: true}))},
	} {
		h := newFixture(t)
		spans := tracetest.NewInMemoryExporter()
		ctx, host := sdk.NewTracerProvider(sdk.WithSyncer(spans)).Tracer("host").Start(t.Context(), "host")
		var within trace.SpanContext
		h.calls.do = func(ctx context.Context, tool string, arguments json.RawMessage) (mcpbus.Result, error) {
			within = trace.SpanContextFromContext(ctx)
			if c.do == nil {
				return answered(200, `{}`), nil
			}
			return c.do(ctx, tool, arguments)
		}
		r := httptest.NewRequest("POST", busURI, strings.NewReader(legacyBody("tools/call", c.params))).WithContext(ctx)
		r.Header.Set("Authorization", "Bearer user")
		h.bus.ServeHTTP(httptest.NewRecorder(), r)
		all := spans.GetSpans()
		if len(all) != 1 || all[0].Name != "tools/call pets__getPet" || all[0].SpanKind != trace.SpanKindServer ||
			all[0].Parent.SpanID() != host.SpanContext().SpanID() {
			t.Fatalf("%q: recorded %+v", want, all)
		}
		got := map[string]string{}
		for _, a := range all[0].Attributes {
			got[string(a.Key)] = a.Value.String()
		}
		if got["error.type"] != want || (all[0].Status.Code == codes.Error) != (want != "") ||
			within.SpanID() != all[0].SpanContext.SpanID() {
			t.Errorf("%q: recorded %v, status %v, and called within %v", want, got, all[0].Status, within.SpanID())
		}
		if got["gen_ai.tool.name"] != "pets__getPet" || got["gen_ai.operation.name"] != "execute_tool" ||
			got["mcp.method.name"] != "tools/call" || got["keystile.client_id"] != "app1" {
			t.Errorf("attributes %v", got)
		}
		if strings.Contains(strings.Join(slices.Collect(maps.Values(got)), " "), "u1") {
			t.Errorf("the user is in the span: %v", got)
		}
	}
}
