package document

import (
	"context"
	"fmt"

	"github.com/keystile/keystile/storage/driver"
)

// Owned returns the index entries of what somebody owns, none of what nobody owns.
func Owned(by string) []string {
	if by == "" {
		return nil
	}
	return []string{"owner=" + by}
}

// Page returns a page of the records with exactly this entry.
func Page[T any](ctx context.Context, s *Store, k Kind[T], entry, from string, n int) ([]T, string, error) {
	if !driver.ValidName(entry) {
		return nil, "", nil // nothing can be listed under it
	}
	span, err := PageSpan(driver.Is(entry), from)
	if err != nil {
		return nil, "", err
	}
	return List(ctx, s, k, span, n)
}

// PageSpan is the rest of a span. A caller who may read the span may not read beyond it.
func PageSpan(span driver.Span, from string) (driver.Span, error) {
	if from == "" {
		return span, nil
	}
	if from < span.From || from >= span.To {
		return span, fmt.Errorf("%w: from is the next of the page before, of the same list", ErrInvalid)
	}
	span.From = from
	return span, nil
}
