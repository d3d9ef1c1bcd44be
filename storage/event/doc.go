// Package event describes what happened: an [Event] for the audit trail, a [Notice] for the
// user whom it concerns.
//
// Rooms note events with the trail that they are given (gateway.OpenTrail). A [Query] selects some of those
// that are stored, a [Page] is what it finds, [TrailState] what is known of the trail without reading it, and
// [TrailReport] what a reading of all of it has found.
//
// # Choices
//
// No field of an Event may hold a secret. Of a path that brings a query the query is dropped, and nothing else
// is looked through: what is noted is the caller's to choose.
//
// An event is Anonymous where nothing was proven. Anybody can cause such events without end, so the
// trail sums all but the first few of a minute (package internal/audit); a client_id proves nothing.
//
// Texts are cut to a length in bytes, and what is not UTF-8 is replaced: an event is never refused, because the
// act has happened.
//
// A search stops when it has read as much as one search may, and says so, with where it goes on.
package event
