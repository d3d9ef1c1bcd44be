package mcpbus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"time"

	"github.com/keystile/keystile/internal/hop"
	"github.com/keystile/keystile/internal/toolpins"
	"github.com/keystile/keystile/mcpbus/internal/mcpcall"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

const (
	maxDiscoveries   = 4 // concurrent discoveries
	discoveryTimeout = 30 * time.Second
)

// startDiscoveries starts the discoveries that are due, up to the limit of slots. One that ends
// frees its slot and starts the next.
//
// Each node runs its own discovery of upstreams that list their tools. The tools that it finds are compared
// with those in the store, which the owner has accepted (Pins, decision 92): callers see and call the accepted
// tools that are still listed, and nothing of the rest. A node that has just read the capability again lists
// all accepted tools until it has asked the upstream. Without Pins in the Config the differing tools are left
// out and no one is notified. The tools of a capability whose pins are off are on the bus at once, and stay in
// memory.
func (b *Bus) startDiscoveries(slots chan struct{}) {
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
		case slots <- struct{}{}:
		default:
			return
		}
		m.discovering = true
		b.tasks.Go(func() {
			b.discoverMember(m)
			<-slots
			b.startDiscoveries(slots)
		})
	}
}

// discoverMember lists an upstream's tools and publishes those that are accepted. If that fails, the old ones stay:
// a call of one returns the upstream's own error.
func (b *Bus) discoverMember(m *member) {
	ctx, cancel := context.WithTimeout(b.runCtx, discoveryTimeout)
	defer cancel()
	c, accepted := m.capability, m.accepted
	d, err := b.callDiscoverer(ctx, c)
	found := d.Tools
	trouble := troubleOf(found, err)
	if pinned, _ := c.Pinned(); pinned && err == nil {
		if c, accepted, err = b.c.Pins.Found(ctx, c, accepted, found); err == nil {
			found, _, _ = toolpins.Compare(accepted, found)
		}
	}
	switch {
	case errors.Is(err, storage.ErrConflict): // it was registered again, or more of it accepted
		b.readAgain()
	case err != nil && b.runCtx.Err() == nil:
		b.c.Log.WarnContext(ctx, "mcpbus: discovery failed, and the old tools stay", "member", c.Member, "err", err)
	}
	tools := b.encodeTools(ctx, c, found)
	if b.catalog.lock(b.runCtx) != nil {
		return
	}
	defer b.catalog.unlock()
	m.discovering, m.discoverAt = false, time.Now().Add(max(cmp.Or(d.Again, b.c.Discovery), b.c.Refresh))
	if m.trouble = trouble; m.trouble != "" {
		leftOut := maps.Clone(*b.leftOut.Load())
		m.tellTrouble(leftOut)
		b.leftOut.Store(&leftOut)
	}
	if err == nil {
		// if the member was registered again meanwhile, they are not used
		m.capability, m.accepted, m.tools = c, accepted, tools
		// else they wait until the rules of the newer catalog are read
		if !b.catalog.dirty {
			b.publish(ctx)
		}
	}
}

// troubleOf returns why a discovery has found no tools, as everybody may read it; "" if it has found some.
func troubleOf(tools []toolplan.Tool, err error) string {
	var failure *mcpcall.Failure
	switch {
	case err == nil && len(tools) > 0:
		return ""
	case err == nil:
		return "the upstream lists no tools that can be used"
	case errors.As(err, &failure):
		return failure.Text
	}
	return "the upstream could not be asked for its tools: the log of the service says why"
}

// tellTrouble says why a member has no tools. If it still has those that it listed before, there is nothing to say.
func (m *member) tellTrouble(leftOut map[string]string) {
	if m.trouble != "" && len(m.tools) == 0 && leftOut[m.capability.Member] == "" {
		leftOut[m.capability.Member] = m.trouble + "; it is asked again"
	}
}

// callDiscoverer returns what the Discoverer found; a panic becomes the error.
func (b *Bus) callDiscoverer(ctx context.Context, c storage.Capability) (d toolplan.Discovery, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return b.c.Discoverer.Discover(hop.Begin(ctx, b.self), c)
}
