package storage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Bundle is a named choice of tools of several capabilities: what an agent is given instead
// of everything. It opens nothing by itself: who may not use a tool does not find it in a
// bundle either.
type Bundle struct {
	Name        string    `json:"name"`
	Label       string    `json:"label,omitempty"`
	Description string    `json:"description,omitempty"`
	Tools       []string  `json:"tools"` // as on the bus, member__tool, or member__* for all of a capability
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	Version     int64     `json:"-"`
	carried
}

// Limits of bundles.
const (
	MaxBundles     = 1000
	MaxBundleTools = 1000 // that one bundle names
	maxBundleText  = 1000 // bytes of a label or description
	maxMember      = 48   // bytes of the name of a capability, and of a bundle
)

var bundles = kind[Bundle]{
	name:    "bundle",
	id:      func(b Bundle) string { return b.Name },
	index:   func(Bundle) []string { return []string{"all"} },
	version: func(b *Bundle) *int64 { return &b.Version },
}

// SplitTool splits the name of a tool on the bus into those of its capability and its own;
// false if it is not of that form.
func SplitTool(name string) (member, tool string, ok bool) {
	member, tool, ok = strings.Cut(name, "__")
	return member, tool, ok && isMember(member) && tool != ""
}

func isMember(text string) bool { return isToolName(text) && len(text) <= maxMember }

// IsBundleName reports whether a bundle can have this name: 1 to 48 of A-Z a-z 0-9 _ -.
func IsBundleName(text string) bool { return isMember(text) }

// Knew reports whether a capability was there when the bundle was written. One that was not
// has no tools in it: its name may have been somebody else's then.
func (b Bundle) Knew(c Capability) bool { return !c.CreatedAt.After(b.UpdatedAt) }

func (b Bundle) check() error {
	switch {
	case !IsBundleName(b.Name):
		return fmt.Errorf("%w: the name of a bundle is 1 to %d of A-Z a-z 0-9 _ -", ErrInvalid, maxMember)
	case len(b.Label) > maxBundleText || len(b.Description) > maxBundleText:
		return fmt.Errorf("%w: label and description have at most %d bytes", ErrInvalid, maxBundleText)
	case len(b.Tools) == 0 || len(b.Tools) > MaxBundleTools:
		return fmt.Errorf("%w: a bundle names 1 to %d tools", ErrInvalid, MaxBundleTools)
	}
	for _, name := range b.Tools {
		if _, tool, ok := SplitTool(name); !ok || tool != "*" && !isToolName(name) {
			return fmt.Errorf("%w: %q is neither member__tool nor member__*", ErrInvalid, name)
		}
	}
	return nil
}

// Bundle returns a bundle, or ErrNotFound.
func (s *Store) Bundle(ctx context.Context, name string) (Bundle, error) {
	return bundles.get(ctx, s, name)
}

// Bundles returns a page of all bundles.
func (s *Store) Bundles(ctx context.Context, from string, n int) ([]Bundle, string, error) {
	span := driver.Is("all")
	if from != "" {
		span.From = from
	}
	return bundles.list(ctx, s, span, n)
}

// SaveBundle writes a bundle. Version 0 makes it: ErrExists if there is one of that name.
func (s *Store) SaveBundle(ctx context.Context, b Bundle) (Bundle, error) {
	if err := b.check(); err != nil {
		return b, err
	}
	b.UpdatedAt = time.Now().UTC()
	if b.Version == 0 {
		if b.CreatedAt = b.UpdatedAt; s.tooManyBundles(ctx) {
			return b, fmt.Errorf("%w: there are %d bundles: delete one first", ErrInvalid, MaxBundles)
		}
	}
	b, err := bundles.put(ctx, s, b)
	if errors.Is(err, ErrExists) {
		err = fmt.Errorf("a bundle named %q is there already: %w", b.Name, ErrExists)
	}
	return b, err
}

func (s *Store) tooManyBundles(ctx context.Context) bool {
	page, _, err := s.Bundles(ctx, "", MaxBundles)
	return err == nil && len(page) >= MaxBundles
}

// DeleteBundle removes a bundle that has been read before.
func (s *Store) DeleteBundle(ctx context.Context, b Bundle) error { return bundles.remove(ctx, s, b) }
