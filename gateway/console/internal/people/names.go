package people

import (
	"context"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/cache"
)

const (
	namesKept = 10_000      // of applications, and of users
	namesLast = time.Minute // until a new name is seen
)

// names remembers what applications and users are called, so that a list does not read each of them.
type names struct {
	store       Store
	apps, users book
}

// book holds names by id.
type book struct{ known *cache.Cache[string, called] }

// called is a name, "" for what is gone, and how long it is believed.
type called struct {
	name  string
	until time.Time
}

func newNames(store Store) *names {
	return &names{store, book{cache.New[string, called](namesKept)}, book{cache.New[string, called](namesKept)}}
}

// of returns the names of applications and of users, and asks the store once at most, for those that are not
// known. What is gone has no name.
func (n *names) of(ctx context.Context, ids, subs []string) (apps, users map[string]string, err error) {
	now := time.Now()
	apps, ids = n.apps.of(ids, now)
	users, subs = n.users.of(subs, now)
	if len(ids)+len(subs) == 0 {
		return apps, users, nil
	}
	someApps, someUsers, err := n.store.AppsAndUsers(ctx, ids, subs)
	if err != nil {
		return nil, nil, err
	}
	for _, id := range ids {
		apps[id] = ""
	}
	for _, sub := range subs {
		users[sub] = ""
	}
	for _, a := range someApps {
		apps[a.ID] = a.Name
	}
	for _, u := range someUsers {
		users[u.Sub] = u.Username
	}
	n.apps.learn(ids, apps, now)
	n.users.learn(subs, users, now)
	return apps, users, nil
}

// of returns the names that are known, and the ids of the others.
func (b book) of(ids []string, now time.Time) (names map[string]string, missing []string) {
	names = map[string]string{}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		if c, ok := b.known.Get(id); ok && !now.After(c.until) {
			names[id] = c.name
		} else {
			missing = append(missing, id)
		}
	}
	return names, missing
}

func (b book) learn(ids []string, names map[string]string, now time.Time) {
	for _, id := range ids {
		b.known.Put(id, called{names[id], now.Add(namesLast)})
	}
}
