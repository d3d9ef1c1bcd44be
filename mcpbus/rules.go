package mcpbus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
)

// rules holds the access lists and the bundles.
type rules struct {
	lists       map[string]access.List // by member
	bundles     []access.Bundle
	defaultOpen bool   // everybody may use a capability without a list
	defaultBy   string // the value of the setting by which that is so
}

// same reports whether two readings are the same.
func (r *rules) same(other *rules) bool {
	return r != nil && r.defaultOpen == other.defaultOpen && r.defaultBy == other.defaultBy &&
		maps.EqualFunc(r.lists, other.lists, func(a, b access.List) bool { return a.Version == b.Version }) &&
		slices.EqualFunc(r.bundles, other.bundles,
			func(a, b access.Bundle) bool { return a.Name == b.Name && a.Version == b.Version })
}

// without returns the rules without the access list of a capability.
func (r *rules) without(member string) *rules {
	other := *r
	other.lists = maps.Clone(r.lists)
	delete(other.lists, member)
	return &other
}

// maxReadings bounds how often rules are read until two readings agree.
const maxReadings = 3

// reload makes a new snapshot if the catalog has changed. The rules are read before and after
// the capabilities until both readings agree, so that no tool is listed without its rules.
func (b *Bus) reload(ctx context.Context) error {
	told := b.lag.begin()
	before, err := b.readRules(ctx)
	if err != nil {
		return err
	}
	var errs error
	for n := 1; ; n++ {
		changed, err := b.reloadMembers(ctx)
		b.catalog.dirty = b.catalog.dirty || changed
		if b.catalog.members == nil { // nothing was ever read
			return err
		}
		errs = err
		after, err := b.readRules(ctx)
		if err != nil {
			return errors.Join(errs, err)
		}
		still := before.same(after)
		if before = after; still || n == maxReadings {
			break
		}
	}
	if b.catalog.dirty || !b.catalog.rules.same(before) {
		b.catalog.rules = before
		b.publish(ctx)
	}
	if b.catalog.listed {
		b.lag.done(told, time.Now())
	}
	return errs
}

func (b *Bus) readRules(ctx context.Context) (r *rules, err error) {
	r = &rules{lists: map[string]access.List{}}
	if r.defaultOpen, r.defaultBy, err = b.c.isOpen(ctx); err != nil {
		return nil, fmt.Errorf("mcpbus: the setting %s cannot be read: %w", storage.SettingDefaultAccess, err)
	}
	lists, err := readAll(func(from string) ([]access.List, string, error) {
		return b.c.Store.AccessLists(ctx, from, driver.Page)
	})
	if err != nil {
		return nil, fmt.Errorf("mcpbus: the access lists cannot be read: %w", err)
	}
	for _, l := range lists {
		r.lists[l.Member] = l
	}
	r.bundles, err = readAll(func(from string) ([]access.Bundle, string, error) {
		return b.c.Store.Bundles(ctx, from, driver.Page)
	})
	if err != nil {
		return nil, fmt.Errorf("mcpbus: the bundles cannot be read: %w", err)
	}
	return r, nil
}

// isOpen reports whether everybody may use a capability without an access list, and by which value of
// the setting; where none is stored, that is auto.
func (c *Config) isOpen(ctx context.Context) (open bool, by string, err error) {
	switch by, err = c.Store.Setting(ctx, storage.SettingDefaultAccess); {
	case err != nil:
		return false, "", err
	case by == "" || by == storage.AccessAuto:
		return c.DefaultAccess == storage.AccessEveryone, storage.AccessAuto, nil
	default:
		return by == storage.AccessEveryone, by, nil
	}
}

// readAll reads all pages of a list.
func readAll[T any](page func(from string) ([]T, string, error)) (out []T, err error) {
	for from := ""; ; {
		some, next, err := page(from)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
		if next == "" || next == from {
			return out, nil
		}
		from = next
	}
}
