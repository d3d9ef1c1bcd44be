package mcpbus_test

import (
	"context"
	"errors"
	"testing"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
)

// ruleless is a catalog whose access lists cannot be read.
type ruleless struct{ *storage.Store }

func (ruleless) AccessLists(context.Context, string, int) ([]access.List, string, error) {
	return nil, "", errAway
}

// stumbling is a catalog whose access lists can be read a number of times.
type stumbling struct {
	*storage.Store
	left int
}

func (c *stumbling) AccessLists(ctx context.Context, from string, n int) ([]access.List, string, error) {
	if c.left--; c.left < 0 {
		return nil, "", errAway
	}
	return c.Store.AccessLists(ctx, from, n)
}

// Capabilities that were read before the rules could not be read are not lost.
func TestChangeIsListedOnceTheRulesCanBeReadAgain(t *testing.T) {
	h := emptyFixture(t)
	catalog := &stumbling{h.store, 1000}
	h.open(func(c *mcpbus.Config) { c.Store = catalog })
	h.register(capability("pets", "https://pets.example.com"), rest("get", "getPet"))
	catalog.left = 1
	if err := h.bus.Reload(t.Context()); !errors.Is(err, errAway) {
		t.Errorf("Reload() = %v, want %v", err, errAway)
	}
	h.wantList("without its rules")
	catalog.left = 1000
	h.reload()
	h.wantList("with its rules", "pets__getPet")
}

// shifting is a catalog in which somebody removes a capability and its list between two
// readings.
type shifting struct {
	*storage.Store
	between func()
}

func (c *shifting) Capabilities(ctx context.Context, owner, from string, n int) ([]storage.Capability, string, error) {
	page, next, err := c.Store.Capabilities(ctx, owner, from, n)
	if do := c.between; do != nil {
		c.between = nil
		do()
	}
	return page, next, err
}

func TestRuleRemovedMeanwhileHidesTheTool(t *testing.T) {
	h := emptyFixture(t)
	c := h.register(capability("payroll", "https://payroll.example.com"), rest("delete", "wipe"))
	h.allow("payroll", access.Rule{Subject: "user:u9"})
	catalog := &shifting{Store: h.store}
	h.open(func(c *mcpbus.Config) { c.Store = catalog })
	h.wantList("as it stands")
	catalog.between = func() {
		if err := h.store.DeleteCapability(t.Context(), c); err != nil {
			t.Error(err)
		}
	}
	h.reload()
	h.wantList("after it was removed")
}
