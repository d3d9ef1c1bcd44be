package reqctx

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
)

// Header carries a request's id, in and out.
const Header = "X-Request-Id"

// Begin returns a request with a Visit. A new Visit has the id that came along, if any
// log can hold it as it is, or one that is drawn; the answer names it, and a service that
// the request is forwarded to receives it.
func Begin(w http.ResponseWriter, r *http.Request) (*http.Request, *Visit) {
	if v := From(r.Context()); v != nil {
		return r, v
	}
	v := &Visit{Context: r.Context(), RequestID: idOf(r.Header)}
	v.id[0] = v.RequestID
	r.Header[Header] = v.id[:]
	w.Header()[Header] = v.id[:]
	return r.WithContext(v), v
}

// ID is the id of the request whose context this is, "" outside of one.
func ID(ctx context.Context) string {
	if v := From(ctx); v != nil {
		return v.RequestID
	}
	return ""
}

func idOf(h http.Header) string {
	if given := h[Header]; len(given) == 1 && fits(given[0]) {
		return given[0]
	}
	return draw()
}

// draw draws 128 bits. They tell requests apart and guard nothing, so they come from the
// generator that needs no lock and no system call.
func draw() string {
	const letters = "abcdefghijklmnopqrstuvwxyz234567"
	var id [26]byte
	for i := 0; i < len(id); i += 13 {
		for j, bits := 0, rand.Uint64(); j < 13; j++ {
			id[i+j] = letters[bits&31]
			bits >>= 5
		}
	}
	return string(id[:])
}

func fits(id string) bool {
	return id != "" && len(id) <= 64 && !strings.ContainsFunc(id, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("._-", c)
	})
}
