// Package router hands requests to handlers by the beginnings of their paths.
package router

import (
	"net/http"
	"slices"
	"strings"
)

// Router hands a request to the handler with the longest pattern that fits its path. A pattern
// that ends in a slash fits the path before it and all below it. Paths are taken as they come:
// nothing is cleaned or redirected, so that handlers answer what is no path of theirs in a form
// their clients read.
type Router struct {
	Unknown http.Handler // answers what fits no pattern; nil: http.NotFound

	routes []route                 // longest first
	exact  map[string]http.Handler // by the whole path: nothing longer can fit
}

type route struct {
	path    string // without the slash at the end
	below   bool   // fits what is below too
	handler http.Handler
}

// Handle adds a route. It is for before the Router serves.
func (m *Router) Handle(pattern string, handler http.Handler) {
	path, below := strings.CutSuffix(pattern, "/")
	if m.exact == nil {
		m.exact = map[string]http.Handler{}
	}
	if m.exact[path] == nil {
		m.exact[path] = handler
	}
	m.routes = append(m.routes, route{path, below, handler})
	slices.SortStableFunc(m.routes, func(a, b route) int { return len(b.path) - len(a.path) })
}

func (m *Router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := m.exact[r.URL.Path]
	for i := 0; h == nil && i < len(m.routes); i++ {
		if m.routes[i].fits(r.URL.Path) {
			h = m.routes[i].handler
		}
	}
	if h == nil {
		h = m.Unknown
	}
	if h == nil {
		h = http.HandlerFunc(http.NotFound)
	}
	h.ServeHTTP(w, r)
}

// Patterns returns the paths that the handlers serve; of one that does not tell, its own pattern.
func (m *Router) Patterns() (all []string) {
	for _, route := range m.routes {
		if known, ok := route.handler.(interface{ Patterns() []string }); ok {
			all = append(all, known.Patterns()...)
		} else {
			all = append(all, route.path)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// fits reports whether a path lies below the route.
func (r route) fits(path string) bool {
	rest, ok := strings.CutPrefix(path, r.path)
	return ok && r.below && rest != "" && rest[0] == '/'
}
