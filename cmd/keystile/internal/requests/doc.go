// Package requests stands in front of every request: it gives each an id, one line in the
// log, and an observer.
//
// # Choices
//
// A request is known by the route that answered it, never by its path: routes are few, so
// they may label metrics, and a path may hold a token that somebody put in the wrong
// place. The route comes from the muxes, which write it into the very request they are handed, and a
// product's is its prefix; a handler in between that hands on a copy makes it "other".
//
// An id that came along is taken only if any log can hold it as it is: 1 to 64 letters,
// digits, dots, lines and dashes. traceparent is read behind here (package span).
package requests
