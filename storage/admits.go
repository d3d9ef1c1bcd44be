package storage

import (
	"context"

	"github.com/keystile/keystile/storage/access"
)

// Admits reports whether a user may use an application, by its Admission and the groups that the user is in now. It
// reads nothing for an application that names no group, and an error of the store admits nobody.
//
// Everything that lets a user into an application asks it: to issue a code, to redeem one, to refresh, to allow a
// device, and to answer what an application asks of its user. The user may be of a host's own table.
func (s *Store) Admits(ctx context.Context, a App, u User) (bool, error) {
	v := access.Viewer{User: u.Sub, Role: u.Role}
	if a.Admission.NeedsGroups() {
		var err error
		if v.Groups, err = s.GroupsOf(ctx, u.Sub); err != nil {
			return false, err
		}
	}
	return a.Admission.Admits(v), nil
}
