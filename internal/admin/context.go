package admin

import (
	"context"

	"github.com/keystile/keystile/storage"
)

type actorKey struct{}

// In returns a context for the acts of rooms, whose functions hosts call too, so that they take a storage.User: by it
// they know how the actor acts.
func (a Actor) In(ctx context.Context) context.Context { return context.WithValue(ctx, actorKey{}, a) }

// ActorOf returns the actor of a context with the rights of a user; the user alone, if a host has made the context.
func ActorOf(ctx context.Context, u storage.User) Actor {
	a, _ := ctx.Value(actorKey{}).(Actor)
	a.User = u
	return a
}
