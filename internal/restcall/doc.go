// Package restcall turns a call of a tool into an HTTP request to its upstream, and the answer into a result
// for the caller (protocol 2.7, 4.9).
//
// [Compile] makes a [Plan] of a tool once. [Plan.Build] checks arguments and writes the request; [Caller.Do]
// sends it; [Caller.Call] does both. A failure on the way is a result with IsError, so that a model reads it
// and can do better (MCP 2026-07-28, tools).
//
// Nothing of the request that carried the call reaches the upstream: no token, cookie, address or header,
// except the names of the services it has come through (package hop). The upstream's credentials reach no
// result, and neither does its host: a result describes a failure in the same words for every upstream.
//
// # Arguments
//
// null stands for an optional argument that is not given; inside a JSON body it is data and is sent. Members of
// lists and objects that are null are left out of URLs, headers and forms (RFC 6570 2.3); members that are
// lists or objects are sent there as JSON. An unknown argument is refused by its name, because a model means
// something by it; those that clients are known to add are ignored, and the result says which.
//
// A keyword of a schema that is malformed, unknown or not RE2 is not enforced: the upstream checks it. So are
// format, default (never sent) and members of nested objects that their schema does not name.
//
// An argument cannot change the query of the upstream's base URL. The credential replaces every parameter with
// its name, or with one that a server may take for it.
//
// # Choices
//
// JSON is checked once and then read where it lies. Numbers are never converted, so none is rounded, and bounds
// are compared digit by digit. Requests are sent on a RoundTripper, which follows no redirect and keeps no
// cookies, rather than on a Client, which might. The other reasons stand with the types and functions in
// question.
//
// It is one package because each place where an argument goes (path, query, header, cookie, form, part, body) works on
// the same compiled plan.
package restcall
