package mcpbus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/toolplan"
)

// catalogState is what the snapshot is made of. Who has the turn may read and change it.
type catalogState struct {
	turn    chan struct{}
	members map[string]*member
	rules   *rules // nil: not read yet
	newer   bool   // than the snapshot
	failing bool   // the last look at the catalog failed
}

// member is a capability on the bus with its tools.
type member struct {
	capability  storage.Capability
	tools       []*tool
	discoverAt  time.Time // when its upstream is asked next, if it is to be asked
	discovering bool
}

// lock waits for the turn.
func (s *catalogState) lock(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *catalogState) unlock() { <-s.turn }

// Reload brings the list up to the catalog: call it when a registration was written.
// Changes by other processes are found without it, within Config.Refresh. What cannot be
// read stays as it was, and is the error; everything else is taken over at once.
func (b *Bus) Reload(ctx context.Context) error {
	if err := b.catalog.lock(ctx); err != nil {
		return err
	}
	defer b.catalog.unlock()
	return b.reload(ctx)
}

// reloadMembers reads the capabilities anew, and reports whether any has changed.
func (b *Bus) reloadMembers(ctx context.Context) (changed bool, err error) {
	members, errs := map[string]*member{}, []error(nil)
	for from := ""; ; {
		page, next, err := b.c.Store.Capabilities(ctx, "", from, driver.Page)
		if err != nil {
			return false, fmt.Errorf("mcpbus: the capabilities cannot be listed: %w", err)
		}
		for _, c := range page {
			known := b.catalog.members[c.Member]
			if known != nil && known.capability.Version == c.Version {
				members[c.Member] = known
				continue
			}
			changed = true
			read, err := b.readMember(ctx, c)
			switch {
			case err == nil:
				members[c.Member] = read
			case errors.Is(err, storage.ErrNotFound): // removed in between
			default:
				errs = append(errs, fmt.Errorf("mcpbus: the tools of %q cannot be read: %w", c.Member, err))
				if known != nil {
					members[c.Member] = known
				}
			}
		}
		if next == "" || next == from {
			break
		}
		from = next
	}
	changed = changed || len(members) != len(b.catalog.members)
	b.catalog.members = members
	return changed, errors.Join(errs...)
}

// readMember reads a capability's tools, if it is on the bus.
func (b *Bus) readMember(ctx context.Context, c storage.Capability) (*member, error) {
	if !c.Publish {
		return &member{capability: c}, nil
	}
	c, stored, err := b.c.Store.Tools(ctx, c.Member)
	if err != nil {
		return nil, err
	}
	m := &member{capability: c, discoverAt: time.Now()}
	if c.Publish {
		m.tools = b.encodeTools(ctx, c, stored)
	}
	return m, nil
}

// encodeTools makes tools of stored ones. One that clients could not read is left out and
// logged, so that it does not cost them the others.
func (b *Bus) encodeTools(ctx context.Context, c storage.Capability, stored []toolplan.Tool) []*tool {
	tools, names := make([]*tool, 0, len(stored)), make(map[string]bool, len(stored))
	for _, s := range stored {
		t, err := newTool(&c, s)
		if err == nil && names[s.Name] {
			err = errors.New("another one has its name")
		}
		if err != nil {
			b.c.Log.WarnContext(ctx, "mcpbus: a tool is not listed: register it again", "member", c.Member, "tool", s.Name, "err", err)
			continue
		}
		names[s.Name] = true
		tools = append(tools, t)
	}
	return tools
}

// publish puts a new snapshot in the place of the old one. Each stream finds out by itself
// whether its caller's list is another one.
func (b *Bus) publish(ctx context.Context) {
	b.snapshot.Store(newSnapshot(b.chooseTools(ctx), b.catalog.rules))
	b.catalog.newer = false
	b.listeners.notifyAll()
}

// refreshLoop looks for changes of other processes, and asks upstreams, until Close.
func (b *Bus) refreshLoop() {
	tick := time.NewTicker(b.c.Refresh)
	defer tick.Stop()
	free := make(chan struct{}, maxDiscoveries)
	for {
		b.startDiscoveries(free)
		select {
		case <-b.runCtx.Done():
			return
		case <-tick.C:
			b.refresh()
		}
	}
}

const refreshTimeout = 30 * time.Second

// refresh is Reload with a log: the first failure is told, and that it is over.
func (b *Bus) refresh() {
	ctx, cancel := context.WithTimeout(b.runCtx, refreshTimeout)
	defer cancel()
	if b.catalog.lock(ctx) != nil {
		return
	}
	defer b.catalog.unlock()
	err := b.reload(ctx)
	switch failed := err != nil; {
	case b.runCtx.Err() != nil:
		return
	case failed && !b.catalog.failing:
		b.c.Log.WarnContext(ctx, "mcpbus: the list of tools cannot be refreshed, and stays as it is", "err", err)
	case !failed && b.catalog.failing:
		b.c.Log.InfoContext(ctx, "mcpbus: the list of tools is refreshed again")
	}
	b.catalog.failing = err != nil
}
