package mcpbus

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/keystile/keystile/internal/hop"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

const (
	discoveries    = 4 // upstreams that are asked at the same time
	discoveryLimit = 30 * time.Second
)

// discover asks those upstreams for their tools whose time has come, as far as there is
// room. Who is done makes room for the next.
func (b *Bus) discover(free chan struct{}) {
	if b.c.Discoverer == nil || b.shelf.begin(b.life) != nil {
		return
	}
	defer b.shelf.end()
	now := time.Now()
	for _, m := range b.shelf.members {
		if m.asking || !m.capability.AutoDiscover() || !m.capability.Publish || now.Before(m.due) {
			continue
		}
		select {
		case free <- struct{}{}:
		default:
			return
		}
		m.asking = true
		b.work.Go(func() {
			b.ask(m)
			<-free
			b.discover(free)
		})
	}
}

// ask asks an upstream for its tools and lists them. If that fails, the old ones stay:
// whoever calls one is told what is wrong by the upstream itself.
func (b *Bus) ask(m *member) {
	ctx, cancel := context.WithTimeout(b.life, discoveryLimit)
	defer cancel()
	stored, again, err := b.found(ctx, m.capability)
	if err != nil && b.life.Err() == nil {
		b.c.Log.WarnContext(ctx, "mcpbus: an upstream does not tell its tools, and the old ones stay", "member", m.capability.Member, "err", err)
	}
	tools := b.encode(ctx, m.capability, stored)
	if b.shelf.begin(b.life) != nil {
		return
	}
	defer b.shelf.end()
	m.asking, m.due = false, time.Now().Add(max(cmp.Or(again, b.c.Discovery), b.c.Refresh))
	if err == nil {
		m.tools = tools     // of one that was registered anew meanwhile, nobody sees them
		if !b.shelf.newer { // else they wait for the rules of what is newer
			b.swap(ctx)
		}
	}
}

// found is what a Discoverer found, or why it panicked.
func (b *Bus) found(ctx context.Context, c storage.Capability) (tools []toolplan.Tool, again time.Duration, err error) {
	defer func() {
		if p := recover(); p != nil {
			again, err = 0, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return b.c.Discoverer.Discover(hop.Begin(ctx, b.self), c)
}
