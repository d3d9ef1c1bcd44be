package service

import (
	"context"
	"slices"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// trailIndexKind is the kind of the documents by which audit records are found. They hold no text and
// no secret, only what is derived from the records, in a form of their own: a process of a version
// that does not know the form leaves them alone, because they say which one it is.
const trailIndexKind = "trail"

// TrailIndex returns up to n documents of the index of the audit trail that have an entry in span, in the
// order of their entries. They belong to whoever searches the trail.
func (s *Store) TrailIndex(ctx context.Context, span driver.Span, n int) (docs []driver.Doc, next string, err error) {
	docs, next, err = document.Backend(s.docs).List(ctx, trailIndexKind, span, n)
	return docs, next, document.Unavailable("list the index of the audit trail", err)
}

// SaveTrailIndex writes documents of the index of the audit trail, all or none, whatever Kind they name.
func (s *Store) SaveTrailIndex(ctx context.Context, docs ...driver.Doc) (version int64, err error) {
	docs = slices.Clone(docs)
	for i := range docs {
		docs[i].Kind = trailIndexKind
	}
	return document.Write(ctx, s.docs, docs...)
}
