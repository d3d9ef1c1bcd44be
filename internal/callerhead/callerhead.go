// Package callerhead carries what an upstream is told of the caller from the bus to the requests of a call.
package callerhead

import (
	"context"
	"net/http"
	"strings"
)

// Told holds the headers that tell an upstream who calls. The zero value tells nothing.
type Told struct {
	Header http.Header
	Hide   string // what no answer may repeat; "": nothing
}

type key struct{}

// With returns the context of a call whose upstream is told of its caller.
func With(ctx context.Context, t Told) context.Context { return context.WithValue(ctx, key{}, t) }

// From returns what the upstream of a call is told.
func From(ctx context.Context) Told {
	t, _ := ctx.Value(key{}).(Told)
	return t
}

// Statement returns what tells an upstream by a signed statement. Without its signature it is worth nothing, so that is
// what answers must not repeat.
func Statement(header, text string) Told {
	return Told{http.Header{header: {text}}, text[strings.LastIndexByte(text, '.')+1:]}
}

// Mark writes the headers on a request. They take the place of what the request has under their names.
func (t Told) Mark(header http.Header) {
	for name, values := range t.Header {
		header[name] = values
	}
}
