package registry

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/hiddentext"
	"github.com/keystile/keystile/storage"
)

func TestRequestTextsAreNeverHidden(t *testing.T) {
	text := strings.Join(slices.Sorted(maps.Values(hiddentext.Hidden)), "")
	q := Request{Member: "m", Label: "Pe" + text + "ts", Description: "All" + text + " pets"}
	if c := q.applyTo(storage.Capability{}, nil); strings.ReplaceAll(c.Label+c.Description, " ", "") != "PetsAllpets" {
		t.Errorf("a capability is called %q, %q", c.Label, c.Description)
	}
}
