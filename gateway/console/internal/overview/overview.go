package overview

import (
	"context"
	"embed"
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/console/internal/system"
	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/gateway/usage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
)

// Config holds what New needs. Beside Store each may be nil: then its part is left out.
type Config struct {
	Store       *storage.Store
	Reader      *usage.Reader
	Nodes       system.Nodes
	Keys        system.Keys
	Vitals      func(ctx context.Context) []system.Vital
	WhyUnlisted func(member string) string // why a published capability is not on the bus; nil: there are none
	// FactorsPath is the page of second factors, which administrators who sign in with one alone are urged to.
	FactorsPath string
	// Unlisted names tools that everybody may use because no list says otherwise, the first n, and counts them;
	// nil: there are no tools.
	Unlisted func(n int) (names []string, count int)
	// Strangers reports whether somebody may be a user, or become one, whom no operator has made. It goes with
	// Unlisted.
	Strangers func(ctx context.Context) bool
	Agents    bool // there is an MCP server, which agents connect to
	Invites   bool // the console makes users
	Elsewhere bool // the users are a host's own, and not counted here
}

// Overview is this part of the console.
type Overview struct {
	c       Config
	summary summaryCache
}

// New makes an Overview.
func New(c Config) *Overview {
	return &Overview{c: c, summary: summaryCache{turn: make(chan struct{}, 1)}}
}

//go:embed *.html
var pages embed.FS

var overviewPage = ui.Parse(pages, "overview.html")

// Part returns the endpoint and the page.
func (s *Overview) Part() ui.Part {
	return ui.Part{
		APIs: []ui.API{{Path: "/api/console/overview", Owned: true, Methods: map[string]ui.Action{"GET": s.show}}},
		Pages: []ui.Page{{Path: ui.Root + "{$}", Title: "Overview", Section: "Console", Owned: true, Get: s.page,
			Template: overviewPage}},
		Texts: texts,
	}
}

// record shows what the reader sees first.
type record struct {
	At      string   `json:"at"`
	Service *service `json:"service"` // null: the reader sees their own alone
	Own     *own     `json:"own"`     // null: the reader sees the whole service
	Todo    []todo   `json:"todo"`    // what needs the reader, at most 20
	Missing bool     `json:"missing"` // something could not be read
	Steps   []step   `json:"steps"`   // the first ones; none once all of them are done

	Away bool `json:"-"` // its reader has put the steps away
}

// show serves GET /api/console/overview.
func (s *Overview) show(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	now := time.Now().UTC()
	out := record{At: now.Format(adminapi.ISO8601), Todo: []todo{}, Steps: []step{}}
	var err error
	if who.Reader() == nil {
		err = s.service(r.Context(), now, who, &out)
	} else {
		err = s.own(r.Context(), now, who, &out)
	}
	if s.c.FactorsPath != "" && who.Role == storage.RoleAdmin && !who.Multifactor {
		out.Todo = append([]todo{{Kind: "factor", Path: s.c.FactorsPath}}, out.Todo...)
	}
	out.Todo = out.Todo[:min(len(out.Todo), maxTodo)]
	out.Steps = s.finished(out.Steps, who)
	return out, err
}
