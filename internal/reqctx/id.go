package reqctx

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
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
	v := new(Visit)
	return BeginIn(v, w, r), v
}

// BeginIn is Begin of a request that has no Visit yet. The Visit is in memory of the caller's: with what
// else it keeps of this one request, both are one allocation.
func BeginIn(v *Visit, w http.ResponseWriter, r *http.Request) *http.Request {
	v.Context, v.Began, v.RequestID = r.Context(), time.Now(), idOf(r.Header)
	given := r.Header[Header]
	v.Given = len(given) == 1 && given[0] == v.RequestID
	v.id[0] = v.RequestID
	r.Header[Header] = v.id[:]
	w.Header()[Header] = v.id[:]
	return r.WithContext(v)
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
// generator that needs no lock and no system call. Ids are drawn some at a time, and are parts of one
// text: one by one, they would be an allocation each.
func draw() string {
	d := pool.Get().(*drawn)
	defer pool.Put(d)
	if d.left == "" {
		d.left = drawSome()
	}
	id := d.left[:idSize]
	d.left = d.left[idSize:]
	return id
}

const idSize, some = 26, 32

// drawn holds ids that nobody has yet.
type drawn struct{ left string }

var pool = sync.Pool{New: func() any { return new(drawn) }}

func drawSome() string {
	const letters = "abcdefghijklmnopqrstuvwxyz234567"
	var ids [some * idSize]byte
	for i := 0; i < len(ids); i += 13 {
		for j, bits := 0, rand.Uint64(); j < 13; j++ {
			ids[i+j] = letters[bits&31]
			bits >>= 5
		}
	}
	return string(ids[:])
}

func fits(id string) bool {
	return id != "" && len(id) <= 64 && !strings.ContainsFunc(id, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("._-", c)
	})
}
