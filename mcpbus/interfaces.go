package mcpbus

import (
	"context"
	"encoding/json"
	"time"

	"github.com/keystile/keystile/internal/toolpins"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/toolplan"
)

// Store reads capabilities, their tools and access rules; *storage.Store implements it.
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
	// App returns an application, whose tier access lists may mention, or an error that wraps
	// storage.ErrNotFound.
	App(ctx context.Context, id string) (storage.App, error)
	// GroupsOf returns the groups that a user (a sub) is a member of, sorted by name.
	GroupsOf(ctx context.Context, sub string) ([]access.Group, error)
	// GroupsManagedBy returns a page of the groups that a user (a sub) manages; they own what belongs to these.
	GroupsManagedBy(ctx context.Context, sub, from string, n int) (page []groups.Group, next string, err error)
	// Later returns the time by which the store dates what is agreed on, such as tiers.
	Later(now time.Time) time.Time
	// OnChange has f called with what other processes change, until stop is called.
	OnChange(f func(storage.Change)) (stop func())

	users // asked unless the Config has others
}

// Invoker calls tools: by HTTP if the tool has a Call, else by its name at the upstream's MCP
// endpoint. *Upstreams implements it.
type Invoker interface {
	// Call checks arguments and sends them. They are a valid JSON object without duplicate names,
	// or nil for none, and must not be kept after Call returns. Every behaviour of the upstream
	// becomes a Result; refused arguments are a Result with Dispatched false. An error means that
	// ctx ended, or that something failed on our side.
	//
	// An Invoker may cache what it computes from a tool under the capability's Member and Version
	// and the tool's Name; tools without a Call change without a new Version.
	Call(ctx context.Context, c storage.Capability, t toolplan.Tool, arguments json.RawMessage) (Result, error)
}

// Meter counts calls; *gateway.Gateway implements it. It must not wait for the store, but for an instant
// for what is not known yet, and for whether a call with an Idempotency-Key is a repetition.
type Meter interface {
	// ChargeOnce counts one call of a tool, by its full name, to a product (gateway.ProductMCP) against the
	// caller's account; took is how long the call has taken, and failed says that the upstream failed.
	// A repetition of a call, with the same arguments under the Idempotency-Key of the request whose
	// context ctx is, need not be counted. If it returns an error, the result is withheld.
	ChargeOnce(ctx context.Context, caller storage.Caller, product, tool string, arguments []byte, took time.Duration,
		failed bool) error
	// Quota returns how many calls the caller's account may make until reset, and how many of them
	// are left, with the caller's last call taken off; -1: as many as it likes. ok is false if that
	// is not known now.
	Quota(ctx context.Context, caller storage.Caller) (limit, remaining int64, reset time.Time, ok bool)
}

// noAudit discards the events of a host without an audit trail.
type noAudit struct{}

func (noAudit) Note(event.Event) {}

// Verifier verifies the bearer tokens of requests that no gateway has checked; *oauth.Tokens
// implements it.
type Verifier interface {
	// Verify returns the caller that a token authenticates. The token's audience must equal one of
	// audiences. See gateway.Tokens for its errors.
	Verify(ctx context.Context, bearer string, audiences ...string) (storage.Caller, error)
}

// Discoverer lists the tools of an upstream MCP endpoint; *Upstreams implements it.
type Discoverer interface {
	// Discover returns the tools, and when to ask again; 0: after Config.Discovery.
	Discover(ctx context.Context, c storage.Capability) (toolplan.Discovery, error)
}

// pinsInMemory stand in for a host that gives no Pins: the stored tools count as accepted, and of a capability without
// tools those that its upstream lists first. Nobody is told of any others.
type pinsInMemory struct{}

func (pinsInMemory) Found(_ context.Context, c storage.Capability, accepted, found []toolplan.Tool) (storage.Capability,
	[]toolplan.Tool, error) {
	if c.PinnedAt.IsZero() {
		if accepted = toolpins.Adopt(accepted, found); len(accepted) == 0 {
			accepted = found
		}
		c.PinnedAt = time.Now()
	}
	return c, accepted, nil
}
