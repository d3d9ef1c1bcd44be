package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/keystile/keystile/storage/driver"
)

// reading is one of several reads that are made at once, and what becomes of its answer.
type reading struct {
	ask  driver.Ask
	take func(driver.Answer) error
}

// gather makes several reads: all of one moment and in one call where the adapter is a driver.Gatherer,
// otherwise one after the other.
func (s *Store) gather(ctx context.Context, rs ...reading) error {
	asks, n := make([]driver.Ask, len(rs)), 0
	for i, r := range rs {
		asks[i] = r.ask
		n += max(len(r.ask.IDs), r.ask.N)
	}
	if n > driver.Page {
		return fmt.Errorf("%w: %d records in one call, at most %d", ErrInvalid, n, driver.Page)
	}
	answers, err := s.answer(ctx, asks)
	if err != nil {
		return unavailable("gather", err)
	}
	for i, r := range rs {
		if err := r.take(answers[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) answer(ctx context.Context, asks []driver.Ask) ([]driver.Answer, error) {
	if g := driver.AsGatherer(s.writes.Backend); g != nil {
		answers, err := g.Gather(ctx, asks...)
		for i := range answers {
			if err == nil {
				err = openSums(answers[i].Docs)
			}
		}
		return answers, err
	}
	all := make([]driver.Answer, len(asks))
	for i, ask := range asks {
		for _, id := range ask.IDs {
			d, err := s.backend.Get(ctx, ask.Kind, id)
			if err == nil {
				all[i].Docs = append(all[i].Docs, d)
			} else if !errors.Is(err, ErrNotFound) {
				return nil, err
			}
		}
		if len(ask.IDs) > 0 || ask.N == 0 {
			continue
		}
		var err error
		if all[i].Docs, all[i].Next, err = s.backend.List(ctx, ask.Kind, ask.Span, ask.N); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// names returns the ids that something can be stored under, in order and each once.
func names(ids []string) []string {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !driver.ValidName(id) })
	slices.Sort(ids)
	return slices.Compact(ids)
}

// named reads the records with these ids, as get does; those that are not there are left out.
func named[T any](s *Store, k kind[T], ids []string, into *[]T) reading {
	return reading{driver.Ask{Kind: k.name, IDs: names(ids)}, func(a driver.Answer) error {
		for _, d := range a.Docs {
			v, err := k.remembered(s, d)
			if err != nil {
				return err
			}
			*into = append(*into, v)
		}
		return nil
	}}
}

// listed reads one page of the records with an entry in span, as list does.
func listed[T any](s *Store, k kind[T], span driver.Span, n int, into *[]T, next *string) reading {
	return reading{driver.Ask{Kind: k.name, Span: span, N: n}, func(a driver.Answer) error {
		*next = a.Next
		for _, d := range a.Docs {
			v, err := k.record(s, d)
			if err != nil {
				return err
			}
			*into = append(*into, v)
		}
		return nil
	}}
}

// AppsAndUsers returns the applications with these ids and the users with these subs, up to driver.Page
// together: each once, by id, and without those that are not there.
func (s *Store) AppsAndUsers(ctx context.Context, ids, subs []string) (a []App, u []User, err error) {
	err = s.gather(ctx, named(s, apps, ids, &a), named(s, users, subs, &u))
	if err != nil {
		return nil, nil, err
	}
	return a, u, nil
}

// UserGrants returns a user, or ErrNotFound, with everything that they have allowed and every application
// that they have met.
func (s *Store) UserGrants(ctx context.Context, sub string) (u User, given []Consent, met []OpenID, err error) {
	if !driver.ValidName(sub) {
		return u, nil, nil, ErrNotFound
	}
	const most = (driver.Page - 1) / 2
	var found []User
	var moreGiven, moreMet string
	span := driver.Is("user=" + sub)
	err = s.gather(ctx, named(s, users, []string{sub}, &found), listed(s, consents, span, most, &given, &moreGiven), listed(s, openIDs, span, most, &met, &moreMet))
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	if err == nil {
		given, err = consents.rest(ctx, s, span, given, moreGiven)
	}
	if err == nil {
		met, err = openIDs.rest(ctx, s, span, met, moreMet)
	}
	if err != nil {
		return User{}, nil, nil, err
	}
	return found[0], given, met, nil
}

// rest adds to the first page of a span what is behind it.
func (k kind[T]) rest(ctx context.Context, s *Store, span driver.Span, first []T, next string) ([]T, error) {
	if next == "" {
		return first, nil
	}
	span.From = next
	more, err := k.all(ctx, s, span)
	return append(first, more...), err
}

// OwnedBy returns the first applications, orders and capabilities of an owner (a sub), so many of each; more:
// there are more applications.
func (s *Store) OwnedBy(ctx context.Context, owner string, nApps, nOrders, nCapabilities int) (a []App, more bool, o []Order, c []Capability, err error) {
	if !driver.ValidName(owner) {
		return nil, false, nil, nil, nil // nothing can be listed under it
	}
	var next, other string
	span := driver.Is("owner=" + owner)
	err = s.gather(ctx, listed(s, apps, span, nApps, &a, &next), listed(s, orders, span, nOrders, &o, &other), listed(s, capabilities, span, nCapabilities, &c, &other))
	if err != nil {
		return nil, false, nil, nil, err
	}
	return a, next != "", o, c, nil
}
