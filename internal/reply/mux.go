package reply

import (
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// HandlerFunc reads a request, acts, and writes an answer or returns why not.
type HandlerFunc func(http.ResponseWriter, *http.Request) error

// Route is one line of a package's route table.
type Route struct {
	Path    string
	Methods []string // HEAD only where it is listed; nil: every method there is
	Handle  HandlerFunc
	Fail    FailFunc // nil: JSON. Set it where a person reads the answer
}

// Mux serves a route table.
type Mux struct {
	Unknown func(*http.Request) FailFunc // how a path is answered that no route has; nil: as JSON

	mux      *http.ServeMux
	fixed    map[string]http.Handler // by path: routes without wildcards, which ServeMux would find more slowly
	log      *slog.Logger
	patterns []string
}

// NewMux makes a Mux; the home page, if there is one, is the path "/{$}". A nil log is slog.Default().
func NewMux(log *slog.Logger, routes ...Route) *Mux {
	if log == nil {
		log = slog.Default()
	}
	m := &Mux{mux: http.NewServeMux(), fixed: map[string]http.Handler{}, log: log}
	m.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { m.unknown(w, r) })
	for _, route := range routes {
		h := m.serve(route)
		m.mux.Handle(route.Path, h)
		if strings.HasPrefix(route.Path, "/") && !strings.HasSuffix(route.Path, "/") && !strings.Contains(route.Path, "{") &&
			clean(route.Path) {
			m.fixed[route.Path] = h // nothing is more specific (net/http, Precedence)
		}
		m.patterns = append(m.patterns, route.Path)
	}
	return m
}

// Patterns returns the paths of the route table, as http.ServeMux writes them.
func (m *Mux) Patterns() []string { return slices.Clone(m.patterns) }

func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := m.fixed[r.URL.Path]; h != nil && r.URL.RawPath == "" { // else what is escaped may be a slash
		r.Pattern = r.URL.Path // as ServeMux sets it
		h.ServeHTTP(w, r)
		return
	}
	if !clean(r.URL.Path) {
		m.unknown(w, r)
		return
	}
	m.mux.ServeHTTP(w, r)
}

func (m *Mux) unknown(w http.ResponseWriter, r *http.Request) {
	var route Route
	if m.Unknown != nil {
		route.Fail = m.Unknown(r)
	}
	m.fail(w, r, route, notFound)
}

// clean reports whether ServeMux would serve the path as it is, without a redirect.
func clean(p string) bool {
	return p == "/" || strings.HasPrefix(p, "/") && path.Clean(p) == strings.TrimSuffix(p, "/")
}

func (m *Mux) serve(route Route) http.Handler {
	allow := strings.Join(route.Methods, ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer m.recover(w, r, route)
		if route.Methods != nil && !slices.Contains(route.Methods, r.Method) {
			m.fail(w, r, Route{}, notAllowed.With("Allow", allow)) // JSON everywhere
			return
		}
		if err := route.Handle(w, r); err != nil {
			m.fail(w, r, route, err)
		}
	})
}

func (m *Mux) fail(w http.ResponseWriter, r *http.Request, route Route, err error) {
	Fail(m.log, w, r, err, route.Fail)
}

// FailFunc writes a failure; its headers are set already.
type FailFunc func(http.ResponseWriter, *http.Request, *Failure)

// Fail writes a failure and logs it if it is a 5xx. A nil write means JSON.
func Fail(log *slog.Logger, w http.ResponseWriter, r *http.Request, err error, write FailFunc) {
	f := FailureOf(err)
	note(log, r, f, err)
	Route{Fail: write}.write(w, r, f)
}

// note logs a failure that is the operator's business.
func note(log *slog.Logger, r *http.Request, f *Failure, err error) {
	switch {
	case f.Status < 500 || r.Context().Err() != nil:
	case f.Crowd == nil:
		log.ErrorContext(r.Context(), "request failed", "status", f.Status, "method", r.Method, "path", r.URL.Path, "err",
			err)
	default:
		if n := f.Crowd.one(time.Now()); n > 0 {
			log.WarnContext(r.Context(), "more is asked for than can be done", "refused", n, "status", f.Status, "method",
				r.Method, "path", r.URL.Path, "err", err)
		}
	}
}

func (route Route) write(w http.ResponseWriter, r *http.Request, f *Failure) {
	if route.Fail == nil {
		writeFailure(w, f)
		return
	}
	copyHeader(w, f)
	route.Fail(w, r, f)
}

// recover turns a panic into a 500: one broken request must not end the others.
func (m *Mux) recover(w http.ResponseWriter, r *http.Request, route Route) {
	switch p := recover(); p {
	case nil:
	case http.ErrAbortHandler:
		panic(p)
	default:
		m.log.ErrorContext(r.Context(), "panic", "path", r.URL.Path, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		route.write(w, r, broken)
	}
}
