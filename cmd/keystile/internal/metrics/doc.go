// Package metrics counts what the service does, in a registry of its own, for Prometheus.
//
// # Choices
//
// Every label takes one of few values, whatever clients send. The counts come from the requests
// (see package requests) and from the events of the audit trail: the other packages know nothing of
// metrics.
//
// A measurement of a recorded trace is an exemplar of its bucket: from a slow one in a graph it is one step to
// the spans of a request that was.
package metrics
