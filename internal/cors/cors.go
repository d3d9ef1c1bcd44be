// Package cors writes the headers that let pages of other origins read an answer (the CORS
// protocol, Fetch 3.2).
//
// # Choices
//
// Every header has values of its own. A value that answers shared could be written into by a
// handler in the same program, and would then be wrong in all later answers everywhere.
//
// The package github.com/jub0bs/cors was measured and left out: it adds two allocations and
// about 400 ns to each call, where values in memory of the request's context add nothing. It
// answers a preflight that it refuses with a 403, and others with the one method that was asked
// for; here each is a 204 that browsers keep for all methods. It brings golang.org/x/net and the
// list of public suffixes into a program that imports the gateway alone. And the origins of
// check_sso are those of an application, which are known with the request only.
package cors

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/origin"
	"github.com/keystile/keystile/internal/urlpath"
)

// Config says which paths which pages may read. A path that ends in a slash names all below it.
type Config struct {
	Open    []string // answer every origin, without credentials
	Shared  []string // answer the Origins, with credentials
	Origins []string
}

// Policy writes the headers of answers, as a Config says.
type Policy struct {
	open, shared *urlpath.Set
	origins      []string
}

// Room holds the values of the headers that an open path has in most answers, so that they are
// no allocation of their own. It belongs to one request.
type Room [2]string

// New returns the Policy of a Config, or everything that is wrong with it.
func New(c Config) (*Policy, error) {
	var errs []error
	for _, o := range c.Origins {
		errs = append(errs, origin.CheckPage("CORS.Origins", o))
	}
	for _, list := range []struct {
		name  string
		paths []string
	}{{"CORS.Open", c.Open}, {"CORS.Shared", c.Shared}} {
		for _, path := range list.paths {
			if !strings.HasPrefix(path, "/") {
				errs = append(errs, fmt.Errorf("%s: %q is not a path: begin it with a slash", list.name, path))
			}
		}
	}
	return &Policy{urlpath.NewSet(c.Open), urlpath.NewSet(c.Shared), slices.Clone(c.Origins)}, errors.Join(errs...)
}

// sharedExposed are the headers of an answer that a listed page may read beside the usual ones.
const sharedExposed = "Retry-After, RateLimit, RateLimit-Policy, X-Request-Id"

// IsPreflight reports whether a request is a preflight that is answered here.
func (p *Policy) IsPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header["Origin"] != nil &&
		r.Header["Access-Control-Request-Method"] != nil &&
		(p.open.Covers(r.URL.Path) || p.shared.Covers(r.URL.Path))
}

// Preflight answers a preflight with a 204. It comes before everything that counts or refuses:
// a browser sends no token with one. An origin that is not listed gets no headers, so that its
// browser refuses the page.
func (p *Policy) Preflight(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if p.open.Covers(r.URL.Path) {
		h["Access-Control-Allow-Origin"] = []string{"*"}
		allow(h, "*, Authorization") // the star does not cover Authorization (Fetch 3.2.3)
	} else {
		Vary(h, "Origin")
		h["Cache-Control"] = []string{"no-store"}
		if page := p.listed(r); page != "" {
			Allow(h, page)
			allow(h, "Content-Type, X-Request-Id")
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

func allow(h http.Header, headers string) {
	h["Access-Control-Allow-Methods"] = []string{"GET, HEAD, POST, PUT, PATCH, DELETE"}
	h["Access-Control-Allow-Headers"] = []string{headers}
	h["Access-Control-Max-Age"] = []string{"7200"} // two hours
}

// Headers writes the headers of an answer that is no preflight's, before it is known: a browser
// shows its page nothing of an answer without them, not even why it was refused.
func (p *Policy) Headers(h http.Header, r *http.Request, values *Room) {
	switch path := r.URL.Path; {
	case p.open.Covers(path):
		values[0], values[1] = "*", "*"
		h["Access-Control-Allow-Origin"] = values[0:1:1]
		h["Access-Control-Expose-Headers"] = values[1:2:2]
	case p.shared.Covers(path):
		Vary(h, "Origin")
		if page := p.listed(r); page != "" {
			Allow(h, page)
			h["Access-Control-Expose-Headers"] = []string{sharedExposed}
		}
	}
}

// listed returns the origin of a request if it is one of the Origins. Two lines are one too many.
func (p *Policy) listed(r *http.Request) string {
	if o := r.Header["Origin"]; len(o) == 1 && slices.Contains(p.origins, o[0]) {
		return o[0]
	}
	return ""
}

// Allow lets the pages of one origin read an answer that was asked for with credentials.
func Allow(h http.Header, page string) {
	h["Access-Control-Allow-Origin"] = []string{page}
	h["Access-Control-Allow-Credentials"] = []string{"true"}
}

// Vary says that an answer depends on request headers, besides those that are named already. It
// leaves one line.
func Vary(h http.Header, names string) {
	if there := h["Vary"]; len(there) > 0 {
		names = strings.Join(there, ", ") + ", " + names
	}
	h["Vary"] = []string{names}
}

// Spoke reports whether it has been said which pages may read an answer.
func Spoke(h http.Header) bool {
	if h["Access-Control-Allow-Origin"] != nil {
		return true
	}
	for _, line := range h["Vary"] {
		for name := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(name), "Origin") {
				return true
			}
		}
	}
	return false
}
