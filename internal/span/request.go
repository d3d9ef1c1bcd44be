package span

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/trace"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
)

// Tracer begins the spans of requests.
type Tracer struct{ otel trace.Tracer }

// New makes a Tracer. Without a provider it is nil, and Handler does nothing.
func New(p trace.TracerProvider) *Tracer {
	if p == nil {
		return nil
	}
	return &Tracer{p.Tracer(scope)}
}

// Handler returns a handler that serves each request within a span of its own, below that of the request's
// traceparent if there is one. Requests that are within a span already are left alone, and so are those that
// skip names; a nil skip names none.
func (t *Tracer) Handler(skip func(*http.Request) bool, next http.Handler) http.Handler {
	if t == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if here := trace.SpanContextFromContext(r.Context()); here.IsValid() && !here.IsRemote() || skip != nil && skip(r) {
			next.ServeHTTP(w, r)
			return
		}
		r, v := reqctx.Begin(w, r)
		out := t.begin(w, r, v)
		defer out.end()
		next.ServeHTTP(out, r)
		out.begin(http.StatusOK)
	})
}

// begin begins the span of a request. It is put into the Visit, which is the context of everything that is done
// for the request, so that the request itself is no other one: who serves it writes into it.
func (t *Tracer) begin(w http.ResponseWriter, r *http.Request, v *reqctx.Visit) *answer {
	ctx, from := v.Context, &origin{tracer: t.otel}
	if parent, state := read(r.Header); parent.IsValid() {
		ctx, from.state = trace.ContextWithRemoteSpanContext(ctx, parent), state
	}
	ctx, s := t.otel.Start(context.WithValue(ctx, originKey{}, from), methodOf(r.Method), trace.WithSpanKind(Server))
	v.Context = ctx
	out := &answer{ResponseWriter: w, request: r, visit: v}
	if out.otel = s; s.IsRecording() {
		out.span = Span{s}
	}
	return out
}

// answer notes how a request is answered.
type answer struct {
	http.ResponseWriter
	request *http.Request
	visit   *reqctx.Visit
	otel    trace.Span // ended also where it is not recorded
	span    Span
	status  int // 0: nothing was answered
}

func (a *answer) end() {
	defer a.otel.End()
	if !a.span.On() {
		return
	}
	method, route := methodOf(a.request.Method), routeOf(a.request.Pattern)
	a.span.Rename(strings.TrimSuffix(method+" "+route, " "))
	if method == "HTTP" {
		method = "_OTHER"
	}
	a.span.Set("http.request.method", method)
	a.span.Set("http.route", route)
	if a.visit.Known {
		a.span.Set(ClientID, a.visit.Caller.AppID)
		a.span.SetAll(Act, named(&a.visit.Caller))
	}
	switch {
	case a.status == 0:
		a.span.Fail("aborted")
		return
	case a.status >= 500:
		a.span.Fail(strconv.Itoa(a.status))
	}
	a.span.SetInt("http.response.status_code", a.status)
}

// Attributes of whom a request speaks for.
const (
	ClientID = "keystile.client_id" // the application
	Act      = "keystile.act"       // who acts for its user by delegation, the current one first
)

// named returns the actors of a caller as a span may name them: a text that may be a person's sub is "other".
func named(caller *storage.Caller) []string {
	all := slices.Clone(caller.Actors)
	for i, actor := range all {
		if actor != caller.AppID && !client.IsID(actor) && !handle.IsAppID(actor) {
			all[i] = "other"
		}
	}
	return all
}

// methodOf returns a method as the name of a span has it: any other text than that of a known method could be of
// any length.
func methodOf(sent string) string {
	switch sent {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions:
		return sent
	}
	return "HTTP"
}

// routeOf returns the path of a pattern, "" for what no route has.
func routeOf(pattern string) string {
	_, path, hasMethod := strings.Cut(pattern, " ")
	if !hasMethod {
		path = pattern
	}
	switch path {
	case "/":
		return "" // a mux's answer to what it does not know
	case "/{$}":
		return "/"
	}
	return path
}

func (a *answer) begin(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *answer) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols { // others only announce an answer
		a.begin(status)
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	a.begin(http.StatusOK)
	return a.ResponseWriter.Write(p)
}

// Flush is for callers that look for it.
func (a *answer) Flush() {
	a.begin(http.StatusOK)
	http.NewResponseController(a.ResponseWriter).Flush() // where it cannot be done, callers expect nothing
}

// Hijack notes that the protocol is switched.
func (a *answer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(a.ResponseWriter).Hijack()
	if err == nil {
		a.begin(http.StatusSwitchingProtocols)
	}
	return conn, buffered, err
}

func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
