package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/keystile/keystile/internal/span"
	"github.com/keystile/keystile/storage/driver"
)

// Statements measures what is asked of a storage. It may be made before there is a Metrics, and
// without one.
type Statements struct {
	took   *prometheus.HistogramVec
	failed *prometheus.CounterVec
}

// NewStatements makes a Statements.
func NewStatements() *Statements {
	return &Statements{
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "keystile_storage_statement_duration_seconds", Help: "How long the storage took to answer, by statement.",
			Buckets: []float64{.0002, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 5},
		}, []string{"statement"}),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "keystile_storage_statement_errors_total", Help: "Statements that the storage did not answer, by statement.",
		}, []string{"statement"}),
	}
}

// Observe notes one statement that has ended.
func (s *Statements) Observe(ctx context.Context, statement string, took time.Duration, err error) {
	observe(s.took.WithLabelValues(statement), took, span.SampledID(ctx))
	failed := s.failed.WithLabelValues(statement) // 0 before the first: an alert on that must fire
	for _, verdict := range []error{nil, driver.ErrNotFound, driver.ErrExists, driver.ErrConflict, driver.ErrSpent,
		driver.ErrRevoked, driver.ErrInvalid} {
		if errors.Is(err, verdict) {
			return
		}
	}
	failed.Inc()
}

// Storage adds what the storage measures.
func (m *Metrics) Storage(s *Statements) { m.registry.MustRegister(s.took, s.failed) }

// Gauge adds one measurement.
func (m *Metrics) Gauge(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

// Counter adds one measurement that only rises.
func (m *Metrics) Counter(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, value))
}
