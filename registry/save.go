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
	"github.com/keystile/keystile/storage/toolplan"
)

// save writes a registration over what is stored at that time. It returns what was stored, and the names of its tools.
func (g *Registry) save(ctx context.Context, actor storage.User, q Request, tools []toolplan.Tool,
	skipped []toolplan.Skip) (c, was storage.Capability, before []string, err error) {
	c, err = retryOnConflict(ctx, func() (storage.Capability, error) {
		there, err := g.lookUpMember(ctx, actor, q)
		if err == nil {
			before, err = g.toolsBefore(ctx, q, there)
		}
		if err != nil {
			return there, err
		}
		if removed := missing(before, tools); q.KeepTools && q.kind() != storage.CapabilityMCP && len(removed) > 0 {
			return there, wouldRemove(removed)
		}
		if was = there; there.Version == 0 {
			was = storage.Capability{}
		}
		was.Owner = cmp.Or(there.TakenFrom, was.Owner)
		c := q.applyTo(there, skipped)
		c.PinnedAt = time.Time{} // what the upstream lists now is accepted
		event := webhook.Updated
		if c.Version == 0 {
			event = webhook.Registered
		}
		c, err = g.write(ctx, event, c, tools, g.shareLimit(actor, c, len(tools)))
		if taken := (*storage.NameTaken)(nil); errors.As(err, &taken) {
			err = nameTaken(actor, taken)
		}
		return c, err
	})
	return c, was, before, err
}

// write stores a capability if allow returns nil, and in the same step the messages for its
// webhook.
func (g *Registry) write(ctx context.Context, event string, c storage.Capability, tools []toolplan.Tool, allow func([]storage.Capability) error) (storage.Capability, error) {
	c.ToolCount = len(tools)
	events, err := webhook.Events(event, c)
	if err != nil {
		return c, err
	}
	return g.c.Store.SaveCapabilityIf(ctx, c, tools, allow, events...)
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

// lookUpMember returns the capability stored under the name of a registration, with the owner it
// will have. Its Version is 0 if there is none. It fails if the actor may not use the name.
func (g *Registry) lookUpMember(ctx context.Context, actor storage.User, q Request) (storage.Capability, error) {
	there, err := g.c.Store.Capability(ctx, q.Member)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		there = storage.Capability{Owner: actor.Sub}
		there.TakenFrom, err = g.checkNameFree(ctx, actor, q.Member)
	case err == nil && !mayChange(actor, there):
		err = notYours
	case err == nil && q.createOnly:
		err = admin.SignInAgain
	}
	if actor.Role == storage.RoleAdmin {
		before := cmp.Or(there.TakenFrom, there.Owner)
		there.Owner, there.TakenFrom = cmp.Or(q.Owner, there.Owner), ""
		if before != there.Owner {
			there.TakenFrom = before
		}
	}
	return there, err
}

// checkNameFree returns an error if a name cannot be used for a new capability, and else for whom it is kept
// and who is passed over, which an administrator may do.
func (g *Registry) checkNameFree(ctx context.Context, actor storage.User, member string) (takenFrom string, err error) {
	like, err := g.c.Store.CapabilityLike(ctx, member)
	kept := (*storage.NameTaken)(nil)
	switch {
	case err == nil:
		return "", nameTaken(actor, &storage.NameTaken{By: like})
	case !errors.Is(err, storage.ErrNotFound):
		return "", err
	case errors.As(err, &kept) && actor.Role == storage.RoleAdmin:
		takenFrom = kept.By.Owner
	case kept != nil && kept.By.Owner != actor.Sub:
		return "", nameTaken(actor, kept)
	}
	return takenFrom, g.checkShare(ctx, actor, storage.Capability{Member: member}, 0)
}

// nameTaken returns the refusal of a name that differs from another capability's only in case, - and _, or
// that was another user's until lately. It does not say whose.
func nameTaken(actor storage.User, taken *storage.NameTaken) error {
	switch {
	case !taken.Until.IsZero():
		return nameOfAnother.Saying(fmt.Sprintf("the name %q was somebody else's, whose capability was deleted, and is kept for them until %s: choose another member name, or ask an administrator to register it",
			taken.By.Member, taken.Until.UTC().Format(time.DateOnly)))
	case !mayChange(actor, taken.By):
		return similarNameTaken
	}
	return badMember(fmt.Sprintf("member: there is %q already, which differs in case, - and _ alone: register that one again, or choose another name", taken.By.Member))
}

func seesAll(actor storage.User) bool {
	return actor.Role == storage.RoleAdmin || actor.Role == storage.RoleAuditor
}

func maySee(actor storage.User, c storage.Capability) bool {
	return seesAll(actor) || mayChange(actor, c)
}

func mayChange(actor storage.User, c storage.Capability) bool {
	return actor.Role == storage.RoleAdmin || actor.Sub != "" && c.Owner == actor.Sub
}
