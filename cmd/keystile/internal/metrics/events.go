package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/keystile/keystile/storage/event"
)

// kinds are those of events that are counted by name. Calls of guarded services are requests, and
// counted as such.
var kinds = []string{
	event.SignIn, event.Token, event.ToolCall, event.Registration, event.Admin, event.Revocation, event.Legacy,
	event.Consent, event.Client, event.Account,
}

// Events adds the metrics of audit events, and returns the function that counts an event. Sign-ins by any
// method, and calls that an agent makes over one stream, are counted by events and not by requests.
func (m *Metrics) Events() func(event.Event) {
	events := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "keystile_events_total",
		Help: "Events that the audit trail was told, but calls of guarded services, by kind and class of status.",
	}, []string{"kind", "status"})
	tools := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "keystile_tool_call_duration_seconds", Help: "How long calls of tools took, by class of status: 4xx was " +
			"refused by the tool or here, 5xx is an upstream that failed, or did not answer.",
		Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	}, []string{"status"})
	m.registry.MustRegister(events, tools)
	for _, status := range []string{"2xx", "3xx", "4xx", "5xx"} { // an alert on the first one must fire
		if status != "3xx" {
			tools.WithLabelValues(status)
		}
		for _, kind := range []string{event.SignIn, event.Token, event.ToolCall, event.Revocation} {
			events.WithLabelValues(kind, status)
		}
	}
	return func(e event.Event) {
		status, kind := outcome(e.Status), e.Kind
		if !slices.Contains(kinds, kind) {
			kind = "other"
		}
		events.WithLabelValues(kind, status).Inc()
		if e.Kind == event.ToolCall {
			tools.WithLabelValues(status).Observe(e.Latency.Seconds())
		}
	}
}

// outcome is the class of an event's status. Where an event has none, what it tells of was done.
func outcome(status int) string {
	if status <= 0 {
		return "2xx"
	}
	return class(status)
}
