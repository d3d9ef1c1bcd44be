package console

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/toolplan"
)

// Registry registers capabilities; registry.Forms does.
type Registry interface {
	// BeginReading waits until a registration of a user (a sub) may be read, before its body is; leave is
	// called when it has been answered.
	BeginReading(ctx context.Context, actor string) (_ context.Context, leave func(), err error)
	// PreviewBody returns what a registration in JSON would store (protocol 4.8), and advice on it. A name and an
	// upstream URL that are left out are those that the document suggests.
	PreviewBody(ctx context.Context, actor storage.User,
		body []byte) (storage.Capability, []toolplan.Tool, []string, error)
	// RegisterBody stores it, and returns the names of the tools that it has removed, and advice. Secrets that were left
	// out stay, if they go to the same server.
	RegisterBody(ctx context.Context, actor storage.User, body []byte) (_ storage.Capability, removed, advice []string,
		err error)
	// FetchDocument reads a document at an address that a user names, from servers that may be asked for that.
	FetchDocument(ctx context.Context, actor storage.User, address string) ([]byte, error)
	// UpdateBody changes what is beside the tools of a capability, by fields in JSON, and returns what the user should
	// know of it.
	UpdateBody(ctx context.Context, actor storage.User, member string, body []byte) (storage.Capability, []string,
		error)
	// SetPublished puts a capability on the bus, or takes it off.
	SetPublished(ctx context.Context, actor storage.User, member string, on bool) (storage.Capability, error)
	// PinsBody returns what is held of a capability, as its endpoint does in JSON, and AcceptBody accepts of it what a
	// body in JSON says, by name.
	PinsBody(ctx context.Context, actor storage.User, member string) (json.RawMessage, error)
	AcceptBody(ctx context.Context, actor storage.User, member string, body []byte) error
	Remove(ctx context.Context, actor storage.User, member string) error
}

// Bus calls tools; *mcpbus.Bus does.
type Bus interface {
	// CallFor calls a tool for a caller, and returns the result of tools/call.
	CallFor(r *http.Request, caller storage.Caller, name string, arguments json.RawMessage) (json.RawMessage, error)
	// ToolsOf returns the tools of a capability that are on the bus.
	ToolsOf(member string) []toolplan.Tool
	// OpenToAll reports whether everybody may use a capability without an access list.
	OpenToAll() bool
	// OpenedBySetting returns the value of storage.SettingDefaultAccess that makes it so; storage.AccessAuto: the
	// service's configuration does.
	OpenedBySetting() string
	// Unlisted names tools that everybody may use only because no list says otherwise, the first n, and counts them.
	Unlisted(n int) (names []string, count int)
	// WhyUnlisted returns why a published capability is not on the bus, "" if it is.
	WhyUnlisted(member string) string
	// Reload makes the bus obey what is stored now.
	Reload(ctx context.Context) error
	// Explain says which tools of the bus somebody may use, n of those after a name.
	Explain(ctx context.Context, v access.Viewer, after string, n int) (all []access.Verdict, next string, err error)
}
