package serviceacts

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/switches"
	"github.com/keystile/keystile/storage"
)

// Set changes a setting, at once and for good, and returns its values. It is ErrNotFound if there is no such setting,
// and ErrInvalid if it cannot have the value.
func (a *Acts) Set(ctx context.Context, by admin.Actor, name, value string) (before, after string, err error) {
	if err := may(by); err != nil {
		return "", "", err
	}
	all := switches.All()
	i := slices.IndexFunc(all, func(one switches.Switch) bool { return one.Name == name })
	if i < 0 {
		return "", "", storage.ErrNotFound
	}
	if !slices.Contains(all[i].Values, value) {
		return "", "", fmt.Errorf("%w: value is one of %s", storage.ErrInvalid, strings.Join(all[i].Values, ", "))
	}
	is, err := a.c.Store.Settings(ctx)
	if err != nil {
		return "", "", err
	}
	before = all[i].Default
	for _, one := range is {
		if one.Name == name && one.Value != "" {
			before = one.Value
		}
	}
	if err := a.announce(ctx, by, "setting set", name, fmt.Sprintf("value %q -> %q", before, value)); err != nil {
		return before, before, err
	}
	if err := a.c.Store.Set(ctx, name, value); err != nil {
		return before, before, err
	}
	if a.c.Reload != nil {
		if err := a.c.Reload(ctx); err != nil {
			return before, value, &admin.Untold{Cause: err}
		}
	}
	return before, value, nil
}
