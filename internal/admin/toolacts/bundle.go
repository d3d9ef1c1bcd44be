package toolacts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/toolplan"
)

// CreateBundle makes a bundle of tools, each of which must be there. Administrators may.
func (a *Acts) CreateBundle(ctx context.Context, by admin.Actor, b access.Bundle) (access.Bundle, error) {
	b.Tools = slices.Compact(slices.Sorted(slices.Values(b.Tools)))
	if err := cmp.Or(by.Admin(), by.Fresh(), b.Check()); err != nil {
		return b, err
	}
	if err := a.haveTools(ctx, b.Tools); err != nil {
		return b, err
	}
	b, err := a.c.Store.SaveBundle(ctx, b)
	if err != nil {
		return b, err
	}
	return b, a.done(ctx, by, admin.Act{What: "bundle create", On: b.Name, Changes: []string{"none -> " + toolText(b)}})
}

// haveTools refuses names of tools on the bus that are not there.
func (a *Acts) haveTools(ctx context.Context, names []string) error {
	named := map[string][]string{}
	for _, name := range names {
		member, tool, _ := toolplan.SplitName(name)
		named[member] = append(named[member], tool)
	}
	for member, tools := range named {
		if err := a.hasTools(ctx, member, tools); err != nil {
			return err
		}
	}
	return nil
}

// BundleChange says what SetBundle changes; a nil field stays as it is.
type BundleChange struct {
	Label, Description *string
	Tools              []string // instead of those that the bundle has
}

// SetBundle changes what a bundle is called and which tools are in it, each of which must be there. Administrators may.
func (a *Acts) SetBundle(ctx context.Context, by admin.Actor, name string, c BundleChange) (before,
	after access.Bundle, err error) {
	if err := cmp.Or(by.Admin(), by.Fresh()); err != nil {
		return before, after, err
	}
	if err := a.haveTools(ctx, c.Tools); err != nil {
		return before, after, err
	}
	after, err = storage.RetryOnConflict(ctx, func() (access.Bundle, error) {
		b, err := a.c.Store.Bundle(ctx, name)
		if before = b; err != nil {
			return b, err
		}
		if c.Label != nil {
			b.Label = *c.Label
		}
		if c.Description != nil {
			b.Description = *c.Description
		}
		if c.Tools != nil {
			b.Tools = slices.Compact(slices.Sorted(slices.Values(c.Tools)))
		}
		return a.c.Store.SaveBundle(ctx, b)
	})
	if err != nil {
		return before, after, missing(err, "bundle", name)
	}
	return before, after, a.done(ctx, by, admin.Act{What: "bundle set", On: name,
		Changes: []string{toolText(before) + " -> " + toolText(after)}})
}

// SetBundleAccess changes who may use a bundle, which still opens no tool by itself. Administrators may.
func (a *Acts) SetBundleAccess(ctx context.Context, by admin.Actor, name string, ch AccessChange) (before,
	after access.Bundle, err error) {
	if err := cmp.Or(by.Admin(), by.Fresh()); err != nil {
		return before, after, err
	}
	for _, r := range ch.Add {
		if len(r.Tools) > 0 {
			return before, after, errPart
		}
	}
	if ch, err = a.checked(ctx, by, "", ch); err != nil {
		return before, after, err
	}
	after, err = storage.RetryOnConflict(ctx, func() (access.Bundle, error) {
		b, err := a.c.Store.Bundle(ctx, name)
		if err != nil {
			return b, err
		}
		before = b
		if b.Rules, err = ch.apply(by, b.Rules); err != nil {
			return b, err
		}
		return a.c.Store.SaveBundle(ctx, b)
	})
	if err != nil {
		return before, after, missing(err, "bundle", name)
	}
	return before, after, a.done(ctx, by, admin.Act{What: "bundle access", On: name,
		Changes: accessChanges(before.Rules, after.Rules)})
}

// errPart refuses a rule for a part of a bundle.
var errPart = fmt.Errorf("%w: a rule of a bundle is for all of it: leave out tools and read_only", storage.ErrInvalid)

// DeleteBundle deletes a bundle. Its tools stay where they are. Administrators may.
func (a *Acts) DeleteBundle(ctx context.Context, by admin.Actor, name string) error {
	if err := cmp.Or(by.Admin(), by.Fresh()); err != nil {
		return err
	}
	b, err := storage.RetryOnConflict(ctx, func() (access.Bundle, error) {
		b, err := a.c.Store.Bundle(ctx, name)
		if err != nil {
			return b, err
		}
		return b, a.c.Store.DeleteBundle(ctx, b)
	})
	if err != nil {
		return missing(err, "bundle", name)
	}
	return a.done(ctx, by, admin.Act{What: "bundle delete", On: name, Changes: []string{toolText(b) + " -> none"}})
}

// toolText names the tools of a bundle for the trail.
func toolText(b access.Bundle) string {
	if text := strings.Join(b.Tools, ", "); len(text) <= 600 {
		return text
	}
	return fmt.Sprintf("%d tools", len(b.Tools))
}
