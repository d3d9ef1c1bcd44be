package tools

import (
	"context"
	"errors"
	"time"

	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

var accessLists = document.Kind[access.List]{
	Name:    "access",
	ID:      func(l access.List) string { return l.Member },
	Index:   func(access.List) []string { return []string{"all"} },
	Version: func(l *access.List) *int64 { return &l.Version },
}

// Access returns the access list of a capability, one without rules if there is none.
func (s *Store) Access(ctx context.Context, member string) (access.List, error) {
	l, err := document.Find(ctx, s.docs, accessLists, member)
	l.Member = member
	return l, err
}

// AccessLists returns a page of all access lists.
func (s *Store) AccessLists(ctx context.Context, from string, n int) ([]access.List, string, error) {
	span := driver.Is("all")
	if from != "" {
		span.From = from
	}
	return document.List(ctx, s.docs, accessLists, span, n)
}

// SaveAccess writes the access list of a capability, which must be there, or else it is
// ErrNotFound. A list without rules is removed. One that somebody else has written since it
// was read is ErrConflict.
func (s *Store) SaveAccess(ctx context.Context, l access.List) (access.List, error) {
	if err := l.Check(); err != nil {
		return l, err
	}
	if _, err := document.Get(ctx, s.docs, Capabilities, l.Member); err != nil {
		return l, err
	}
	if len(l.Rules) == 0 {
		if l.Version == 0 {
			return l, nil
		}
		err := document.Remove(ctx, s.docs, accessLists, l)
		l.Version = 0
		return l, err
	}
	if err := document.RequireFeature(ctx, s.docs, document.ToolAccess); err != nil {
		return l, err
	}
	l.UpdatedAt = time.Now().UTC()
	for {
		version, err := s.writeList(ctx, l)
		if document.LostRace(err, memberNames.Name) {
			continue // the capability was deleted, or its name recorded, meanwhile
		}
		if err == nil {
			l.Version = version
		} else if errors.Is(err, document.ErrExists) {
			err = document.ErrConflict
		}
		return l, err
	}
}

// writeList writes an access list together with the name of its capability, so that it does not outlive that.
func (s *Store) writeList(ctx context.Context, l access.List) (int64, error) {
	docs, err := s.nameOf(ctx, l.Member)
	if err != nil {
		return 0, err
	}
	list, err := accessLists.Doc(s.docs, l)
	if err != nil {
		return 0, err
	}
	return document.Write(ctx, s.docs, append(docs, list)...)
}

// withoutAccess returns the removal of a capability's access list, if it has one. It is
// written with a capability that begins or ends, so that nobody who takes its name later
// inherits the list.
func withoutAccess(ctx context.Context, docs *document.Store, member string) ([]driver.Doc, error) {
	l, err := document.Get(ctx, docs, accessLists, member)
	switch {
	case errors.Is(err, document.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return []driver.Doc{{Kind: accessLists.Name, ID: member, Version: l.Version, Deleted: true}}, nil
}
