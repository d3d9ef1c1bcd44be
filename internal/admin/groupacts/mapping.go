package groupacts

import (
	"context"
	"errors"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/groups"
)

// mappings keeps the groups that the users of connectors are in.
type mappings interface {
	GroupMapping(ctx context.Context, connector string) (groups.Mapping, error)
	SaveGroupMapping(ctx context.Context, m groups.Mapping) (groups.Mapping, error)
	RemoveGroupMapping(ctx context.Context, m groups.Mapping) error
}

// SetMapping says which groups the users of a connector are in, from their next sign-ins on. Administrators may.
func (a *Acts) SetMapping(ctx context.Context, by admin.Actor, m groups.Mapping) (groups.Mapping, error) {
	if err := may(by); err != nil {
		return m, err
	}
	var before groups.Mapping
	after, err := storage.RetryOnConflict(ctx, func() (groups.Mapping, error) {
		is, err := a.c.Store.GroupMapping(ctx, m.Connector)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return is, err
		}
		before = is
		is.Connector, is.Claim, is.Groups = m.Connector, m.Claim, m.Groups
		return a.c.Store.SaveGroupMapping(ctx, is)
	})
	if err != nil {
		return after, err
	}
	return after, a.mapped(ctx, by, "connector set", before, after)
}

// RemoveMapping removes the mapping of a connector. Administrators may. The members that its users have become stay
// until the connector says something of groups again.
func (a *Acts) RemoveMapping(ctx context.Context, by admin.Actor, connector string) error {
	if err := may(by); err != nil {
		return err
	}
	m, err := storage.RetryOnConflict(ctx, func() (groups.Mapping, error) {
		m, err := a.c.Store.GroupMapping(ctx, connector)
		if err != nil {
			return m, err
		}
		return m, a.c.Store.RemoveGroupMapping(ctx, m)
	})
	if err != nil {
		return err
	}
	return a.mapped(ctx, by, "connector remove", m, groups.Mapping{Connector: connector})
}

func (a *Acts) mapped(ctx context.Context, by admin.Actor, what string, before, after groups.Mapping) error {
	return a.c.Recorder.Note(ctx, by, admin.Act{What: what, On: after.Connector,
		Changes: admin.MappingChanges(before, after)})
}
