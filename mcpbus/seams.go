package mcpbus

import (
	"context"
	"encoding/json"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/toolplan"
)

// Store is what this room asks of storage: capabilities, their tools, and who may use them;
// *storage.Store has it.
type Store interface {
	// Capabilities returns a page of all capabilities; owner is "". Their Version changes
	// with each change of the capability or its tools.
	Capabilities(ctx context.Context, owner, from string, n int) (page []storage.Capability, next string, err error)
	// Tools returns a capability and its tools as they were written together, or
	// storage.ErrNotFound.
	Tools(ctx context.Context, member string) (storage.Capability, []toolplan.Tool, error)
	// AccessLists returns a page of all access lists, and Bundles one of all bundles. Their
	// Version changes with each change.
	AccessLists(ctx context.Context, from string, n int) (page []access.List, next string, err error)
	Bundles(ctx context.Context, from string, n int) (page []access.Bundle, next string, err error)
	// Setting returns a stored setting, "" if it is not set.
	Setting(ctx context.Context, name string) (string, error)
	// App returns an application, whose tier access lists may ask for, or an error that wraps
	// storage.ErrNotFound.
	App(ctx context.Context, id string) (storage.App, error)
}

// Invoker calls tools: by HTTP if the tool has a Call, else by its name at
// the upstream's MCP endpoint.
type Invoker interface {
	// Call checks arguments and sends them. They are a JSON object, or nil for none, sound
	// and without a name twice, and must not be kept after Call returns. Whatever the
	// upstream does is a Result; refused arguments are one with Dispatched false. An error
	// is that ctx ended, or trouble of our own.
	//
	// What is worked out of a tool may be remembered under the capability's Member and
	// Version and the tool's Name; tools without a Call change without a new Version.
	Call(ctx context.Context, c storage.Capability, t toolplan.Tool, arguments json.RawMessage) (Result, error)
}

// Meter counts calls; *gateway.Gateway does. It must not wait for the store.
type Meter interface {
	// Charge counts one call of a product (gateway.MCP) against the caller's application;
	// failed: the upstream did not do what it should. What cannot be counted is not
	// answered.
	Charge(caller storage.Caller, product string, failed bool) error
}

// noAudit is the trail of a host that keeps none.
type noAudit struct{}

func (noAudit) Note(event.Event) {}

// Verifier judges the bearer tokens of requests that no gateway has looked at.
// *oauth.Tokens is one.
type Verifier interface {
	// Verify returns whom a token speaks for, whose audience must be one of audiences,
	// which are whole. See gateway.Tokens for its errors.
	Verify(ctx context.Context, bearer string, audiences ...string) (storage.Caller, error)
}

// Discoverer asks an upstream MCP endpoint for its tools.
type Discoverer interface {
	// Discover returns the tools as they are to be listed: named and described as
	// toolplan.Tool wants it, with input schemas that any client can read; and after how
	// long to ask again, 0 for Config.Discovery.
	Discover(ctx context.Context, c storage.Capability) (tools []toolplan.Tool, again time.Duration, err error)
}
