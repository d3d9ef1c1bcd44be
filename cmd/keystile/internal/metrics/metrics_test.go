package metrics

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/keystile/keystile/cmd/keystile/internal/requests"
	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/connections"
)

func TestMetricsCountWhatIsSeen(t *testing.T) {
	m := New("v1.2.3", func() float64 { return 42 })
	for _, s := range []requests.Seen{
		{Route: "/oauth/token", Method: "POST", Status: 200, Grant: "refresh_token", Took: 3 * time.Millisecond},
		{Route: "/oauth/token.php", Method: "POST", Status: 200, Grant: "client_credentials"},
		{Route: "/oauth/token", Method: "POST", Status: 400, Grant: "anything at all"},
		{Route: "/oauth/signin", Method: "POST", Status: 303},
		{Route: "/oauth/signin", Method: "POST", Status: 401},
		{Route: "/oauth/signin", Method: "POST", Status: 401},
		{Route: "/oauth/signin", Method: "POST", Status: 429},
		{Route: "/oauth/signin", Method: "GET", Status: 401},
		{Route: "/oauth/signin", Method: "POST", Status: 503},
		{Route: "other", Method: "GET"},
	} {
		m.Begin()
		m.End(s)
	}
	m.Begin()
	text := scrape(t, m)
	for _, want := range []string{
		`keystile_tokens_issued_total{grant_type="refresh_token"} 1`,
		`keystile_tokens_issued_total{grant_type="client_credentials"} 1`,
		`keystile_tokens_issued_total{grant_type="authorization_code"} 0`,
		`keystile_sign_ins_total{result="ok"} 1`, `keystile_sign_ins_total{result="failed"} 2`, `keystile_sign_ins_total{result="locked"} 1`,
		`keystile_http_requests_total{method="POST",route="/oauth/token",status="4xx"} 1`,
		`keystile_http_requests_total{method="GET",route="other",status="aborted"} 1`,
		`keystile_http_request_duration_seconds_bucket{route="/oauth/token",le="0.005"} 2`,
		`keystile_http_request_duration_seconds_bucket{route="/oauth/token",le="0.0025"} 1`,
		`keystile_http_requests_in_flight 1`, `keystile_store_swept_total 42`, `version="v1.2.3"`, "go_goroutines ", "process_open_fds ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("not counted: %s", want)
		}
	}
	if strings.Contains(text, "anything at all") {
		t.Error("a refused grant_type is a label")
	}
}

func TestMetricsOfTwoServicesAreSeparate(t *testing.T) {
	a, b := New("a", func() float64 { return 0 }), New("b", func() float64 { return 0 })
	a.End(requests.Seen{Route: "/x", Method: "GET", Status: 200})
	if text := scrape(t, b); strings.Contains(text, `route="/x"`) {
		t.Error("they share a registry")
	}
}

func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		t.Fatalf("answered %d %v", w.Code, w.Header())
	}
	return w.Body.String()
}

func TestMetricsShowWhatAGatewayCounts(t *testing.T) {
	m := New("v1.2.3", func() float64 { return 0 })
	var ill error
	m.Watch(func() gateway.Stats {
		return gateway.Stats{Charged: 1, OverRate: 2, Uncounted: 3, AuditStored: 4, AuditWaiting: 5, AuditLost: 6,
			AuditLostAnonymous: 7, JournalMapped: true,
			Repeated: 8, Unremembered: 9, Shadowed: map[string]uint64{"address": 10, "free": 11}}
	}, func() error { return ill })
	for _, want := range []string{
		"keystile_calls_charged_total 1", "keystile_requests_over_rate_total 2", "keystile_calls_uncounted_total 3",
		"keystile_calls_repeated_total 8", "keystile_calls_unremembered_total 9", `keystile_requests_shadowed_total{limit="address"} 10`, `keystile_requests_shadowed_total{limit="free"} 11`,
		"keystile_audit_events_stored_total 4", "keystile_audit_events_waiting 5", "keystile_audit_events_lost_total 6",
		"keystile_audit_anonymous_events_lost_total 7", "keystile_ledger_healthy 1", "keystile_ledger_mapped 1",
	} {
		if text := scrape(t, m); !strings.Contains(text, want+"\n") {
			t.Errorf("no line %q in %s", want, text)
		}
	}
	if ill = errors.New("the disk is full"); !strings.Contains(scrape(t, m), "keystile_ledger_healthy 0\n") {
		t.Error("it looks healthy with a full disk")
	}
}

func TestMetricsShowConnectionsByListener(t *testing.T) {
	m := New("v1.2.3", func() float64 { return 0 })
	for _, listener := range []string{"public", "admin"} {
		m.WatchRoom(listener, 10*len(listener))
		m.WatchConnections(listener, func() connections.Stats {
			return connections.Stats{Open: len(listener), RefusedAddress: 1, RefusedFull: 2, CutBody: 3, CutAnswer: 4,
				CutSilent: 5}
		})
	}
	text := scrape(t, m)
	for _, want := range []string{
		`keystile_connections_max{listener="public"} 60`, `keystile_connections_max{listener="admin"} 50`,
		`keystile_connections_open{listener="public"} 6`, `keystile_connections_open{listener="admin"} 5`,
		`keystile_connections_refused_total{listener="public",reason="address"} 1`, `keystile_connections_refused_total{listener="public",reason="full"} 2`,
		`keystile_connections_cut_total{listener="admin",reason="body"} 3`, `keystile_connections_cut_total{listener="admin",reason="answer"} 4`,
		`keystile_connections_cut_total{listener="admin",reason="silent"} 5`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("not shown: %s", want)
		}
	}
}

func TestRecordedTraceIsAnExemplarForWhoAsksForOpenMetrics(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	m, s := New("a", func() float64 { return 0 }), NewStatements()
	m.Storage(s)
	m.End(requests.Seen{Route: "/a", Method: "GET", Status: 200, Took: 3 * time.Millisecond, TraceID: id})
	m.End(requests.Seen{Route: "/b", Method: "GET", Status: 200, Took: 3 * time.Millisecond})
	recorded := trace.ContextWithSpanContext(t.Context(),
		trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{0xab}, SpanID: trace.SpanID{1},
			TraceFlags: trace.FlagsSampled}))
	s.Observe(recorded, "get", time.Millisecond, nil)
	s.Observe(t.Context(), "put", time.Millisecond, nil)
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil)
	r.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	m.Handler().ServeHTTP(w, r)
	text := w.Body.String()
	for _, want := range []string{
		`keystile_http_request_duration_seconds_bucket{route="/a",le="0.005"} 1 # {trace_id="` + id + `"} 0.003`,
		`keystile_storage_statement_duration_seconds_bucket{statement="get",le="0.001"} 1 # {trace_id="ab000000000000000000000000000000"} 0.001`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("not there: %s", want)
		}
	}
	if strings.Count(text, " # {") != 2 || strings.Contains(scrape(t, m), "trace_id") {
		t.Errorf("exemplars stand where none is asked for, or nothing was recorded: %s", text)
	}
}
