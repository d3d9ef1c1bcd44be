package command

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/demo"
	"github.com/keystile/keystile/internal/apidoc"
	"github.com/keystile/keystile/internal/landing"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
)

// rootHandler answers what no other package does: the page at /, the document of all endpoints, and
// whether the service is well. Any other path is answered 404 here.
type rootHandler struct {
	base     string
	document apidoc.Document
	links    []landing.Link
	store    store
}

// store says whether it can be served from; *dataStore does.
type store interface {
	Ready(ctx context.Context) error
}

func newRootHandler(c *config.Config, base string, document apidoc.Document, store store,
	log *slog.Logger) http.Handler {
	l := rootHandler{base: base, document: document, store: store}
	link := func(name, label, path string) {
		l.links = append(l.links, landing.Link{Name: name, Label: label, URL: base + path})
	}
	if c.Demo {
		link("demo", "Try the demo", demo.Path)
	}
	link("sign_in", "Sign in", "/oauth/signin")
	link("console", "Console", "/console/")
	link("discovery", "Discovery document", "/.well-known/openid-configuration")
	link("openapi", "All endpoints, as OpenAPI", apidoc.Path)
	mux := reply.NewMux(log, l.routes()...)
	mux.Unknown = landing.NothingHere
	return mux
}

// routes returns the one table of paths.
func (l rootHandler) routes() []reply.Route {
	return append(healthRoutes(l.store), landing.Route(l.links), l.document.Route(l.base))
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
