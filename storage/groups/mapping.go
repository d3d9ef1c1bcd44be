package groups

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/internal/document"
)

// Mapping says which groups here the users of a connector are in. It holds in place of what the configuration says of
// the connector.
type Mapping struct {
	Connector string            `json:"connector"`
	Claim     string            `json:"groups_claim"` // which has the groups of a user at the provider
	Groups    map[string]string `json:"groups_map"`   // the names of groups here by those at the provider
	UpdatedAt time.Time         `json:"updated_at"`
	Version   int64             `json:"-"`
	carried
}

var mappingKind = document.Kind[Mapping]{
	Name:    "groupmap",
	ID:      func(m Mapping) string { return m.Connector },
	Index:   func(Mapping) []string { return []string{"all"} },
	Version: func(m *Mapping) *int64 { return &m.Version },
}

// CheckMapping returns what is wrong with a claim and the groups that it maps to. Both are empty where a provider says
// nothing of groups.
func CheckMapping(claim string, names map[string]string) error {
	if (claim == "") != (len(names) == 0) {
		return errors.New("give both groups_claim, the claim that has the groups, and groups_map, which groups they are " +
			"here, or neither")
	}
	for _, theirs := range slices.Sorted(maps.Keys(names)) {
		if ours := names[theirs]; !access.IsGroupName(ours) {
			return fmt.Errorf("groups_map: %q: %q: the name of a group is %s", theirs, ours, access.GroupNameForm)
		}
	}
	return nil
}

// Check returns what is wrong with a mapping, as an ErrInvalid.
func (m Mapping) Check() error {
	err := CheckMapping(m.Claim, m.Groups)
	if err == nil && m.Claim == "" {
		err = errors.New("give groups_claim, the claim that has the groups, and groups_map, which groups they are here")
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", document.ErrInvalid, err)
	}
	return err
}

// SaveGroupMapping checks and writes a mapping; a new one has the Version 0.
func (s *Store) SaveGroupMapping(ctx context.Context, m Mapping) (Mapping, error) {
	if err := m.Check(); err != nil {
		return m, err
	}
	if m.Version == 0 {
		if err := document.RequireFeature(ctx, s.docs, document.Groups); err != nil {
			return m, err
		}
	}
	m.UpdatedAt = time.Now().UTC()
	return document.Put(ctx, s.docs, mappingKind, m)
}

// GroupMapping returns the mapping of a connector, or ErrNotFound.
func (s *Store) GroupMapping(ctx context.Context, connector string) (Mapping, error) {
	return document.Get(ctx, s.docs, mappingKind, connector)
}

// GroupMappings returns a page of up to n mappings by connector, from the start or from a next of before.
func (s *Store) GroupMappings(ctx context.Context, from string, n int) ([]Mapping, string, error) {
	return document.Page(ctx, s.docs, mappingKind, "all", from, n)
}

// RemoveGroupMapping removes a mapping: what the configuration says of the connector holds again.
func (s *Store) RemoveGroupMapping(ctx context.Context, m Mapping) error {
	return document.Remove(ctx, s.docs, mappingKind, m)
}
