package mcpbus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/cache"
	"github.com/keystile/keystile/internal/toolaccess"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
)

// Bounds of the cached roles of users and tiers of applications.
const (
	roleMaxAge     = time.Second // nobody tells of changes: users may be in a table of the host's
	groupsMaxAge   = time.Second // likewise: a membership that ended opens nothing a second later
	tierMaxAge     = 5 * time.Second
	factMaxStale   = time.Minute     // if the store does not answer
	factTimeout    = 2 * time.Second // of one read
	factRetryDelay = time.Second     // between failed reads
	factCapacity   = 16_384          // cached entries of a kind
)

// facts caches a property of users or applications by id, so that most calls read nothing from
// the store.
type facts[V any] struct {
	maxAge time.Duration
	read   func(ctx context.Context, id string) (V, error)
	known  *cache.Cache[string, *fact[V]]
}

func newFacts[V any](maxAge time.Duration, read func(ctx context.Context, id string) (V, error)) *facts[V] {
	return &facts[V]{maxAge: maxAge, read: read, known: cache.New[string, *fact[V]](factCapacity)}
}

// fact holds the cached property of one id. The holder of the lock reads it again.
type fact[V any] struct {
	mu    sync.Mutex
	value V
	at    time.Time // when it was read; zero: never
	err   error     // of the last reading
	tried time.Time
}

func (f *facts[V]) of(ctx context.Context, id string) (V, error) {
	one := f.known.GetOrPut(id, new(fact[V]))
	one.mu.Lock()
	defer one.mu.Unlock()
	now := time.Now()
	if !one.at.IsZero() && now.Sub(one.at) < f.maxAge {
		return one.value, nil
	}
	if one.err == nil || now.Sub(one.tried) >= factRetryDelay {
		f.refresh(ctx, id, one, now)
	}
	if one.err != nil && (one.at.IsZero() || now.Sub(one.at) >= factMaxStale) {
		var none V
		return none, one.err
	}
	return one.value, nil
}

// refresh reads a fact. Other requests wait for it, so it outlives the request that started it.
func (f *facts[V]) refresh(ctx context.Context, id string, one *fact[V], now time.Time) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), factTimeout)
	defer cancel()
	value, err := f.read(ctx, id)
	one.tried = time.Now()
	if one.err = err; err == nil {
		one.value, one.at = value, now
	}
}

// Forget drops the cached role and groups of a user (by sub), those that they manage included, or the tier of an
// application (by client_id). Call it after a change; other processes notice within a second.
func (b *Bus) Forget(id string) {
	b.roles.known.Delete(id)
	b.groups.known.Delete(id)
	b.managed.known.Delete(id)
	b.tiers.known.Delete(id)
}

// roleOf reads a user's role, "" for users that do not exist or are disabled.
func (b *Bus) roleOf(ctx context.Context, sub string) (string, error) {
	u, err := b.c.Users.User(ctx, sub)
	if errors.Is(err, storage.ErrNotFound) || err == nil && u.Disabled {
		return "", nil
	}
	return u.Role, err
}

// tierOf reads an application's tiers and owner. Which tier applies depends on the time.
func (b *Bus) tierOf(ctx context.Context, id string) (storage.App, error) {
	app, err := b.c.Store.App(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		err = nil
	}
	return storage.App{Tier: app.Tier, Tiers: app.Tiers, Owner: app.Owner}, err
}

// subjects returns the subjects of access rules that a caller matches. It reads only what the
// rules of the snapshot mention.
func (b *Bus) subjects(ctx context.Context, s *snapshot, caller storage.Caller) (who toolaccess.Who, err error) {
	who.User, who.App = caller.UserID, caller.AppID
	return b.complete(ctx, who, wants{role: s.strict, app: s.tiers || s.owners && who.User == "", groups: s.groups,
		managed: len(s.owning) > 0})
}

// wants says what is to be read of a caller.
type wants struct{ role, app, groups, managed bool }

// complete reads what is not known of a caller: the role of the user, the groups that they are in and those that they
// manage, the tier and the owner of the application, and the groups of that owner.
func (b *Bus) complete(ctx context.Context, who toolaccess.Who, read wants) (toolaccess.Who, error) {
	var err error
	if read.role && who.Role == "" && who.User != "" {
		if who.Role, err = b.roles.of(ctx, who.User); err != nil {
			return who, fmt.Errorf("mcpbus: the role of a user cannot be read: %w", err)
		}
	}
	if read.managed && who.User != "" {
		if who.Manages, err = b.managed.of(ctx, who.User); err != nil {
			return who, fmt.Errorf("mcpbus: the groups that a user manages cannot be read: %w", err)
		}
	}
	if who.Groups, err = groupsOf(ctx, b.groups, who.User, read); err != nil || !read.app {
		return who, err
	}
	of, err := b.tiers.of(ctx, who.App)
	if err != nil {
		return who, fmt.Errorf("mcpbus: the tier and owner of an application cannot be read: %w", err)
	}
	who.Tier = cmp.Or(who.Tier, of.TierAt(b.c.Store.Later(time.Now())))
	if who.User == "" {
		who.Owner = of.Owner
		who.OwnerGroups, err = groupsOf(ctx, b.groups, of.Owner, read)
	}
	return who, err
}

// managedBy reads the names of the groups that a user (a sub) manages.
func managedBy(ctx context.Context, in Store, sub string) (names []string, err error) {
	for from := ""; ; {
		page, next, err := in.GroupsManagedBy(ctx, sub, from, driver.Page)
		if err != nil {
			return nil, err
		}
		for _, g := range page {
			names = append(names, g.Name)
		}
		if from = next; next == "" {
			return names, nil
		}
	}
}

// groupsOf returns the groups of a user (a sub) where a rule asks for them.
func groupsOf(ctx context.Context, known *facts[[]access.Group], sub string, read wants) ([]access.Group, error) {
	if _, is := access.OwningGroup(sub); !read.groups || sub == "" || is { // a group is in no group
		return nil, nil
	}
	all, err := known.of(ctx, sub)
	if err != nil {
		err = fmt.Errorf("mcpbus: the groups of a user cannot be read: %w", err)
	}
	return all, err
}
