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
	maxDiscoveries   = 4 // upstreams that are asked at the same time
	discoveryTimeout = 30 * time.Second
)

// startDiscoveries asks those upstreams for their tools whose time has come, as far as there is
// room. Who is done makes room for the next.
func (b *Bus) startDiscoveries(free chan struct{}) {
	if b.c.Discoverer == nil || b.catalog.lock(b.runCtx) != nil {
		return
	}
	defer b.catalog.unlock()
	now := time.Now()
	for _, m := range b.catalog.members {
		if m.discovering || !m.capability.AutoDiscover() || !m.capability.Publish || now.Before(m.discoverAt) {
			continue
		}
		select {
		case free <- struct{}{}:
		default:
			return
		}
		m.discovering = true
		b.tasks.Go(func() {
			b.discoverMember(m)
			<-free
			b.startDiscoveries(free)
		})
	}
}

// discoverMember asks an upstream for its tools and lists them. If that fails, the old ones stay:
// whoever calls one is told what is wrong by the upstream itself.
func (b *Bus) discoverMember(m *member) {
	ctx, cancel := context.WithTimeout(b.runCtx, discoveryTimeout)
	defer cancel()
	stored, again, err := b.callDiscoverer(ctx, m.capability)
	if err != nil && b.runCtx.Err() == nil {
		b.c.Log.WarnContext(ctx, "mcpbus: an upstream does not tell its tools, and the old ones stay", "member", m.capability.Member, "err", err)
	}
	tools := b.encodeTools(ctx, m.capability, stored)
	if b.catalog.lock(b.runCtx) != nil {
		return
	}
	defer b.catalog.unlock()
	m.discovering, m.discoverAt = false, time.Now().Add(max(cmp.Or(again, b.c.Discovery), b.c.Refresh))
	if err == nil {
		m.tools = tools       // of one that was registered anew meanwhile, nobody sees them
		if !b.catalog.newer { // else they wait for the rules of what is newer
			b.publish(ctx)
		}
	}
}

// callDiscoverer is what a Discoverer found, or why it panicked.
func (b *Bus) callDiscoverer(ctx context.Context, c storage.Capability) (tools []toolplan.Tool, again time.Duration, err error) {
	defer func() {
		if p := recover(); p != nil {
			again, err = 0, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return b.c.Discoverer.Discover(hop.Begin(ctx, b.self), c)
}
