package groups_test

import (
	"errors"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// Of a gift to a group and the end of the group one fails, whichever of them has read first. A group that is made anew
// has nothing.
func TestGroupThatWasGivenSomethingMeanwhileIsNotDeleted(t *testing.T) {
	ctx := t.Context()
	for name, give := range map[string]func(town) error{
		"an application": func(w town) error {
			app, err := w.SaveApp(ctx, storage.App{Name: "Shop", Domains: []string{"shop.example"}})
			if err == nil {
				_, err = w.GiveApp(ctx, app, "group:ops")
			}
			return err
		},
		"a new application": func(w town) error {
			_, err := w.CreateApp(ctx, storage.App{Name: "Shop", Owner: "group:ops", Domains: []string{"shop.example"}}, 0,
				storage.Quota{})
			return err
		},
		"a new capability": func(w town) error {
			_, err := w.SaveCapability(ctx, storage.Capability{Member: "pets", Kind: storage.CapabilityStatic,
				UpstreamURL: "https://pets.example", Owner: "group:ops"}, []toolplan.Tool{{Name: "get"}})
			return err
		},
		"a capability": func(w town) error {
			c, err := w.SaveCapability(ctx, storage.Capability{Member: "pets", Kind: storage.CapabilityStatic,
				UpstreamURL: "https://pets.example"}, []toolplan.Tool{{Name: "get"}})
			if err == nil {
				c.Owner = "group:ops"
				_, err = w.SaveCapability(ctx, c, nil)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t)
			g := w.group("ops")
			if err := give(w); err != nil {
				t.Fatal(err)
			}
			if err := w.DeleteGroup(ctx, g); !errors.Is(err, storage.ErrConflict) {
				t.Errorf("the group that was given it ends: %v", err)
			}
			w = newTown(t)
			if err := w.DeleteGroup(ctx, w.group("ops")); err != nil {
				t.Fatal(err)
			}
			if err := give(w); !errors.Is(err, storage.ErrInvalid) {
				t.Errorf("the group that has ended is given it: %v", err)
			}
		})
	}
}
