package ui

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/internal/cache"
	"github.com/keystile/keystile/storage"
)

const (
	namesKept = 10_000      // of applications, and of users
	namesLast = time.Minute // until a new name is seen
)

// Named reads what applications and users are called; *storage.Store does.
type Named interface {
	AppsAndUsers(ctx context.Context, ids, subs []string) ([]storage.App, []storage.User, error)
}

// Names remembers what applications and users are called, so that a list does not read each of them.
type Names struct {
	store       Named
	apps, users *book
}

// book holds names by id.
type book struct {
	known *cache.Cache[string, called]
	gone  atomic.Int64 // how often a name was forgotten
}

func newBook() *book { return &book{known: cache.New[string, called](namesKept)} }

// called is a name, "" for what is gone, and how long it is believed.
type called struct {
	name  string
	until time.Time
}

// NewNames makes a Names.
func NewNames(store Named) *Names { return &Names{store, newBook(), newBook()} }

// Of returns the names of applications and of users, and asks the store once at most, for those that are not
// known. A removed one has no name. The record of the reader, who, has just been read, and is not read again.
func (n *Names) Of(ctx context.Context, who storage.User, ids, subs []string) (apps, users map[string]string,
	err error) {
	now, gone := time.Now(), n.users.gone.Load()
	apps, ids = n.apps.of(ids, now)
	users, subs = n.users.of(subs, now)
	if i := slices.Index(subs, who.Sub); i >= 0 && who.Sub != "" {
		users[who.Sub] = who.Username
		subs = slices.Delete(subs, i, i+1)
	}
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
	n.apps.learn(ids, apps, now, 0) // no application's name is forgotten
	n.users.learn(subs, users, now, gone)
	return apps, users, nil
}

// of returns the names that are known, and the ids of the others.
func (b *book) of(ids []string, now time.Time) (names map[string]string, missing []string) {
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

// Forget drops the name of a user (a sub) that was erased.
func (n *Names) Forget(sub string) { n.users.forget(sub) }

// forget makes a name unknown that is not to be shown any more.
func (b *book) forget(id string) {
	b.gone.Add(1)
	b.known.Delete(id)
}

// learn takes names that were read after so many others had been forgotten.
func (b *book) learn(ids []string, names map[string]string, now time.Time, gone int64) {
	for _, id := range ids {
		b.known.Put(id, called{names[id], now.Add(namesLast)})
		if b.gone.Load() != gone { // it may have been read before that
			b.known.Delete(id)
		}
	}
}
