// Package telemetry sends the spans of the service to a collector, by OTLP over HTTP. It alone links the SDK of
// OpenTelemetry: what records spans knows its interfaces (package internal/span).
//
// # Choices
//
// A trace is recorded by the toss of a coin that otel.sample weights, once where it enters the service; what is
// done for a request follows the request. The client's traceparent has no say in it: a stranger chooses its
// sampled flag, and the trace id too, and would fill the collector, or hide from it. So the id goes on, and the
// coin decides whether this service's part is recorded. Only with otel.follow, and from a peer in
// trusted_proxies, the flag decides: that is for proxies which write traceparent themselves. One that hands on
// what its clients send must not be followed.
//
// No request waits for a collector. Spans are queued, up to 2,048 of them, and sent 512 at a time each
// five seconds or sooner; one that finds the queue full is dropped. A collector that is slow, or answers with
// 429, 502, 503 or 504, is asked again for up to 20 seconds; then, and after any other failure at once, the batch
// is dropped. The log says once that it fails and once that it works again. At the end there are two seconds
// to send what is left.
//
// Redirects are not followed: the headers can hold a key. The variables OTEL_EXPORTER_OTLP_* and
// OTEL_TRACES_SAMPLER are not obeyed where a setting says the same; OTEL_RESOURCE_ATTRIBUTES adds to what the
// service is called.
package telemetry
