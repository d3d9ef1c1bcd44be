package storage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
)

var bundles = kind[access.Bundle]{
	name:    "bundle",
	id:      func(b access.Bundle) string { return b.Name },
	index:   func(access.Bundle) []string { return []string{"all"} },
	version: func(b *access.Bundle) *int64 { return &b.Version },
}

// Bundle returns a bundle, or ErrNotFound.
func (s *Store) Bundle(ctx context.Context, name string) (access.Bundle, error) {
	return bundles.get(ctx, s, name)
}

// Bundles returns a page of all bundles.
func (s *Store) Bundles(ctx context.Context, from string, n int) ([]access.Bundle, string, error) {
	span := driver.Is("all")
	if from != "" {
		span.From = from
	}
	return bundles.list(ctx, s, span, n)
}

// SaveBundle writes a bundle. Version 0 creates it; it returns ErrExists if there is one of that
// name.
func (s *Store) SaveBundle(ctx context.Context, b access.Bundle) (access.Bundle, error) {
	if err := b.Check(); err != nil {
		return b, err
	}
	b.UpdatedAt = time.Now().UTC()
	if b.Version == 0 {
		if b.CreatedAt = b.UpdatedAt; s.tooManyBundles(ctx) {
			return b, fmt.Errorf("%w: there are %d bundles: delete one first", ErrInvalid, access.MaxBundles)
		}
	}
	b, err := bundles.put(ctx, s, b)
	if errors.Is(err, ErrExists) {
		err = fmt.Errorf("a bundle named %q is there already: %w", b.Name, ErrExists)
	}
	return b, err
}

func (s *Store) tooManyBundles(ctx context.Context) bool {
	page, _, err := s.Bundles(ctx, "", access.MaxBundles)
	return err == nil && len(page) >= access.MaxBundles
}

// DeleteBundle removes a bundle that has been read before.
func (s *Store) DeleteBundle(ctx context.Context, b access.Bundle) error {
	return bundles.remove(ctx, s, b)
}
