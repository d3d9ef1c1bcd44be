package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/keystile/keystile/internal/connections"
)

// WatchRoom adds how many connections a listener takes; 0: any number.
func (m *Metrics) WatchRoom(listener string, total int) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "keystile_connections_max", Help: "Connections that may be open, by listener; 0: any number.",
		ConstLabels: prometheus.Labels{"listener": listener},
	}, func() float64 { return float64(total) }))
}

// WatchConnections adds what the limits of a listener count. It is called once for each.
func (m *Metrics) WatchConnections(listener string, stats func() connections.Stats) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "keystile_connections_open", Help: "Connections that are open, by listener.",
		ConstLabels: prometheus.Labels{"listener": listener},
	}, func() float64 { return float64(stats().Open) }))
	count := func(name, help, reason string, value func(connections.Stats) uint64) {
		m.count(name, help, prometheus.Labels{"listener": listener, "reason": reason},
			func() uint64 { return value(stats()) })
	}
	const refused, whyRefused = "keystile_connections_refused_total",
		"Connections closed before anything was read, by listener and reason: their address has enough (address), or too " +
			"few are free (full)."
	count(refused, whyRefused, "address", func(s connections.Stats) uint64 { return s.RefusedAddress })
	count(refused, whyRefused, "full", func(s connections.Stats) uint64 { return s.RefusedFull })
	const cut, whyCut = "keystile_connections_cut_total", "Connections cut, by listener and reason: a request's body " +
		"did not come in time (body), an answer was not read (answer), no byte went either way (silent)."
	count(cut, whyCut, "body", func(s connections.Stats) uint64 { return s.CutBody })
	count(cut, whyCut, "answer", func(s connections.Stats) uint64 { return s.CutAnswer })
	count(cut, whyCut, "silent", func(s connections.Stats) uint64 { return s.CutSilent })
}
