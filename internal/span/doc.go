// Package span tells OpenTelemetry what a request goes through: one span for the request, and below it one for
// each call of a tool, each request to another service and each step of the store.
//
// A [Tracer] begins the span of a request, in front of everything else. Packages behind it call [Start], which
// finds in the context who records and begins a span below the one that is there. They need no setting: behind
// the middleware of a host that traces already, its spans are the parents. Where nobody records there is no
// span, [Start] returns the context as it came, and nothing is allocated.
//
// # What is in a span
//
// Spans have names and the attributes of OpenTelemetry's semantic conventions, as far as these have few values:
// method, route, status, the host of an upstream, the tool, the kind of a document. An application is named by
// its client_id, also one that acts by delegation (keystile.act). They never hold a path, a query, a header, a
// body, the text of an error, which may contain a URL, or an identifier of the user. So url.full and url.path,
// which the conventions ask for, are missing.
//
// # Context of others
//
// The headers traceparent and tracestate (W3C Trace Context) come in with a request, unless they are malformed
// or there are two, and go out by [Transport] with what is sent because of it. A tracestate is text of strangers: it
// is handed on as it came and is not shown to the provider, which would export it. Where nobody records, what
// came in goes out unchanged.
//
// Whether a trace is recorded is the sampler's to say, which sees the parent as remote. One that believes every
// parent's sampled flag lets each client decide how much is recorded here.
package span
