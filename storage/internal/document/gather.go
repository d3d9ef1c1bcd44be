package document

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/keystile/keystile/storage/driver"
)

// Reading is one of several reads that are made at once, and what becomes of its answer.
type Reading struct {
	ask  driver.Ask
	Take func(driver.Answer) error
}

// Gather makes several reads: all of one moment and in one call where the adapter is a driver.Gatherer,
// otherwise one after the other.
func Gather(ctx context.Context, s *Store, rs ...Reading) error {
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
		return Unavailable("gather", err)
	}
	for i, r := range rs {
		if err := r.Take(answers[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) answer(ctx context.Context, asks []driver.Ask) ([]driver.Answer, error) {
	if g, ok := driver.As[driver.Gatherer](s.writes.Backend); ok {
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

// Named reads the records with these ids, as get does; those that are not there are left out.
func Named[T any](s *Store, k Kind[T], ids []string, into *[]T) Reading {
	return Reading{driver.Ask{Kind: k.Name, IDs: names(ids)}, func(a driver.Answer) error {
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

// Listed reads one page of the records with an entry in span, as list does.
func Listed[T any](s *Store, k Kind[T], span driver.Span, n int, into *[]T, next *string) Reading {
	return Reading{driver.Ask{Kind: k.Name, Span: span, N: n}, func(a driver.Answer) error {
		*next = a.Next
		for _, d := range a.Docs {
			v, err := k.Record(s, d)
			if err != nil {
				return err
			}
			*into = append(*into, v)
		}
		return nil
	}}
}

// Rest adds to the first page of a span what is behind it.
func Rest[T any](ctx context.Context, s *Store, k Kind[T], span driver.Span, first []T, next string) ([]T, error) {
	if next == "" {
		return first, nil
	}
	span.From = next
	more, err := All(ctx, s, k, span)
	return append(first, more...), err
}
