package groups_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/memory"
)

func TestMappingOfAConnectorIsKeptUntilItIsRemoved(t *testing.T) {
	s, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.GroupMapping(t.Context(), "staff"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("none is stored: %v", err)
	}
	m, err := s.SaveGroupMapping(t.Context(), groups.Mapping{Connector: "staff", Claim: "groups",
		Groups: map[string]string{"/ops": "ops"}})
	if err != nil {
		t.Fatal(err)
	}
	m.Groups = map[string]string{"/ops": "ops", "": "rest"}
	if m, err = s.SaveGroupMapping(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if got, err := s.GroupMapping(t.Context(), "staff"); err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("%+v, %v, want %+v", got, err, m)
	}
	if all, next, err := s.GroupMappings(t.Context(), "", 10); err != nil || len(all) != 1 || next != "" {
		t.Errorf("listed: %+v, %q, %v", all, next, err)
	}
	if err := s.RemoveGroupMapping(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if _, err := s.GroupMapping(t.Context(), "staff"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("it was removed: %v", err)
	}
}

func TestMappingThatMeansNothingIsRefused(t *testing.T) {
	s, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	for want, m := range map[string]groups.Mapping{
		"give groups_claim":      {},
		"give both groups_claim": {Claim: "groups"},
		"or neither":             {Groups: map[string]string{"a": "b"}},
		`"/a": "Ops": the name`:  {Claim: "groups", Groups: map[string]string{"/a": "Ops"}},
	} {
		m.Connector = "staff"
		if _, err := s.SaveGroupMapping(t.Context(), m); !errors.Is(err, storage.ErrInvalid) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", m, err, want)
		}
	}
	if _, err := s.GroupMapping(t.Context(), "staff"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("something is stored: %v", err)
	}
}
