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
// Strangers must not fill a disk: no rate counts requests of free paths, and refusing one costs them nothing. So of
// lines in their requests, and of what net/http says of their connections, 60 of a kind are written in a minute; at
// its end a line says how many more there were. A kind is a message, and of requests a method, route and status; of
// errors the cause tells them apart. A caller who is known, by a token, a session or a secret, has a rate, and a
// line for each request within it.
//
// An id that came along is taken only if any log can hold it as it is: 1 to 64 letters,
// digits, dots, lines and dashes. traceparent is read behind here (package span).
package requests
