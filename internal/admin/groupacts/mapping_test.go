package groupacts

import (
	"errors"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/groups"
)

func TestTrailHasWhatAConnectorSaysOfGroups(t *testing.T) {
	o := newOffice(t)
	o.mapped()
	m := groups.Mapping{Connector: "staff", Claim: "teams", Groups: map[string]string{"/ops": "ops", "/dev": "dev"}}
	_, err := o.SetMapping(t.Context(), operator, m)
	if err == nil {
		err = o.RemoveMapping(t.Context(), operator, "staff")
	}
	if err != nil {
		t.Fatal(err)
	}
	who := " staff by " + operator.Name()
	want := []string{
		`connector set` + who + `: groups_claim "groups" -> "teams"; groups_map "/dev" "" -> "dev"`,
		`connector remove` + who + `: groups_claim "teams" -> ""; groups_map "/dev" "dev" -> ""; groups_map "/ops" "ops" -> ""`,
	}
	for i, e := range o.trail {
		if i >= len(want) || e.Detail != want[i] {
			t.Errorf("on the trail is %q", e.Detail)
		}
	}
	if err := o.RemoveMapping(t.Context(), operator, "staff"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("removed again: %v", err)
	}
	m.Groups["/ops"] = "Ops"
	if _, err := o.SetMapping(t.Context(), operator, m); !errors.Is(err, storage.ErrInvalid) ||
		!strings.Contains(err.Error(), "the name of a group") {
		t.Errorf("a group that cannot be: %v", err)
	}
	if len(o.trail) != len(want) {
		t.Errorf("there are %d records", len(o.trail))
	}
}
