package span_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/span"
	"github.com/keystile/keystile/storage"
)

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	parent  = "00-" + traceID + "-00f067aa0ba902b7-01"
)

// desk serves requests within spans.
type desk struct {
	tracer *span.Tracer
	spans  *tracetest.InMemoryExporter
}

func newDesk(o ...sdk.TracerProviderOption) desk {
	spans := tracetest.NewInMemoryExporter()
	return desk{span.New(sdk.NewTracerProvider(append(o, sdk.WithSyncer(spans))...)), spans}
}

func (d desk) serve(r *http.Request, h http.HandlerFunc) tracetest.SpanStubs {
	d.spans.Reset()
	d.tracer.Handler(nil, h).ServeHTTP(httptest.NewRecorder(), r)
	return d.spans.GetSpans()
}

func request(method, target string, header ...string) *http.Request {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return r
}

func attributes(s tracetest.SpanStub) map[string]string {
	all := map[string]string{}
	for _, a := range s.Attributes {
		all[string(a.Key)] = a.Value.String()
	}
	return all
}

func TestRequestIsASpanNamedByItsRoute(t *testing.T) {
	for _, c := range []struct {
		method, pattern string
		status          int
		name, failed    string
		want            map[string]string
	}{
		{"GET", "/oauth/token", 200, "GET /oauth/token", "Unset", map[string]string{"http.request.method": "GET",
			"http.route": "/oauth/token", "http.response.status_code": "200"}},
		{"POST", "POST /a/{id}", 404, "POST /a/{id}", "Unset", map[string]string{"http.route": "/a/{id}",
			"http.response.status_code": "404"}},
		{"GET", "/", 404, "GET", "Unset", map[string]string{"http.route": ""}},
		{"GET", "/{$}", 503, "GET /", "Error", map[string]string{"http.route": "/", "error.type": "503"}},
		{"S3CR3T", "", 405, "HTTP", "Unset", map[string]string{"http.request.method": "_OTHER"}},
	} {
		all := newDesk().serve(request(c.method, "/s3cr3t?code=s3cr3t", "X-Request-Id", "s3cr3t"),
			func(w http.ResponseWriter, r *http.Request) {
				r.Pattern = c.pattern
				v := reqctx.From(r.Context())
				v.Known, v.Caller = true, storage.Caller{AppID: "app-1", UserID: "s3cr3t"}
				w.WriteHeader(c.status)
			})
		if len(all) != 1 || all[0].Name != c.name || all[0].SpanKind != trace.SpanKindServer ||
			all[0].Status.Code.String() != c.failed {
			t.Fatalf("%s %s: %+v", c.method, c.pattern, all)
		}
		c.want["keystile.client_id"] = "app-1"
		for key, want := range c.want {
			if got := attributes(all[0])[key]; got != want {
				t.Errorf("%s %s: %s is %q, want %q", c.method, c.pattern, key, got, want)
			}
		}
		if strings.Contains(strings.ToLower(fmt.Sprintf("%+v", all)), "s3cr3t") {
			t.Errorf("%s %s: what was sent is in the span: %+v", c.method, c.pattern, all)
		}
	}
}

func TestSpanSaysWhichAgentsActAndNoPerson(t *testing.T) {
	first, second, page := handle.NewAppID(), handle.NewClientID(), "https://agent.example/client.json"
	for _, c := range []struct {
		actors []string
		want   any
	}{
		{nil, nil},
		{[]string{"app-1"}, []string{"app-1"}},
		{[]string{page, first, second, "uvzrt4n6c2rkqxnlm5yjd7ufd5e", "ks", first + "a", "ks" + strings.Repeat("!", 20)},
			[]string{page, first, second, "other", "other", "other", "other"}},
	} {
		all := newDesk().serve(request("GET", "/"), func(_ http.ResponseWriter, r *http.Request) {
			v := reqctx.From(r.Context())
			v.Known, v.Caller = true, storage.Caller{AppID: "app-1", UserID: "s3cr3t", Actors: c.actors}
		})
		var got any
		for _, a := range all[0].Attributes {
			if a.Key == span.Act {
				got = a.Value.AsStringSlice()
			}
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q act, the span says %q, want %q", c.actors, got, c.want)
		}
	}
}

func TestAnswerThatIsBrokenOffHasASpanToo(t *testing.T) {
	d := newDesk()
	func() {
		defer func() { recover() }()
		d.serve(request("GET", "/"), func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	}()
	if all := d.spans.GetSpans(); len(all) != 1 || attributes(all[0])["error.type"] != "aborted" {
		t.Errorf("recorded %+v", all)
	}
	if all := d.serve(request("GET", "/"), func(http.ResponseWriter,
		*http.Request) {
	}); attributes(all[0])["http.response.status_code"] != "200" {
		t.Errorf("an empty answer is recorded as %+v", all)
	}
}

func TestRequestIsWithinOneSpanHoweverManyHandlersBeginOne(t *testing.T) {
	d := newDesk()
	inner := d.tracer.Handler(nil, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	if all := d.serve(request("GET", "/"), inner.ServeHTTP); len(all) != 1 {
		t.Errorf("%d spans", len(all))
	}
	skipping := d.tracer.Handler(func(*http.Request) bool { return true },
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	d.spans.Reset()
	if skipping.ServeHTTP(httptest.NewRecorder(), request("GET", "/")); len(d.spans.GetSpans()) != 0 {
		t.Error("a request that is skipped has a span")
	}
}

func TestTraceparentIsTheParentUnlessItIsMalformed(t *testing.T) {
	for given, taken := range map[string]bool{
		parent: true, strings.TrimSuffix(parent, "1") + "0": true,
		"": false, "00": false, strings.ToUpper(parent): false, "ff" + parent[2:]: false, parent + "-x": false,
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01": false, "00-" + traceID + "-0000000000000000-01": false,
		"00-" + traceID + "-00f067aa0ba902bz-01": false, strings.Repeat("0", 10_000): false,
	} {
		all := newDesk(sdk.WithSampler(sdk.AlwaysSample())).serve(request("GET", "/", "Traceparent", given),
			func(http.ResponseWriter, *http.Request) {})
		if len(all) != 1 || taken != (all[0].SpanContext.TraceID().String() == traceID) ||
			taken != all[0].Parent.IsRemote() || taken != all[0].Parent.IsValid() {
			t.Errorf("traceparent %.80q: %+v", given, all)
		}
	}
	all := newDesk().serve(request("GET", "/", "Traceparent", parent, "Traceparent", parent),
		func(http.ResponseWriter, *http.Request) {})
	if all[0].Parent.IsValid() {
		t.Error("of two parents one was taken")
	}
}

// wire is a transport that shows what it sends.
type wire struct {
	sent   http.Header
	status int
	err    error
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.sent = r.Header
	if w.err != nil {
		return nil, w.err
	}
	return &http.Response{StatusCode: w.status, Body: io.NopCloser(strings.NewReader("s3cr3t")), Header: http.Header{}},
		nil
}

// ask sends a request to a service within a context, and reads the answer.
func ask(ctx context.Context, w *wire) (*http.Request, error) {
	r, _ := http.NewRequestWithContext(ctx, "POST", "http://u:s3cr3t@tools.example.com:8443/s3cr3t?key=s3cr3t",
		strings.NewReader("s3cr3t"))
	r.Header.Set("Authorization", "Bearer s3cr3t")
	res, err := span.Transport(w).RoundTrip(r)
	if err == nil {
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	return r, err
}

func TestSpanOfAnOutgoingRequestJoinsItsTrace(t *testing.T) {
	w := &wire{status: 200}
	var asked *http.Request
	all := newDesk().serve(request("GET", "/", "Traceparent", parent, "Tracestate", "a=s3cr3t", "Tracestate", "b=2"),
		func(_ http.ResponseWriter, r *http.Request) {
			asked, _ = ask(r.Context(), w)
		})
	if len(all) != 2 || all[0].Name != "POST" || all[0].SpanKind != trace.SpanKindClient ||
		all[0].Parent.SpanID() != all[1].SpanContext.SpanID() {
		t.Fatalf("recorded %+v", all)
	}
	if got, want := w.sent.Get("Traceparent"), "00-"+traceID+"-"+all[0].SpanContext.SpanID().String()+"-01"; got != want {
		t.Errorf("sent traceparent %q, want %q", got, want)
	}
	if got := w.sent.Values("Tracestate"); len(got) != 1 || got[0] != "a=s3cr3t,b=2" {
		t.Errorf("sent tracestate %q", got)
	}
	if asked.Header.Get("Traceparent") != "" {
		t.Error("the caller's own request was written to")
	}
	if a := attributes(all[0]); a["server.address"] != "tools.example.com" || a["server.port"] != "8443" ||
		a["http.response.status_code"] != "200" || a["http.request.method"] != "POST" {
		t.Errorf("attributes %v", a)
	}
	if bytes.Contains(fmt.Appendf(nil, "%+v", all), []byte("s3cr3t")) {
		t.Errorf("a secret is in the spans: %+v", all)
	}
}

func TestServiceThatFailsIsToldByAWord(t *testing.T) {
	for want, w := range map[string]*wire{
		"500": {status: 500}, "404": {status: 404}, "timeout": {err: fmt.Errorf("s3cr3t: %w", context.DeadlineExceeded)},
		"canceled": {err: context.Canceled}, "_OTHER": {err: errors.New("dial s3cr3t")},
	} {
		all := newDesk().serve(request("GET", "/"), func(_ http.ResponseWriter, r *http.Request) { ask(r.Context(), w) })
		if got := attributes(all[0])["error.type"]; got != want || all[0].Status.Code.String() != "Error" ||
			bytes.Contains(fmt.Appendf(nil, "%+v", all), []byte("s3cr3t")) {
			t.Errorf("%s: error.type %q: %+v", want, got, all)
		}
	}
}

func TestTraceThatIsNotSampledGoesOnUnsampled(t *testing.T) {
	w := &wire{status: 200}
	all := newDesk(sdk.WithSampler(sdk.NeverSample())).serve(request("GET", "/", "Traceparent", parent),
		func(_ http.ResponseWriter, r *http.Request) {
			if span.Of(r.Context()).On() || span.SampledID(r.Context()) != "" {
				t.Error("it is recorded")
			}
			ask(r.Context(), w)
		})
	if got := w.sent.Get("Traceparent"); len(all) != 0 || !strings.HasPrefix(got, "00-"+traceID) ||
		!strings.HasSuffix(got, "-00") {
		t.Errorf("%d spans, sent %q", len(all), got)
	}
}

func TestTraceIsPassedOnWithoutAProvider(t *testing.T) {
	w := &wire{status: 200}
	r := request("GET", "/", "Traceparent", parent, "Tracestate", "a=1")
	ask(span.Arrive(r.Context(), r.Header), w)
	if w.sent.Get("Traceparent") != parent || w.sent.Get("Tracestate") != "a=1" {
		t.Errorf("sent %v", w.sent)
	}
	bad := request("GET", "/", "Traceparent", "00-x", "Tracestate", "a=1")
	if ask(span.Arrive(bad.Context(), bad.Header), w); w.sent.Get("Traceparent") != "" || w.sent.Get("Tracestate") != "" {
		t.Errorf("of a malformed one is sent %v", w.sent)
	}
}

func TestProviderInFrontIsFoundInTheContext(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	ctx, host := sdk.NewTracerProvider(sdk.WithSyncer(spans)).Tracer("host").Start(t.Context(), "host")
	ctx, s := span.Start(ctx, span.Server, "mine")
	if span.SampledID(ctx) != host.SpanContext().TraceID().String() {
		t.Errorf("the trace is %q", span.SampledID(ctx))
	}
	s.End()
	if all := spans.GetSpans(); len(all) != 1 || all[0].Parent.SpanID() != host.SpanContext().SpanID() {
		t.Errorf("recorded %+v", all)
	}
}

func TestSpanAllocatesNothingWhereNoneRecords(t *testing.T) {
	var off *span.Tracer
	if h := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}); fmt.Sprintf("%p",
		off.Handler(nil, h)) != fmt.Sprintf("%p", h) {
		t.Error("a handler is put around a handler for nothing")
	}
	if span.New(nil) != nil {
		t.Error("there is a Tracer without a provider")
	}
	r, _ := reqctx.Begin(httptest.NewRecorder(), request("GET", "/"))
	ctx, w := r.Context(), &still{}
	out := span.Transport(w)
	name := "tool"
	if n := testing.AllocsPerRun(100, func() {
		in, s := span.Start(span.Arrive(ctx, r.Header), span.Server, "tools/call")
		if s.On() {
			s.Rename("tools/call " + name)
		}
		s.Set(span.ClientID, name)
		span.Of(in).Set(span.ClientID, name)
		out.RoundTrip(r)
		s.Fail("500")
		s.End()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// still is a transport that does nothing.
type still struct{ res http.Response }

func (s *still) RoundTrip(*http.Request) (*http.Response, error) { return &s.res, nil }
