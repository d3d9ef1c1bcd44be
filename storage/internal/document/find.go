package document

import (
	"context"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/find"
)

const ListOfAll = "find=" // index entries of what is found by a text

// ListOf is the list of one owner's, a sub: of one length, so that no owner's is in another's.
func ListOf(owner string) string {
	if owner == "" {
		return ListOfAll
	}
	return "find." + handle.Hash(owner)[:32] + "="
}

// Look returns a page of up to n records of a list that begin with a text by one of their texts.
func Look[T any](ctx context.Context, s *Store, k Kind[T], texts func(T) []string, list, prefix, from string,
	n int) (page []T, next string, err error) {
	q, err := find.New(list, prefix, from)
	if err != nil {
		return nil, "", err
	}
	// A record that matches by two texts is listed twice.
	listed, more, err := s.backend.List(ctx, k.Name, q.Span(), min(2*n, driver.Page))
	if err != nil {
		return nil, "", Unavailable("find "+k.Name, err)
	}
	docs, next := q.Page(listed, n, more != "")
	for _, d := range docs {
		v, err := k.Record(s, d)
		if err != nil {
			return nil, "", err
		}
		if q.Begins(texts(v)...) {
			page = append(page, v)
		}
	}
	return page, next, nil
}
