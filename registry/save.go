package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/webhook"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/lasthop"
	"github.com/keystile/keystile/storage/toolplan"
)

// written holds what a registration has stored.
type written struct {
	storage.Place
	was     storage.Capability // what was there, with the owner that the name was kept for
	created int64              // the version that made the capability; 0: it was there
	before  []string           // the names of the tools that were there
}

// save writes a registration over what is stored at that time.
func (g *Registry) save(ctx context.Context, actor storage.User, q Request, tools []toolplan.Tool,
	skipped []toolplan.Skip) (written, error) {
	return retryOnConflict(ctx, func() (w written, err error) {
		p, there, err := g.lookUp(ctx, actor, q)
		q.found = nil // what has changed is read anew
		if err == nil {
			w.before, err = g.toolsBefore(ctx, q, p)
		}
		if err != nil {
			return w, err
		}
		if removed := missing(w.before, tools); q.KeepTools && q.kind() != storage.CapabilityMCP && len(removed) > 0 {
			return w, wouldRemove(removed)
		}
		if w.was = there; there.Version == 0 {
			w.was = storage.Capability{}
		}
		w.was.Owner = cmp.Or(there.TakenFrom, w.was.Owner)
		c := q.applyTo(there, skipped)
		c.PinnedAt = time.Time{} // what the upstream lists now is accepted
		event := webhook.Updated
		if c.Version == 0 {
			event = webhook.Registered
		}
		w.Place, err = g.write(ctx, event, p, c, tools, g.c.shareLimit(actor, p.Capability, c, len(tools)))
		if taken := (*storage.NameTaken)(nil); errors.As(err, &taken) {
			err = nameTaken(ctx, actor, taken)
		}
		if err == nil && p.Version == 0 {
			w.created = w.Version
		}
		return w, err
	})
}

// write stores a capability at its place if allow returns nil, and in the same step the messages for its
// webhook.
func (g *Registry) write(ctx context.Context, event string, p storage.Place, c storage.Capability,
	tools []toolplan.Tool, allow func([]storage.Capability) error) (storage.Place, error) {
	c.ToolCount = len(tools)
	events, err := webhook.Events(event, c)
	if err != nil {
		return p, err
	}
	return g.c.Store.SaveAt(ctx, p, c, tools, allow, events...)
}

// retryOnConflict repeats a change that conflicts with a concurrent one, also if both make the
// same record.
func retryOnConflict[T any](ctx context.Context, change func() (T, error)) (T, error) {
	v, err := storage.RetryOnConflict(ctx, func() (T, error) {
		v, err := change()
		if errors.Is(err, storage.ErrExists) {
			err = fmt.Errorf("%w: %w", storage.ErrConflict, err)
		}
		return v, err
	})
	if errors.Is(err, storage.ErrConflict) {
		return v, tooManyConflicts.Because(err)
	}
	return v, toRejection(err)
}

// toRejection converts an error of the store to a Rejection if the tools are at fault.
func toRejection(err error) error {
	if errors.Is(err, storage.ErrInvalid) {
		return limitf("the tools are too large to be stored: split the document into several capabilities")
	}
	return err
}

// lookUp returns what is stored under the name of a registration, and there, the same with the owner that it will
// have. Its Version is 0 if there is none. It fails if the actor may not use the name.
func (g *Registry) lookUp(ctx context.Context, actor storage.User, q Request) (p storage.Place,
	there storage.Capability, err error) {
	if p, err = g.place(ctx, actor, q); err != nil {
		return p, there, err
	}
	there = p.Capability
	switch {
	case p.Version == 0:
		there = storage.Capability{Owner: actor.Sub}
		there.TakenFrom, err = g.c.checkNameFree(ctx, actor, p)
	case !mayChange(ctx, actor, there):
		err = notYours
	case q.createOnly:
		err = admin.SignInAgain
	}
	if actor.Role == storage.RoleAdmin {
		before := there.TakenFrom
		if p.Version != 0 {
			before = there.Owner
		}
		there.Owner, there.TakenFrom = cmp.Or(q.Owner, there.Owner), ""
		if before != there.Owner {
			there.TakenFrom = before
		}
	}
	return p, there, err
}

// place returns what is stored under the name of a registration, as it was found before or as it is now.
func (g *Registry) place(ctx context.Context, actor storage.User, q Request) (storage.Place, error) {
	if q.found != nil {
		return *q.found, nil
	}
	limited := actor.Sub
	if actor.Role == storage.RoleAdmin {
		limited = ""
	}
	return g.c.Store.FindPlace(ctx, q.Member, limited)
}

// checkNameFree returns an error if a name cannot be used for a new capability, and else for whom it is kept
// and who is passed over, which an administrator may do. It also checks that the actor may have one more: the check
// that counts runs in the store.
//
// The name of a deleted capability is kept for its owner for 90 days (decision 100). An administrator who takes it is
// warned that earlier grants do not open the new capability, and the trail says from whom it was taken. A name also
// blocks all names that differ from it only in case, - and _, even for its owner: users and models would confuse the
// tools of the two. Capabilities stored before this rule stay.
func (c *Config) checkNameFree(ctx context.Context, actor storage.User, p storage.Place) (takenFrom string, err error) {
	switch by := p.Taken; {
	case by == nil:
	case by.Until.IsZero():
		return "", nameTaken(ctx, actor, by)
	case actor.Role == storage.RoleAdmin:
		takenFrom = by.By.Owner
	case by.By.Owner != actor.Sub:
		return "", nameTaken(ctx, actor, by)
	}
	if allow := c.shareLimit(actor, p.Capability, storage.Capability{Member: p.Member}, 0); allow != nil &&
		actor.Sub != "" {
		err = allow(p.Owned())
	}
	return takenFrom, err
}

// nameTaken returns the refusal of a name that differs from another capability's only in case, - and _, or
// that was another user's until lately. It does not say whose.
func nameTaken(ctx context.Context, actor storage.User, taken *storage.NameTaken) error {
	switch {
	case !taken.Until.IsZero():
		return nameOfAnother.Saying(fmt.Sprintf("the name %q was somebody else's, whose capability was deleted, and is "+
			"kept for them until %s: choose another member name, or ask an administrator to register it",
			taken.By.Member, taken.Until.UTC().Format(time.DateOnly)))
	case !mayChange(ctx, actor, taken.By):
		return similarNameTaken
	}
	return badMember(fmt.Sprintf("member: there is %q already, which differs in case, - and _ alone: register that one "+
		"again, or choose another name", taken.By.Member))
}

func seesAll(actor storage.User) bool {
	return actor.Role == storage.RoleAdmin || actor.Role == storage.RoleAuditor
}

func maySee(ctx context.Context, actor storage.User, c storage.Capability) bool {
	return seesAll(actor) || mayChange(ctx, actor, c)
}

// mayTell returns an error if an actor may not have an upstream told of callers as is said, where it was told otherwise
// before. An upstream that believes headers believes those of every capability, whose owners could speak to it as their
// callers.
func mayTell(actor storage.User, before, after lasthop.Identity) error {
	if after.Kind == lasthop.Headers && before.Kind != after.Kind && actor.Role != storage.RoleAdmin {
		return headersOfAdmin
	}
	return nil
}

func mayChange(ctx context.Context, actor storage.User, c storage.Capability) bool {
	return actor.Role == storage.RoleAdmin || admin.ActorOf(ctx, actor).Owns(c.Owner)
}
