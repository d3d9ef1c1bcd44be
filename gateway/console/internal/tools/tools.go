package tools

import (
	"context"
	"embed"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/keystile/keystile/gateway/console/internal/stash"
	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/toolacts"
	"github.com/keystile/keystile/internal/consoleauth"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

//go:embed *.html
var pages embed.FS

// Registry registers capabilities; registry.Forms does.
type Registry interface {
	BeginReading(ctx context.Context, actor string) (_ context.Context, leave func(), err error)
	PreviewBody(ctx context.Context, actor storage.User,
		body []byte) (storage.Capability, []toolplan.Tool, []string, error)
	RegisterBody(ctx context.Context, actor storage.User, body []byte) (_ storage.Capability, removed, advice []string,
		err error)
	FetchDocument(ctx context.Context, actor storage.User, address string) ([]byte, error)
	UpdateBody(ctx context.Context, actor storage.User, member string, body []byte) (storage.Capability, []string,
		error)
	SetPublished(ctx context.Context, actor storage.User, member string, on bool) (storage.Capability, error)
	PinsBody(ctx context.Context, actor storage.User, member string) (json.RawMessage, error)
	AcceptBody(ctx context.Context, actor storage.User, member string, body []byte) error
	Remove(ctx context.Context, actor storage.User, member string) error
}

// Bus calls tools; *mcpbus.Bus does.
type Bus interface {
	CallFor(r *http.Request, caller storage.Caller, name string, arguments json.RawMessage) (json.RawMessage, error)
	ToolsOf(member string) []toolplan.Tool
	WhyUnlisted(member string) string
}

// Config holds what New needs.
type Config struct {
	BaseURL  string
	Store    *storage.Store
	Registry Registry // nil: capabilities are not shown
	Bus      Bus      // nil: tools are not called
	Acts     *toolacts.Acts
	Sample   bool         // a sample is offered
	Stash    *stash.Stash // keeps documents between a preview and a registration
}

// Tools is this part of the console.
type Tools struct{ c Config }

// New makes a Tools.
func New(c Config) *Tools { return &Tools{c} }

var (
	// protocol 7
	noCapability = &reply.Failure{Status: 404, Msg: "no such capability: see the list for the names there are"}
	// protocol 7
	noTool = &reply.Failure{Status: 404, Msg: "this capability has no such tool"}
	// decision 30
	notOnBus = &reply.Failure{Status: 409, Msg: "this capability is not on the bus: publish it, then call its tools"}
	// protocol 7
	noDelivery = &reply.Failure{Status: 404, Msg: "no such delivery: it was delivered, or has expired"}
)

// Part returns the endpoints and pages.
func (t *Tools) Part() ui.Part {
	if t.c.Registry == nil {
		return ui.Part{Texts: allTexts()}
	}
	type by = map[string]ui.Action
	developer := []consoleauth.Check{admin.Actor.Developer}
	const page, one = "/console/capabilities", "/console/capabilities/{member}"
	part := ui.Part{Texts: allTexts()}
	part.APIs = []ui.API{
		{Path: "/api/console/deliveries/{member}", Methods: by{"GET": t.deliveries}},
		{Path: "/api/console/deliveries/{member}/{id}/resend", Methods: by{"POST": t.resend}},
	}
	part.Pages = []ui.Page{
		{Path: page, Title: "Tools", Section: "MCP server", Get: t.list, Template: listPage, Names: owners},
		{Path: page + "/new", Title: "Import an API", May: developer, Get: t.draft, Template: newPage, MaxForm: maxDocument,
			Begin: t.c.Registry.BeginReading, Acts: map[string]ui.Act{
				"preview": {Do: t.preview, Stale: true, Result: newPage, Again: true, To: toSlot,
					Done: "This is what would be registered. Nothing is yet."},
				"register": {Says: "Register an API", Do: t.register, Tells: tells, To: toTools},
			}},
		{Path: one, Title: "API", Get: t.show, Template: showPage, Tabs: ui.ToolTabs, Names: owners,
			Acts: map[string]ui.Act{
				"publish": {Says: "Put an API on the MCP server", Do: t.publish(true), Done: "The API is on the MCP server."},
			}},
		{Path: one + "/tools", Title: "Tools of an API", Get: t.show, Template: listedPage, Tabs: ui.ToolTabs},
		{Path: one + "/edit", Title: "Settings of an API", May: developer, Get: t.edit, Template: editPage,
			Tabs: ui.ToolTabs, MaxForm: 256 << 10, Acts: map[string]ui.Act{
				"update": {Says: "Change an API", Do: t.update, Done: "The API is changed."},
			}},
		{Path: one + "/danger", Title: "Take off or delete an API", May: developer, Get: t.danger, Template: dangerPage,
			Tabs: ui.ToolTabs, Acts: map[string]ui.Act{
				"pause": {Says: "Take an API off the MCP server", Do: t.publish(false), Done: "The API is off the MCP server."},
				"delete": {Says: "Delete an API", Do: t.remove, Fields: map[string]ui.Kind{"confirm": ui.Text},
					Done: "The API is deleted.", To: func(any, string) string { return page }},
			}},
		{Path: one + "/pins", Title: "Changes of the upstream", May: []consoleauth.Check{admin.Actor.Writer},
			Get: t.pins, Template: pinsPage, Tabs: ui.ToolTabs, Acts: map[string]ui.Act{
				"accept": {Says: "Accept tools that an upstream has changed", Do: t.accept,
					Fields: map[string]ui.Kind{"accept": ui.Choices, "digest": ui.Text},
					Done:   "The tools are accepted."},
				"all": {Says: "Accept tools that an upstream has changed", Do: t.acceptAll,
					Fields: map[string]ui.Kind{"digest": ui.Text}, Done: "The tools are accepted."},
			}},
		{Path: one + "/deliveries", Title: "Activity of an API", Get: t.deliveries, Template: deliveriesPage,
			Tabs: ui.ToolTabs, Acts: map[string]ui.Act{
				"resend": {Says: "Send a webhook once more", Do: t.resend, Fields: map[string]ui.Kind{"id": ui.Text},
					Done: "It will be sent again in a moment."},
			}},
	}
	if t.c.Bus != nil {
		part.APIs = append(part.APIs, ui.API{Path: "/api/console/tools/{member}/{tool}/call",
			Methods: by{"POST": t.callJSON}})
		part.Pages = append(part.Pages, ui.Page{
			Path: one + "/tools/{tool}", Title: "Tool", Get: t.showTool, Template: toolPage, Tabs: ui.ToolTabs,
			MaxForm: 4 << 20, Acts: map[string]ui.Act{"call": {Says: "Call a tool", Do: t.callForm, Result: toolPage}},
		})
	}
	return part
}

// toTools leads to the tools of what was registered.
func toTools(result any, _ string) string {
	return "/console/capabilities/" + result.(registration).Member + "/tools"
}

// toSlot leads to the address that shows the preview of a form: one for each document that is kept.
func toSlot(result any, path string) string {
	d := result.(draft)
	if d.Kept == nil {
		return path
	}
	slot, _, _ := strings.Cut(d.Kept.Ref, ".")
	return path + "?form=" + slot
}

// owners names those of capabilities.
func owners(data any) (_, users []string) {
	switch data := data.(type) {
	case capability:
		users = append(users, data.Owner)
	case listed:
		for _, one := range data.Lines {
			users = append(users, one.Owner)
		}
	}
	return nil, users
}

var (
	listPage       = ui.Parse(pages, "list.html")
	newPage        = ui.Parse(pages, "new.html")
	showPage       = ui.Parse(pages, "show.html")
	editPage       = ui.Parse(pages, "edit.html")
	toolPage       = ui.Parse(pages, "tool.html")
	listedPage     = ui.Parse(pages, "listed.html")
	dangerPage     = ui.Parse(pages, "danger.html")
	pinsPage       = ui.Parse(pages, "pins.html")
	deliveriesPage = ui.Parse(pages, "deliveries.html")
)
