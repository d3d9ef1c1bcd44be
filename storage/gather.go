package storage

import (
	"context"

	"github.com/keystile/keystile/storage/apps"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/people"
	"github.com/keystile/keystile/storage/tools"
)

// AppsAndUsers returns the applications with these ids and the users with these subs, up to driver.Page
// together: each once, by id, and without those that are not there.
func (s *Store) AppsAndUsers(ctx context.Context, ids, subs []string) (a []App, u []User, err error) {
	err = document.Gather(ctx, s.documents, document.Named(s.documents, apps.Apps, ids, &a),
		document.Named(s.documents, people.Users, subs, &u))
	if err != nil {
		return nil, nil, err
	}
	return a, u, nil
}

// OwnedBy returns the first applications, orders and capabilities of an owner (a sub), so many of each; more:
// there are more applications.
func (s *Store) OwnedBy(ctx context.Context, owner string,
	nApps, nOrders, nCapabilities int) (a []App, more bool, o []Order, c []Capability, err error) {
	if !driver.ValidName(owner) {
		return nil, false, nil, nil, nil // nothing can be listed under it
	}
	var next, other string
	span := driver.Is("owner=" + owner)
	err = document.Gather(ctx, s.documents, document.Listed(s.documents, apps.Apps, span, nApps, &a, &next),
		document.Listed(s.documents, apps.Orders, span, nOrders, &o, &other),
		document.Listed(s.documents, tools.Capabilities, span, nCapabilities, &c, &other))
	if err != nil {
		return nil, false, nil, nil, err
	}
	return a, next != "", o, c, nil
}
