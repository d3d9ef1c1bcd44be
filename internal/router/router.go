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
	routes []route // longest first
}

type route struct {
	path    string // without the slash at the end
	below   bool   // fits what is below too
	handler http.Handler
}

// Handle adds a route. It is for before the Router serves.
func (m *Router) Handle(pattern string, handler http.Handler) {
	path, below := strings.CutSuffix(pattern, "/")
	m.routes = append(m.routes, route{path, below, handler})
	slices.SortStableFunc(m.routes, func(a, b route) int { return len(b.path) - len(a.path) })
}

func (m *Router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, route := range m.routes {
		if route.fits(r.URL.Path) {
			route.handler.ServeHTTP(w, r)
			return
		}
	}
	http.NotFound(w, r)
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

func (r route) fits(path string) bool {
	rest, ok := strings.CutPrefix(path, r.path)
	return ok && (rest == "" || r.below && rest[0] == '/')
}
