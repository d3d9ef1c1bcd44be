package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/toolplan"
)

var bundles = document.Kind[access.Bundle]{
	Name:    "bundle",
	ID:      func(b access.Bundle) string { return b.Name },
	Index:   func(access.Bundle) []string { return []string{"all"} },
	Version: func(b *access.Bundle) *int64 { return &b.Version },
}

// Bundle returns a bundle, or ErrNotFound.
func (s *Store) Bundle(ctx context.Context, name string) (access.Bundle, error) {
	return document.Get(ctx, s.docs, bundles, name)
}

// Bundles returns a page of all bundles.
func (s *Store) Bundles(ctx context.Context, from string, n int) ([]access.Bundle, string, error) {
	span := driver.Is("all")
	if from != "" {
		span.From = from
	}
	return document.List(ctx, s.docs, bundles, span, n)
}

// SaveBundle writes a bundle. Version 0 creates it; it returns ErrExists if there is one of that
// name. A tool that the bundle named before, of a capability whose name has passed to another owner since, is
// left out: whoever changes something else does not mean the other owner's. Named once more it is in.
func (s *Store) SaveBundle(ctx context.Context, b access.Bundle) (access.Bundle, error) {
	named := len(b.Tools)
	b, err := s.withoutPassed(ctx, b)
	if err == nil && named > 0 && len(b.Tools) == 0 {
		err = fmt.Errorf("%w: all its tools are of capabilities that have other owners now: remove the bundle, and make it "+
			"again if it is to have them", document.ErrInvalid)
	}
	if err := cmp.Or(err, b.Check()); err != nil {
		return b, err
	}
	b.UpdatedAt = time.Now().UTC()
	if b.Version == 0 {
		if b.CreatedAt = b.UpdatedAt; s.tooManyBundles(ctx) {
			return b, fmt.Errorf("%w: there are %d bundles: delete one first", document.ErrInvalid, access.MaxBundles)
		}
	}
	b, err = document.Put(ctx, s.docs, bundles, b)
	if errors.Is(err, document.ErrExists) {
		err = fmt.Errorf("a bundle named %q is there already: %w", b.Name, document.ErrExists)
	}
	return b, err
}

func (s *Store) withoutPassed(ctx context.Context, b access.Bundle) (access.Bundle, error) {
	if b.Version == 0 {
		return b, nil
	}
	before, err := document.Get(ctx, s.docs, bundles, b.Name)
	if errors.Is(err, document.ErrNotFound) {
		return b, nil // and the write finds a conflict
	}
	kept := make([]string, 0, len(b.Tools))
	for _, name := range b.Tools {
		member, _, _ := toolplan.SplitName(name)
		if err == nil && slices.Contains(before.Tools, name) {
			var c Capability
			if c, err = document.Get(ctx, s.docs, Capabilities, member); errors.Is(err, document.ErrNotFound) {
				err = nil
			} else if err == nil && !before.Knew(c.Since()) {
				continue
			}
		}
		kept = append(kept, name)
	}
	b.Tools = kept
	return b, err
}

func (s *Store) tooManyBundles(ctx context.Context) bool {
	page, _, err := s.Bundles(ctx, "", access.MaxBundles)
	return err == nil && len(page) >= access.MaxBundles
}

// DeleteBundle removes a bundle that has been read before.
func (s *Store) DeleteBundle(ctx context.Context, b access.Bundle) error {
	return document.Remove(ctx, s.docs, bundles, b)
}
