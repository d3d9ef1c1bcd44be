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

// catalogState holds what the snapshot is made from. Only the holder of its lock may use it.
type catalogState struct {
	sem     chan struct{}
	members map[string]*member
	rules   *rules // nil: not read yet
	dirty   bool   // members have changed since the snapshot was made
	listed  bool   // the last reading found all members, if not all of their tools
	failing bool   // the last refresh failed
}

// member is a capability on the bus with its tools.
type member struct {
	capability  storage.Capability
	accepted    []toolplan.Tool // of an upstream that lists its tools, as they are stored
	tools       []*tool
	discoverAt  time.Time // time of the next discovery, if it has any
	discovering bool
	trouble     string // why the last discovery has found no tools
}

// lock waits for the lock, or returns why ctx ended.
func (s *catalogState) lock(ctx context.Context) error {
	select {
	case s.sem <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *catalogState) unlock() { <-s.sem }

// Reload updates the list from the store: call it after a registration was written. Changes by
// other processes are found without it, within a second, or within Config.Refresh where nobody
// follows them. A capability that cannot be read stays as it was and is part of the error;
// everything else takes effect at once.
func (b *Bus) Reload(ctx context.Context) error {
	if err := b.catalog.lock(ctx); err != nil {
		return err
	}
	defer b.catalog.unlock()
	return b.reload(ctx)
}

// Update puts a capability on the list with its tools, or takes it off, as they were just stored: call it after a
// registration was written, which Reload would read. created is the version that made the capability, 0 if it
// was there before; an older access list was of another one of its name, and went when this one came.
func (b *Bus) Update(ctx context.Context, c storage.Capability, tools []toolplan.Tool, created int64) error {
	if err := b.catalog.lock(ctx); err != nil {
		return err
	}
	defer b.catalog.unlock()
	if b.catalog.rules == nil || b.catalog.members == nil || b.catalog.dirty { // the last reading was not whole
		return b.reload(ctx)
	}
	if known := b.catalog.members[c.Member]; known != nil && known.capability.Version >= c.Version {
		return nil
	}
	if l, stale := b.catalog.rules.lists[c.Member]; stale && l.Version < created {
		b.catalog.rules = b.catalog.rules.without(c.Member)
	}
	b.catalog.members[c.Member] = b.newMember(ctx, c, tools)
	b.publish(ctx)
	return nil
}

// reloadMembers reads the capabilities again, and reports whether any has changed.
func (b *Bus) reloadMembers(ctx context.Context) (changed bool, err error) {
	members, errs := map[string]*member{}, []error(nil)
	b.catalog.listed = false
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
			case errors.Is(err, storage.ErrNotFound): // removed meanwhile
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
	b.catalog.members, b.catalog.listed = members, true
	return changed, errors.Join(errs...)
}

// readMember reads a capability's tools, if it is published.
func (b *Bus) readMember(ctx context.Context, c storage.Capability) (*member, error) {
	if !c.Publish {
		return b.newMember(ctx, c, nil), nil
	}
	c, stored, err := b.c.Store.Tools(ctx, c.Member)
	if err != nil {
		return nil, err
	}
	return b.newMember(ctx, c, stored), nil
}

// newMember returns a capability with its tools as they are stored.
func (b *Bus) newMember(ctx context.Context, c storage.Capability, stored []toolplan.Tool) *member {
	if !c.Publish {
		return &member{capability: c}
	}
	m := &member{capability: c, discoverAt: time.Now(), tools: b.encodeTools(ctx, c, stored)}
	if c.AutoDiscover() {
		m.accepted = stored
	}
	return m
}

// encodeTools encodes stored tools. A tool that clients could not read is left out and logged,
// so that it does not cost them the others.
func (b *Bus) encodeTools(ctx context.Context, c storage.Capability, stored []toolplan.Tool) []*tool {
	tools, names := make([]*tool, 0, len(stored)), make(map[string]bool, len(stored))
	for _, s := range stored {
		t, err := newTool(&c, s, b.c.MaxName)
		if err == nil && names[t.listed] {
			err = errors.New("another one has its name")
		}
		if err != nil {
			b.c.Log.WarnContext(ctx, "mcpbus: a tool is not listed: register it again", "member", c.Member, "tool", s.Name,
				"err", err)
			continue
		}
		names[t.listed] = true
		tools = append(tools, t)
	}
	return tools
}

// publish replaces the snapshot. Each stream checks by itself whether its caller's list has
// changed.
func (b *Bus) publish(ctx context.Context) {
	b.snapshot.Store(newSnapshot(b.chooseTools(ctx), b.catalog.rules))
	b.catalog.dirty = false
	b.listeners.notifyAll()
}

// refreshAgain is the pause after a refresh that did not read what another process has changed.
const refreshAgain = time.Second

// refreshLoop polls for changes by other processes and starts discoveries, until Close.
func (b *Bus) refreshLoop() {
	tick, again := time.NewTicker(b.c.Refresh), time.NewTimer(0)
	defer tick.Stop()
	defer again.Stop()
	again.Stop()
	slots := make(chan struct{}, maxDiscoveries)
	for {
		b.startDiscoveries(slots)
		select {
		case <-b.runCtx.Done():
			return
		case <-tick.C:
		case <-b.changed:
		case <-again.C:
		}
		if b.refresh(); b.lag.lacks() {
			again.Reset(refreshAgain)
		}
	}
}

// follow takes what other processes have changed.
func (b *Bus) follow(c storage.Change) {
	switch c.Kind {
	case storage.ChangedApps:
		if c.IDs == nil {
			b.tiers.known.Clear()
		}
		for _, id := range c.IDs {
			b.tiers.known.Delete(id)
		}
	case storage.ChangedCapabilities, storage.ChangedAccess, storage.ChangedBundles, storage.ChangedSettings:
		b.lag.tell(time.Now())
		b.readAgain()
	}
}

// readAgain has the catalog read anew.
func (b *Bus) readAgain() {
	select {
	case b.changed <- struct{}{}:
	default: // a refresh is due already
	}
}

const refreshTimeout = 30 * time.Second

// refresh reloads the catalog. It logs the first failure and the recovery.
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
