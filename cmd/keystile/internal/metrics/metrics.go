package metrics

import (
	"maps"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/keystile/keystile/cmd/keystile/internal/requests"
	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/oauth"
)

// Metrics is a requests.Observer.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	signIns  *prometheus.CounterVec
	tokens   *prometheus.CounterVec

	// found are the counters of labels that were looked up: that costs more than counting. A new one is
	// added to a copy of the map, so that readers never wait.
	found  atomic.Pointer[map[answers]counted]
	adding sync.Mutex
}

// answers are those that have the same labels. There are as many as routes, methods and classes.
type answers struct{ route, method, class string }

type counted struct {
	requests prometheus.Counter
	duration prometheus.Observer
}

var (
	// results says how an answer to the sign-in form is counted (protocol 7, 8).
	results = map[int]string{http.StatusSeeOther: "ok", http.StatusUnauthorized: "failed",
		http.StatusTooManyRequests: "locked"}
	grants = []string{"authorization_code", "refresh_token", "client_credentials"}
)

// New makes a Metrics. swept tells how many records the store has removed because they
// had expired.
func New(version string, swept func() float64) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "keystile_http_requests_total", Help: "Requests answered, by route, method and class of status.",
		}, []string{"route", "method", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "keystile_http_request_duration_seconds", Help: "How long requests took, by route.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "keystile_http_requests_in_flight", Help: "Requests being answered.",
		}),
		signIns: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "keystile_sign_ins_total", Help: "Sign-in forms sent, by what came of it: ok, failed, locked.",
		}, []string{"result"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "keystile_tokens_issued_total", Help: "Access tokens issued, by grant type.",
		}, []string{"grant_type"}),
	}
	removed := prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "keystile_store_swept_total", Help: "Expired records removed from the store.",
	}, swept)
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "keystile_build_info", Help: "1, labelled with the version.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()},
	}, func() float64 { return 1 })
	m.registry.MustRegister(m.requests, m.duration, m.inFlight, m.signIns, m.tokens, removed, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.prepare()
	return m
}

// Watch adds what a gateway counts. health says what it cannot do as it should.
func (m *Metrics) Watch(stats func() gateway.Stats, health func() error) {
	count := func(name, help string, value func(gateway.Stats) uint64) {
		m.count(name, help, nil, func() uint64 { return value(stats()) })
	}
	count("keystile_calls_charged_total", "Calls counted against a quota.",
		func(s gateway.Stats) uint64 { return s.Charged })
	count("keystile_requests_over_rate_total", "Requests refused with 429 by a rate.",
		func(s gateway.Stats) uint64 { return s.OverRate })
	count("keystile_calls_repeated_total", "Repetitions under an Idempotency-Key, which were not charged again.",
		func(s gateway.Stats) uint64 { return s.Repeated })
	count("keystile_calls_unremembered_total", "Calls with an Idempotency-Key that were charged without a look at it, "+
		"or are not remembered.", func(s gateway.Stats) uint64 { return s.Unremembered })
	count("keystile_streams_ended_total", "Calls that went on when their token ended, or gateway.stream_life, and were "+
		"ended with it.", func(s gateway.Stats) uint64 { return s.StreamsEnded })
	count("keystile_calls_uncounted_total", "Calls not answered because they could not be counted.",
		func(s gateway.Stats) uint64 { return s.Uncounted })
	count("keystile_audit_events_stored_total", "Events stored on the audit trail.",
		func(s gateway.Stats) uint64 { return s.AuditStored })
	count("keystile_audit_events_lost_total", "Events that found the audit queue full.",
		func(s gateway.Stats) uint64 { return s.AuditLost })
	count("keystile_audit_anonymous_events_lost_total", "Events of unknown callers that came too late to be summed.",
		func(s gateway.Stats) uint64 { return s.AuditLostAnonymous })
	for limit := range stats().Shadowed {
		m.count("keystile_requests_shadowed_total", "Requests let through over a rate that is only reported "+
			"(limits.shadow), by tier, or of addresses.", prometheus.Labels{"limit": limit},
			func() uint64 { return stats().Shadowed[limit] })
	}
	m.Gauge("keystile_audit_events_waiting", "Events noted and not yet stored.",
		func() float64 { return float64(stats().AuditWaiting) })
	m.Gauge("keystile_ledger_healthy", "1 while usage and audit trail are written as they should be.",
		Truth(func() bool { return health() == nil }))
	m.Gauge("keystile_ledger_mapped",
		"1 while charged calls are stored into memory that the usage journal's file shares; 0 while each is written.",
		Truth(func() bool { return stats().JournalMapped }))
}

// WatchFeed adds how well this process follows what others revoke and change in a store that they
// share. Where no other process shares it, all of it stays 0.
func (m *Metrics) WatchFeed(feed func() oauth.Feed) {
	m.Gauge("keystile_feed_age_seconds", "Time since what other processes revoke and change was last read to its end; 0 "+
		"where no other process shares the store.", func() float64 { return feed().Age.Seconds() })
	m.Gauge("keystile_feed_stale", "1 while it is too old, and no access token is accepted.",
		Truth(func() bool { return feed().Err != nil }))
	m.count("keystile_feed_regressions_total", "How often the store had lost what was read from it before, as after a "+
		"failover.", nil, func() uint64 { return feed().Regressions })
}

// Truth returns a value for Gauge: 1 while something is so, else 0.
func Truth(so func() bool) func() float64 {
	return func() float64 {
		if so() {
			return 1
		}
		return 0
	}
}

// count adds a counter that is kept elsewhere.
func (m *Metrics) count(name, help string, labels prometheus.Labels, value func() uint64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels},
		func() float64 { return float64(value()) }))
}

// prepare makes what is counted rarely 0 and not absent: an alert on its first rise must fire.
func (m *Metrics) prepare() {
	for _, result := range results {
		m.signIns.WithLabelValues(result)
	}
	for _, grant := range grants {
		m.tokens.WithLabelValues(grant)
	}
}

// Handler answers with all metrics as text: that of OpenMetrics, which has the exemplars, for clients that ask
// for it.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
}

// Begin implements requests.Observer.
func (m *Metrics) Begin() { m.inFlight.Inc() }

// End implements requests.Observer.
func (m *Metrics) End(s requests.Seen) {
	m.inFlight.Dec()
	c := m.of(answers{s.Route, s.Method, class(s.Status)})
	c.requests.Inc()
	observe(c.duration, s.Took, s.TraceID)
	switch strings.TrimSuffix(s.Route, ".php") {
	case "/oauth/signin":
		if result, ok := results[s.Status]; ok && s.Method == http.MethodPost {
			m.signIns.WithLabelValues(result).Inc()
		}
	case "/oauth/token":
		if s.Status == http.StatusOK { // then the grant type is one of ours
			m.tokens.WithLabelValues(s.Grant).Inc()
		}
	}
}

func (m *Metrics) of(a answers) counted {
	if known := m.found.Load(); known != nil {
		if c, ok := (*known)[a]; ok {
			return c
		}
	}
	m.adding.Lock()
	defer m.adding.Unlock()
	more := map[answers]counted{}
	if known := m.found.Load(); known != nil {
		maps.Copy(more, *known)
	}
	c := counted{m.requests.WithLabelValues(a.route, a.method, a.class), m.duration.WithLabelValues(a.route)}
	more[a] = c
	m.found.Store(&more)
	return c
}

var classes = [...]string{"0xx", "1xx", "2xx", "3xx", "4xx", "5xx", "other"}

// class is 2xx and the like; "aborted" where nothing was answered.
func class(status int) string {
	if status == 0 {
		return "aborted"
	}
	return classes[min(status/100, len(classes)-1)]
}
