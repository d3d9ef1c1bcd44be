package ui

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/keystile/keystile/gateway/console/internal/stash"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/consoleauth"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/reply"
)

// Root is the address of the console, and of everything below it.
const Root = "/console/"

// SignIn asks for a sign-in.
type SignIn interface {
	// AskFor answers with the sign-in page, from which the visitor comes back to a path of the
	// console with its query.
	AskFor(w http.ResponseWriter, r *http.Request, path string) error
}

// Forms keeps a form while its sender signs in again.
type Forms interface {
	// KeepForm answers a form, whose body this is and which was shown in a session, with the page that asks who sent it
	// to confirm that it is they, and says what it does. Then they send it to the same address once more.
	KeepForm(w http.ResponseWriter, r *http.Request, session string, body []byte, what string, fields [][2]string) error
	// KeptForm puts a form into the request that names it, uses it up, and returns the session that it was shown in;
	// "" if the request names none.
	KeptForm(w http.ResponseWriter, r *http.Request) (session string, err error)
}

// Config holds what New needs.
type Config struct {
	Programs *consoleauth.Guard // of the endpoints
	People   *consoleauth.Guard // of the pages: it takes forms
	Tickets  Tickets
	SignIn   SignIn // nil: visitors who are not signed in are refused
	Forms    Forms  // nil: what is typed is not kept
	Names    *Names
	Stash    *stash.Stash // keeps what a page says once, until the browser asks for it
	Name     string       // of the service, in the header; "": Keystile
	MCP      string       // the address of the MCP server that agents connect to; "": there is none
	Log      *slog.Logger
}

// Server routes the parts of the console.
type Server struct {
	c     Config
	pages []Page
	texts Texts
	// what parts say of errors, made when one is told
	problems func() []problem
	apis     []reply.Route
	mux      *reply.Mux
}

// New makes a Server of parts, whose pages are in the navigation in their order.
func New(c Config, parts ...Part) *Server {
	s := &Server{c: c, texts: FrameTexts()}
	var routes []reply.Route
	for _, p := range parts {
		maps.Copy(s.texts, p.Texts)
		for _, one := range p.Pages {
			one.texts = p.Texts
			s.pages = append(s.pages, one)
		}
		for _, a := range p.APIs {
			s.apis = append(s.apis, s.apiRoute(a))
		}
	}
	s.problems = sync.OnceValue(func() []problem { return problemsOf(s.texts) })
	routes = append(routes, s.apis...)
	for _, p := range s.pages {
		routes = append(routes, s.pageRoute(p))
	}
	for name, f := range files() {
		routes = append(routes, reply.Route{Path: Root + name, Methods: []string{"GET", "HEAD"}, Handle: f.serve})
	}
	s.mux = reply.NewMux(c.Log, routes...)
	s.mux.Unknown = func(r *http.Request) reply.FailFunc {
		if strings.HasPrefix(r.URL.Path, Root) {
			return s.unknown
		}
		return nil
	}
	return s
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Patterns returns the patterns that are served.
func (s *Server) Patterns() []string { return s.mux.Patterns() }

// APIs returns the routes of the endpoints, without the pages.
func (s *Server) APIs() []reply.Route { return slices.Clone(s.apis) }

// Names returns the first part of each endpoint's path below /api/console/, such as apps.
func (s *Server) Names() (all []string) {
	for _, pattern := range s.Patterns() {
		if rest, ok := strings.CutPrefix(pattern, "/api/console/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// apiRoute makes the route of an endpoint. Every change takes a fresh sign-in: nearly all must, and
// the fields of a body are not known before it is read.
func (s *Server) apiRoute(a API) reply.Route {
	methods := slices.Collect(maps.Keys(a.Methods))
	methods = slices.AppendSeq(methods, maps.Keys(a.Raw))
	slices.SortFunc(methods, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
	if slices.Contains(methods, http.MethodGet) {
		methods = append(methods, http.MethodHead)
	}
	return reply.Route{Path: a.Path, Methods: methods, Handle: func(w http.ResponseWriter, r *http.Request) error {
		method, checks := r.Method, a.May
		if method == http.MethodHead {
			method = http.MethodGet
		}
		if method != http.MethodGet {
			if a.Changes != nil {
				checks = slices.Clone(a.Changes)
			}
			checks = append(checks, admin.Actor.Fresh)
		}
		who, err := passes(s.c.Programs, a.Owned)(r, checks...)
		if err != nil {
			return err
		}
		if raw := a.Raw[method]; raw != nil {
			return raw(w, r, who)
		}
		record, err := a.Methods[method](w, r, who)
		if err != nil {
			return err
		}
		return reply.Success(w, record)
	}}
}

// passes returns who decides about a request.
func passes(g *consoleauth.Guard, owned bool) func(*http.Request, ...consoleauth.Check) (admin.Actor, error) {
	if owned {
		return g.Owner
	}
	return g.Actor
}

// order is that of the Allow header.
var order = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}

// pageRoute makes the route of a page.
func (s *Server) pageRoute(p Page) reply.Route {
	var methods []string
	if p.Get != nil {
		methods = []string{"GET", "HEAD"}
	}
	if len(p.Acts) > 0 {
		methods = append(methods, "POST")
	}
	return reply.Route{Path: p.Path, Methods: methods, Fail: s.fail,
		Handle: func(w http.ResponseWriter, r *http.Request) error {
			who, err := passes(s.c.People, p.Owned)(r, p.May...)
			post, unproved := r.Method == http.MethodPost, errors.Is(err, admin.FactorFirst)
			if s.c.SignIn != nil && (errors.Is(err, consoleauth.NotSignedIn) || unproved && !post) {
				return s.c.SignIn.AskFor(w, r, p.back(r))
			}
			switch {
			case err != nil && !(unproved && post): // the form tells what is to be kept
				return err
			case post:
				return s.act(w, r, p, who)
			}
			v := s.view(r, p, who)
			if shown, err := s.once(w, r, v); shown || err != nil {
				return err
			}
			return s.show(w, r, p, v, http.StatusOK)
		}}
}

// show answers with a page.
func (s *Server) show(w http.ResponseWriter, r *http.Request, p Page, v *View, status int) (err error) {
	v.Data, err = p.Get(w, r, v.Actor)
	m := (*Mistyped)(nil)
	switch {
	case errors.As(err, &m) && v.Data != nil:
		if v.Alert == "" {
			v.Alert, v.wrong, status = v.Says(m.Msg), m.Field, m.Status
		}
	case err != nil:
		return err
	}
	return s.render(w, r, status, p, p.Template, v)
}

// fail answers with a page that says what is wrong, in the frame of the console if its reader is known.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, f *reply.Failure) {
	title := "This request cannot go on"
	if f.Status == http.StatusNotFound {
		title = "Not found"
	}
	s.failAs(w, r, f, title, f.Msg)
}

// unknown answers a request for a page that there is not, which says all there is to say.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request, f *reply.Failure) {
	s.failAs(w, r, f, "There is no such page", "")
}

// failAs is fail with a title, and what is wrong; "": the title says it.
func (s *Server) failAs(w http.ResponseWriter, r *http.Request, f *reply.Failure, title, says string) {
	reading := r.WithContext(context.WithoutCancel(r.Context()))
	reading.Method = http.MethodGet
	who, err := s.c.People.Owner(reading)
	if err != nil {
		page.Fail(w, r, f.Status, title, f.Msg)
		return
	}
	v := s.view(r, Page{Title: title}, who)
	v.Alert = v.Says(says)
	if s.render(w, r, f.Status, Page{}, failPage, v) != nil {
		page.Fail(w, r, f.Status, title, f.Msg)
	}
}
