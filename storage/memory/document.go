package memory

import (
	"context"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage"
)

// Get returns one document.
func (s *Store) Get(ctx context.Context, kind, id string) (d storage.Doc, err error) {
	err = s.step(ctx, func() error {
		stored, there := s.docs[name{kind, id}]
		if !there {
			return storage.ErrNotFound
		}
		d = clone(stored)
		return nil
	})
	return d, err
}

// List returns a page of the documents with an entry in span, a document once for each
// of its entries there.
func (s *Store) List(ctx context.Context, kind string, span storage.Span, n int) (docs []storage.Doc, next string, err error) {
	err = s.step(ctx, func() error {
		found := s.places(kind, span)
		if len(found) > n {
			found, next = found[:n], found[n]
		}
		for _, place := range found {
			_, id, _ := strings.Cut(place, storage.Separator)
			docs = append(docs, clone(s.docs[name{kind, id}]))
		}
		return nil
	})
	return docs, next, err
}

// places returns entry + Separator + id of what lies in span, in order.
func (s *Store) places(kind string, span storage.Span) []string {
	var found []string
	for _, d := range s.docs {
		if d.Kind != kind {
			continue
		}
		for _, entry := range d.Index {
			if place := entry + storage.Separator + d.ID; span.From <= place && place < span.To {
				found = append(found, place)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// Put looks at all documents before it writes the first.
func (s *Store) Put(ctx context.Context, docs ...storage.Doc) (version int64, err error) {
	if err := storage.CheckPut(docs...); err != nil {
		return 0, err
	}
	err = s.step(ctx, func() error {
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

func (s *Store) inTheWay(d storage.Doc) error {
	stored, there := s.docs[name{d.Kind, d.ID}]
	switch {
	case d.Version == 0 && there:
		return &storage.PutError{Kind: d.Kind, ID: d.ID, Err: storage.ErrExists}
	case d.Version != 0 && d.Version != stored.Version: // a document that is gone has version 0
		return &storage.PutError{Kind: d.Kind, ID: d.ID, Err: storage.ErrConflict}
	}
	return nil
}

func (s *Store) write(d storage.Doc) {
	if d.Deleted {
		delete(s.docs, name{d.Kind, d.ID})
		return
	}
	d = clone(d)
	d.Version = s.version
	d.ExpiresAt = plain(d.ExpiresAt)
	s.docs[name{d.Kind, d.ID}] = d
}

func clone(d storage.Doc) storage.Doc {
	d.Index, d.Data = slices.Clone(d.Index), slices.Clone(d.Data)
	return d
}
