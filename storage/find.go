package storage

import (
	"context"
	"fmt"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/handle"
	"github.com/keystile/keystile/storage/internal/find"
)

const listOfAll = "find=" // index entries of what is found by a text

// listOf is the list of one owner's, a sub: of one length, so that no owner's is in another's.
func listOf(owner string) string {
	if owner == "" {
		return listOfAll
	}
	return "find." + handle.Hash(owner)[:32] + "="
}

// listWith is the list of the users who have a role.
func listWith(role string) string { return "find.role." + role + "=" }

// texts are those that a user is found by.
func (u User) texts() []string { return []string{u.Username, u.Email, u.Name, u.Nickname, u.Sub} }

func (u User) entries() []string {
	all := append([]string{"all"}, find.Entries(listOfAll, u.texts()...)...)
	if u.Role != "" {
		all = append(all, find.Entries(listWith(u.Role), u.texts()...)...)
	}
	return all
}

func (a App) texts() []string { return []string{a.Name, a.ID} }

func (a App) entries() []string {
	if a.Client != nil {
		return []string{"client"}
	}
	all := append(owned(a.Owner), "all")
	if a.Owner != "" {
		all = append(all, find.Entries(listOf(a.Owner), a.texts()...)...)
	}
	return append(all, find.Entries(listOfAll, a.texts()...)...)
}

// FindUsers returns a page of up to n users whose username, email, name, nickname or sub begins with
// a text, without regard to case and to how it was typed; n is 1 to 500. It begins at the start or at
// a next of before, and next is "" at the end. A page may have less than n, also none, before the
// end. A user who has not been saved since before there was a search is found when
// Counts says that it is Whole.
func (s *Store) FindUsers(ctx context.Context, prefix, from string, n int) ([]User, string, error) {
	return look(ctx, s, users, User.texts, listOfAll, prefix, from, n)
}

// FindUsersWithRole is FindUsers among those who have a role; with the text "" it lists them all.
func (s *Store) FindUsersWithRole(ctx context.Context, role, prefix, from string, n int) ([]User, string, error) {
	return look(ctx, s, users, User.texts, listWith(role), prefix, from, n)
}

// FindApps is FindUsers for applications that were registered here, by name and client_id: all, or
// those of one owner (a sub).
func (s *Store) FindApps(ctx context.Context, prefix, owner, from string, n int) ([]App, string, error) {
	return look(ctx, s, apps, App.texts, listOf(owner), prefix, from, n)
}

func look[T any](ctx context.Context, s *Store, k kind[T], texts func(T) []string, list, prefix, from string, n int) (page []T, next string, err error) {
	q, err := find.New(list, prefix, from)
	if err != nil {
		return nil, "", err
	}
	// Who matches by two texts is listed twice.
	listed, more, err := s.backend.List(ctx, k.name, q.Span(), min(2*n, driver.Page))
	if err != nil {
		return nil, "", unavailable("find "+k.name, err)
	}
	docs, next := q.Page(listed, n, more != "")
	for _, d := range docs {
		v, err := k.record(s, d)
		if err != nil {
			return nil, "", err
		}
		if q.Begins(texts(v)...) {
			page = append(page, v)
		}
	}
	return page, next, nil
}

// page returns a page of the records with exactly this entry.
func (k kind[T]) page(ctx context.Context, s *Store, entry, from string, n int) ([]T, string, error) {
	if !driver.ValidName(entry) {
		return nil, "", nil // nothing can be listed under it
	}
	span, err := pageSpan(driver.Is(entry), from)
	if err != nil {
		return nil, "", err
	}
	return k.list(ctx, s, span, n)
}

// pageSpan is the rest of a span. What lies outside of it is not for who may read the span.
func pageSpan(span driver.Span, from string) (driver.Span, error) {
	if from == "" {
		return span, nil
	}
	if from < span.From || from >= span.To {
		return span, fmt.Errorf("%w: from is the next of the page before, of the same list", ErrInvalid)
	}
	span.From = from
	return span, nil
}
