// Package reply is shared by all HTTP packages: it routes, writes answers and writes
// failures.
//
// A handler reads, acts and says. It returns an error instead of writing one; [Mux] turns
// whatever comes back into bytes, and is the only place that does. A [Failure] knows how
// it looks to the client. Any other error is hidden from the client and logged: 503 if
// the store is away, else 500.
//
// Every 5xx is an error in the log. But where a package refuses because too much is requested at
// once, its Failure has a [Crowd], and the log a warning in a minute with their number: the
// first at once, and the others when the next comes after that minute.
//
// # Choices
//
// Routes are matched by path alone and each names its methods, because a pattern such as
// "GET /x" would serve HEAD too, and HEAD must not mint a code. Paths that net/http would
// clean with a redirect are answered 404: a redirect loses a form and hides a mistake.
package reply
