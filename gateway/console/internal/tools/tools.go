package tools

import (
	"context"
	"embed"
	"encoding/json"
	"net/http"

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
	RegisterBody(ctx context.Context, actor storage.User, body []byte) (storage.Capability, []string, error)
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
		return ui.Part{Texts: texts}
	}
	type by = map[string]ui.Action
	developer := []consoleauth.Check{admin.Actor.Developer}
	const page, one = "/console/capabilities", "/console/capabilities/{member}"
	part := ui.Part{Texts: texts}
	part.APIs = []ui.API{
		{Path: "/api/console/deliveries/{member}", Methods: by{"GET": t.deliveries}},
		{Path: "/api/console/deliveries/{member}/{id}/resend", Methods: by{"POST": t.resend}},
	}
	part.Pages = []ui.Page{
		{Path: page, Title: "Capabilities", Section: "Tools", Get: t.list, Template: listPage},
		{Path: page + "/new", Title: "New capability", May: developer, Get: t.draft, Template: newPage, MaxForm: maxDocument,
			Begin: t.c.Registry.BeginReading, Acts: map[string]ui.Act{
				"preview": {Do: t.preview, Stale: true, Result: newPage,
					Done: "This is what would be stored. Nothing is stored yet."},
				"register": {Says: "Register a capability", Do: t.register, Done: "The capability is registered.", To: toMember},
			}},
		{Path: one, Title: "Capability", Get: t.show, Template: showPage, Acts: map[string]ui.Act{
			"register": {Do: t.stays, Stale: true, Done: "The capability is registered."},
			"publish":  {Says: "Put a capability on the bus", Do: t.publish(true), Done: "The capability is on the bus."},
			"pause":    {Says: "Take a capability off the bus", Do: t.publish(false), Done: "The capability is off the bus."},
			"delete": {Says: "Delete a capability", Do: t.remove, Done: "The capability is deleted.",
				To: func(any, string) string { return page }},
		}},
		{Path: one + "/edit", Title: "Edit capability", May: developer, Get: t.edit, Template: editPage,
			MaxForm: 256 << 10, Acts: map[string]ui.Act{
				"update": {Says: "Change a capability", Do: t.update, Done: "The capability is changed."},
			}},
		{Path: one + "/pins", Title: "Changes of the upstream", May: []consoleauth.Check{admin.Actor.Writer},
			Get: t.pins, Template: pinsPage, Acts: map[string]ui.Act{
				"accept": {Says: "Accept tools that an upstream has changed", Do: t.accept,
					Fields: map[string]ui.Kind{"accept": ui.Choices, "digest": ui.Text},
					Done:   "The tools are accepted."},
				"all": {Says: "Accept tools that an upstream has changed", Do: t.acceptAll,
					Fields: map[string]ui.Kind{"digest": ui.Text}, Done: "The tools are accepted."},
			}},
		{Path: one + "/deliveries", Title: "Webhook deliveries", Get: t.deliveries, Template: deliveriesPage,
			Acts: map[string]ui.Act{
				"resend": {Says: "Send a webhook once more", Do: t.resend, Fields: map[string]ui.Kind{"id": ui.Text},
					Done: "It will be sent again in a moment."},
			}},
	}
	if t.c.Bus != nil {
		part.APIs = append(part.APIs, ui.API{Path: "/api/console/tools/{member}/{tool}/call",
			Methods: by{"POST": t.callJSON}})
		part.Pages = append(part.Pages, ui.Page{
			Path: one + "/tools/{tool}", Title: "Tool", Get: t.showTool, Template: toolPage, MaxForm: 4 << 20,
			Acts: map[string]ui.Act{"call": {Says: "Call a tool", Do: t.callForm, Result: toolPage}},
		})
	}
	return part
}

// toMember leads to the page of what was registered.
func toMember(result any, _ string) string {
	return "/console/capabilities/" + result.(line).Member
}

// stays stands where an act of another page leads to this one: it changes nothing, and is for
// writers.
func (t *Tools) stays(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	_, err := t.own(r, who)
	return nil, err
}

var (
	listPage       = ui.Parse(pages, "list.html")
	newPage        = ui.Parse(pages, "new.html")
	showPage       = ui.Parse(pages, "show.html")
	editPage       = ui.Parse(pages, "edit.html")
	toolPage       = ui.Parse(pages, "tool.html")
	pinsPage       = ui.Parse(pages, "pins.html")
	deliveriesPage = ui.Parse(pages, "deliveries.html")
)
