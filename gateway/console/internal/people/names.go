package people

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/internal/cache"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

const (
	namesKept = 10_000      // of applications, and of users
	namesLast = time.Minute // until a new name is seen
	namesRead = 500         // in one go
)

// book remembers what applications, or users, are called, so that a list does not read each of them.
type book struct {
	known *cache.Cache[string, called]
	gone  atomic.Int64 // how often a name was forgotten
	one   func(ctx context.Context, id string) (string, error)
	// some returns names by id, in the order of ids, from one id on.
	some func(ctx context.Context, from string, n int) (map[string]string, error)
}

// called is a name, "" for what is gone, and how long it is believed.
type called struct {
	name  string
	until time.Time
}

func appBook(store Store) *book {
	return &book{known: cache.New[string, called](namesKept), one: func(ctx context.Context, id string) (string, error) {
		a, err := store.App(ctx, id)
		return a.Name, err
	}, some: func(ctx context.Context, from string, n int) (map[string]string, error) {
		page, _, err := store.Apps(ctx, "", from, n)
		names := map[string]string{}
		for _, a := range page {
			names[a.ID] = a.Name
		}
		return names, err
	}}
}

func userBook(store Store) *book {
	return &book{known: cache.New[string, called](namesKept), one: func(ctx context.Context, sub string) (string, error) {
		u, err := store.User(ctx, sub)
		return u.Username, err
	}, some: func(ctx context.Context, from string, n int) (map[string]string, error) {
		page, _, err := store.Users(ctx, from, n)
		names := map[string]string{}
		for _, u := range page {
			names[u.Sub] = u.Username
		}
		return names, err
	}}
}

// forget makes a name unknown that is not to be shown any more.
func (b *book) forget(id string) {
	b.gone.Add(1)
	b.known.Delete(id)
}

// of returns the names that are known, and asks the store at most calls times for the others: for many
// of them once, and for those that this has not found one by one. A name that is not found is "".
func (b *book) of(ctx context.Context, ids []string, calls int) (map[string]string, error) {
	names, now, gone := map[string]string{}, time.Now(), b.gone.Load()
	var missing []string
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		c, ok := b.known.Get(id)
		if ok {
			names[id] = c.name // also one that is old, if nothing newer is found
		}
		if !ok || now.After(c.until) {
			missing = append(missing, id)
		}
	}
	learn := func(id, name string) {
		names[id] = name
		b.known.Put(id, called{name, now.Add(namesLast)})
		if b.gone.Load() != gone { // it may have been read before that
			b.known.Delete(id)
		}
	}
	if len(missing) > calls && calls > 0 {
		found, err := b.some(ctx, driver.Is("all").From+missing[0], namesRead)
		if err != nil {
			return nil, err
		}
		for id, name := range found {
			learn(id, name)
		}
		missing = slices.DeleteFunc(missing, func(id string) bool { _, ok := found[id]; return ok })
		calls--
	}
	for _, id := range missing[:min(len(missing), max(calls, 0))] {
		name, err := b.one(ctx, id)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return nil, err
		}
		learn(id, name)
	}
	return names, nil
}
