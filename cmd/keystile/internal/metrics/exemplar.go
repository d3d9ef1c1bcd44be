package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// observe notes how long something took, with the trace that it belongs to if one is recorded.
func observe(in prometheus.Observer, took time.Duration, traceID string) {
	if e, ok := in.(prometheus.ExemplarObserver); ok && traceID != "" {
		e.ObserveWithExemplar(took.Seconds(), prometheus.Labels{"trace_id": traceID})
		return
	}
	in.Observe(took.Seconds())
}
