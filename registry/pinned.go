package registry

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/keystile/keystile/registry/pins"
	"github.com/keystile/keystile/storage"
)

// ShowPins returns what waits of a capability. The error has HTTP status 404
// if there is no such capability, and 403 if it belongs to another user and the actor is no administrator.
func (g *Registry) ShowPins(ctx context.Context, actor storage.User, member string) (pins.View, error) {
	c, err := g.pinned(ctx, actor, member)
	if err != nil {
		return pins.View{}, err
	}
	return g.c.Pins.Show(ctx, c)
}

// pinned returns a capability that the actor may change.
func (g *Registry) pinned(ctx context.Context, actor storage.User, member string) (storage.Capability, error) {
	c, err := g.c.Store.Capability(ctx, member)
	switch {
	case err != nil:
		return c, toNotFound(err)
	case !mayChange(ctx, actor, c):
		return c, notYours
	case g.c.Pins == nil:
		return c, noPins
	}
	return c, nil
}

// AcceptPins accepts tools that wait, as [pins.Pins.Accept] does, and makes the bus list them. Its errors are those of
// ShowPins; 409 if what waits is not what was shown, and a *[openapi.Rejection] for names of which nothing waits.
func (g *Registry) AcceptPins(ctx context.Context, actor storage.User, member string, names []string,
	digest string) (pins.View, error) {
	done, err := retryOnConflict(ctx, func() (pins.View, error) {
		c, err := g.pinned(ctx, actor, member)
		if err != nil {
			return pins.View{}, err
		}
		return g.c.Pins.Accept(ctx, c, names, digest)
	})
	switch {
	case errors.Is(err, pins.ErrUnseen):
		err = pinsUnseen
	case errors.Is(err, pins.ErrUnknown):
		err = badField("accept: " + err.Error() + ": see what is held, and name that")
	case err == nil && done.Accepted != nil:
		g.notify(member)
		err = g.note(ctx, actor, "pins", done.Capability, done.Capability, "accepted "+strings.Join(done.Accepted, ", "))
	}
	return done, err
}

// heldWarning says that something is held of a capability, "" if nothing is.
func (g *Registry) heldWarning(ctx context.Context, c storage.Capability) string {
	if pinned, _ := c.Pinned(); !pinned || g.c.Pins == nil {
		return ""
	}
	h, err := g.c.Pins.Show(ctx, c)
	if err != nil || h.Digest == "" {
		return ""
	}
	return fmt.Sprintf("the upstream has changed tools, or lists new ones: %d are held until you accept them "+
		"(keystile capability pins %s)", len(h.Tools)+h.More, c.Member)
}
