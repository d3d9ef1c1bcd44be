package memory

import (
	"context"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage/driver"
)

// Get returns one document.
func (s *Store) Get(ctx context.Context, kind, id string) (d driver.Doc, err error) {
	err = s.step(ctx, func() error {
		stored, there := s.docs[name{kind, id}]
		if !there {
			return driver.ErrNotFound
		}
		d = clone(stored)
		return nil
	})
	return d, err
}

// List returns a page of the documents with an entry in span, a document once for each
// of its entries there.
func (s *Store) List(ctx context.Context, kind string, span driver.Span,
	n int) (docs []driver.Doc, next string, err error) {
	err = s.step(ctx, func() error {
		docs, next = s.page(kind, span, n)
		return nil
	})
	return docs, next, err
}

func (s *Store) page(kind string, span driver.Span, n int) (docs []driver.Doc, next string) {
	found := s.places(kind, span)
	if len(found) > n {
		found, next = found[:n], found[n]
	}
	for _, place := range found {
		_, id, _ := strings.Cut(place, driver.Separator)
		docs = append(docs, clone(s.docs[name{kind, id}]))
	}
	return docs, next
}

// Gather answers several reads in one step.
func (s *Store) Gather(ctx context.Context, asks ...driver.Ask) (all []driver.Answer, err error) {
	err = s.step(ctx, func() error {
		for _, ask := range asks {
			var a driver.Answer
			if len(ask.IDs) == 0 && ask.N > 0 {
				a.Docs, a.Next = s.page(ask.Kind, ask.Span, ask.N)
			}
			for _, id := range slices.Compact(slices.Sorted(slices.Values(ask.IDs))) {
				if stored, there := s.docs[name{ask.Kind, id}]; there {
					a.Docs = append(a.Docs, clone(stored))
				}
			}
			all = append(all, a)
		}
		return nil
	})
	return all, err
}

// places returns entry + Separator + id of what lies in span, in order.
func (s *Store) places(kind string, span driver.Span) []string {
	var found []string
	for _, d := range s.docs {
		if d.Kind != kind {
			continue
		}
		for _, entry := range d.Index {
			if place := entry + driver.Separator + d.ID; span.From <= place && place < span.To {
				found = append(found, place)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// Put looks at all documents before it writes the first.
func (s *Store) Put(ctx context.Context, docs ...driver.Doc) (version int64, err error) {
	if err := driver.CheckPut(docs...); err != nil {
		return 0, err
	}
	err = s.step(ctx, func() error {
		if len(docs) == 0 {
			return nil
		}
		for _, d := range docs {
			if err := s.inTheWay(d); err != nil {
				return err
			}
		}
		s.version++
		for _, d := range docs {
			s.write(d)
		}
		version = s.version
		return nil
	})
	return version, err
}

func (s *Store) inTheWay(d driver.Doc) error {
	stored, there := s.docs[name{d.Kind, d.ID}]
	switch {
	case d.Version == 0 && there:
		return &driver.PutError{Kind: d.Kind, ID: d.ID, Err: driver.ErrExists}
	case d.Version != 0 && d.Version != stored.Version: // a document that is gone has version 0
		return &driver.PutError{Kind: d.Kind, ID: d.ID, Err: driver.ErrConflict}
	}
	return nil
}

func (s *Store) write(d driver.Doc) {
	if d.Deleted {
		delete(s.docs, name{d.Kind, d.ID})
		return
	}
	d = clone(d)
	d.Version = s.version
	d.ExpiresAt = plain(d.ExpiresAt)
	s.docs[name{d.Kind, d.ID}] = d
}

func clone(d driver.Doc) driver.Doc {
	d.Index, d.Data = slices.Clone(d.Index), slices.Clone(d.Data)
	return d
}
