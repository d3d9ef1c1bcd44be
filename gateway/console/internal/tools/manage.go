package tools

import (
	"errors"
	"net/http"
	"strings"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
)

// publish puts a capability on the bus, or takes it off.
func (t *Tools) publish(on bool) ui.Action {
	return func(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
		c, err := t.own(r, who)
		if err != nil {
			return nil, err
		}
		_, err = t.c.Registry.SetPublished(who.In(r.Context()), who.User, c.Member, on)
		return nil, err
	}
}

// danger shows what ends a capability, to users who may do it.
func (t *Tools) danger(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	c, err := t.changeable(r, r.PathValue("member"), who)
	if err != nil {
		return nil, err
	}
	return t.lineOf(c, who), nil
}

// remove deletes a capability whose name was typed.
func (t *Tools) remove(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	typed, err := adminapi.ReadText(w, r, "confirm", "")
	if err != nil {
		return nil, err
	}
	c, err := t.own(r, who)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(typed) != c.Member {
		return nil, wrong("confirm", "Type the name as it stands above: nothing was deleted.")
	}
	return nil, t.c.Registry.Remove(who.In(r.Context()), who.User, c.Member)
}

// seen returns a capability that somebody may see.
func (t *Tools) seen(r *http.Request, who admin.Actor) (storage.Capability, error) {
	c, err := t.c.Store.Capability(r.Context(), r.PathValue("member"))
	if errors.Is(err, storage.ErrNotFound) || err == nil && !who.Sees(c.Owner) {
		return c, noCapability
	}
	return c, err
}

// changeable returns a capability that somebody may change; for others there is none.
func (t *Tools) changeable(r *http.Request, member string, who admin.Actor) (storage.Capability, error) {
	c, err := t.c.Store.Capability(r.Context(), member)
	if errors.Is(err, storage.ErrNotFound) || err == nil && !who.Changes(c.Owner) {
		return c, noCapability
	}
	return c, err
}

// own returns a capability that somebody may change; what they may see alone is refused.
func (t *Tools) own(r *http.Request, who admin.Actor) (storage.Capability, error) {
	c, err := t.seen(r, who)
	if err == nil && !who.Changes(c.Owner) {
		err = admin.NotAllowed
	}
	return c, err
}
