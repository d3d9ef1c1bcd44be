// Package toolacts holds the acts of administration on what surrounds capabilities: who may use their tools, the
// bundles of tools, and the deliveries to their webhooks. Capabilities themselves are changed by package registry.
//
// See package admin for what an act is.
package toolacts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/toolplan"
)

// Store keeps capabilities with their access lists, bundles and deliveries; *storage.Store does.
type Store interface {
	Capability(ctx context.Context, member string) (storage.Capability, error)
	Tools(ctx context.Context, member string) (storage.Capability, []toolplan.Tool, error)
	Access(ctx context.Context, member string) (access.List, error)
	SaveAccess(ctx context.Context, l access.List) (access.List, error)
	Bundle(ctx context.Context, name string) (access.Bundle, error)
	SaveBundle(ctx context.Context, b access.Bundle) (access.Bundle, error)
	DeleteBundle(ctx context.Context, b access.Bundle) error
	Deliveries(ctx context.Context, member string) ([]storage.Delivery, error)
	SaveDelivery(ctx context.Context, d storage.Delivery) (storage.Delivery, error)
	User(ctx context.Context, sub string) (storage.User, error)
	Group(ctx context.Context, name string) (groups.Group, error)
	App(ctx context.Context, id string) (storage.App, error)
}

// Config holds what New needs.
type Config struct {
	Store    Store
	Recorder admin.Recorder
	Reload   func(context.Context) error // makes the bus of this process obey at once; nil: it notices within seconds
}

// Acts are the acts on what surrounds capabilities.
type Acts struct{ c Config }

// New makes Acts.
func New(c Config) *Acts { return &Acts{c} }

// Missing is the error of an act on a record that does not exist, or that its actor may not see. It wraps
// storage.ErrNotFound.
type Missing struct {
	Kind string // capability, tool, rule, bundle, delivery, user, group or application
	Name string
	Of   string // the capability that has no such tool
}

func (m *Missing) Error() string {
	if m.Of != "" {
		return fmt.Sprintf("%s has no %s %q", m.Of, m.Kind, m.Name)
	}
	return fmt.Sprintf("there is no %s %q", m.Kind, m.Name)
}

// Unwrap returns storage.ErrNotFound.
func (m *Missing) Unwrap() error { return storage.ErrNotFound }

// missing names what the store has not found.
func missing(err error, kind, name string) error {
	if no := (*Missing)(nil); errors.Is(err, storage.ErrNotFound) && !errors.As(err, &no) {
		return &Missing{Kind: kind, Name: name}
	}
	return err
}

// own returns a capability that an actor may change.
func (a *Acts) own(ctx context.Context, by admin.Actor, member string) (storage.Capability, error) {
	c, err := a.c.Store.Capability(ctx, member)
	switch {
	case err == nil && !by.Sees(c.Owner):
		err = storage.ErrNotFound
	case err == nil && !by.Changes(c.Owner):
		return c, admin.NotAllowed
	}
	return c, cmp.Or(missing(err, "capability", member), by.Fresh())
}

// hasTools refuses names of tools that a capability does not have; * names all of them. The tools of an MCP endpoint
// come and go, and are not looked for.
func (a *Acts) hasTools(ctx context.Context, member string, names []string) error {
	c, err := a.c.Store.Capability(ctx, member)
	if err != nil || c.AutoDiscover() || !slices.ContainsFunc(names, func(name string) bool { return name != "*" }) {
		return missing(err, "capability", member)
	}
	_, tools, err := a.c.Store.Tools(ctx, member)
	for _, name := range names {
		if err == nil && name != "*" && !slices.ContainsFunc(tools, func(t toolplan.Tool) bool { return t.Name == name }) {
			return &Missing{"tool", name, member}
		}
	}
	return missing(err, "capability", member)
}

// done records an act, and makes the bus obey it.
func (a *Acts) done(ctx context.Context, by admin.Actor, act admin.Act) error {
	err := a.c.Recorder.Note(ctx, by, act)
	if a.c.Reload != nil {
		if failed := a.c.Reload(ctx); failed != nil {
			err = errors.Join(err, &admin.Untold{Cause: failed})
		}
	}
	return err
}
