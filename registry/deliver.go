package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/internal/webhook"
)

// leaving is what an attempt under way gets to end when Deliver does.
const leaving = 2 * time.Second

// Deliver tells webhooks what became of their capabilities, until ctx ends: what is queued
// already, also by other processes, and what is registered meanwhile. Messages are signed
// and repeated as Standard Webhooks have it; each arrives at least once, and those of a
// capability in their order. Run it once in a process.
func (g *Registry) Deliver(ctx context.Context) error {
	sender, err := webhook.New(webhook.Config{Store: g.c.Store, Client: g.guard.Client(0), Log: g.c.Log})
	if err != nil {
		return fmt.Errorf("registry: %w", err)
	}
	if !g.sender.CompareAndSwap(nil, sender) {
		return errors.Join(errors.New("registry: Deliver runs already"), sender.Close(ctx))
	}
	<-ctx.Done()
	g.sender.Store(nil)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaving)
	defer cancel()
	return sender.Close(last)
}
