package command

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/demo"
	"github.com/keystile/keystile/internal/apidoc"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
)

// rootHandler answers what no other package does: the page at /, the document of all endpoints, and
// whether the service is well. Any other path is answered 404 here.
type rootHandler struct {
	base     string
	document apidoc.Document
	links    []link
	store    store
}

type link struct{ name, label, url string }

// store says whether it can be served from; *dataStore does.
type store interface {
	Ready(ctx context.Context) error
}

func newRootHandler(c *config.Config, base string, document apidoc.Document, store store,
	log *slog.Logger) http.Handler {
	l := rootHandler{base: base, document: document, store: store, links: []link{
		{"sign_in", "Sign in", base + "/oauth/signin"},
		{"console", "Console", base + "/console/"},
		{"discovery", "Discovery document", base + "/.well-known/openid-configuration"},
		{"openapi", "All endpoints, as OpenAPI", base + apidoc.Path},
	}}
	if c.Demo {
		l.links = slices.Insert(l.links, 0, link{"demo", "Try the demo", base + demo.Path})
	}
	mux := reply.NewMux(log, l.routes()...)
	mux.Unknown = nothingHere
	return mux
}

// nothingHere answers a path that nobody serves: to a browser with a page.
func nothingHere(r *http.Request) reply.FailFunc {
	if !wantsPage(r) {
		return nil
	}
	return func(w http.ResponseWriter, r *http.Request, f *reply.Failure) {
		page.Fail(w, r, f.Status, "There is no such page", "Check the address.")
	}
}

func wantsPage(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

// routes returns the one table of paths.
func (l rootHandler) routes() []reply.Route {
	return append(healthRoutes(l.store), reply.Route{Path: "/{$}", Methods: read, Handle: l.index},
		l.document.Route(l.base))
}

var read = []string{http.MethodGet, http.MethodHead}

// healthRoutes say whether the service is well.
func healthRoutes(store store) []reply.Route {
	l := rootHandler{store: store}
	return []reply.Route{
		{Path: "/healthz/live", Methods: read, Handle: l.live},
		{Path: "/healthz/ready", Methods: read, Handle: l.ready},
	}
}

// index says what is here: to a browser as a page, else as JSON.
func (l rootHandler) index(w http.ResponseWriter, r *http.Request) error {
	if !wantsPage(r) {
		all := map[string]string{}
		for _, to := range l.links {
			all[to.name] = to.url
		}
		return reply.JSON(w, http.StatusOK, all)
	}
	var body strings.Builder
	body.WriteString("<h1>Keystile</h1>\n<p class=\"lead\">Sign-in, a gateway and tools for agents: one key for all of " +
		"them.</p>\n")
	for i, to := range l.links {
		class := "button quiet"
		if i == 0 {
			class = "button"
		}
		fmt.Fprintf(&body, "<p><a class=\"%s\" href=\"%s\">%s</a></p>\n", class, template.HTMLEscapeString(to.url), to.label)
	}
	look := page.Look{Lang: page.English, Title: "Keystile", Brand: page.Brand{Mark: true}}
	return page.Write(w, http.StatusOK, look, template.HTML(body.String()))
}

// live answers as long as the process does.
func (l rootHandler) live(w http.ResponseWriter, _ *http.Request) error {
	return health(w, "live")
}

// stale is the answer of a process that does not know what others have revoked and changed.
var stale = &reply.Failure{Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"1"}},
	Msg: "the feed is stale: what other processes revoke and change has not been read for too long, so no access token " +
		"is accepted"}

// wrongClock is the answer of a process on a machine whose clock is not the store's.
var wrongClock = &reply.Failure{Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"1"}},
	Msg: "the clock of this machine is too far from that of the store, which dates what is granted and ended: " +
		"set both by NTP"}

// leaving is the answer of a process that is about to stop.
var leaving = &reply.Failure{Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"1"}},
	Msg: "this process stops soon: send it no more requests"}

// ready answers 200 only while the store can be read, the last write went well and what other
// processes write is known, else 503.
func (l rootHandler) ready(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	switch err := l.store.Ready(ctx); {
	case errors.Is(err, errLeaving):
		return leaving.Because(err)
	case errors.Is(err, token.ErrStale):
		return stale.Because(err)
	case errors.Is(err, storage.ErrClock):
		return wrongClock.Because(err)
	case err != nil:
		return err
	}
	return health(w, "ready")
}

func health(w http.ResponseWriter, status string) error {
	reply.NoStore(w)
	return reply.JSON(w, http.StatusOK, map[string]string{"status": status})
}
