package people

import (
	"context"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// UserGrants returns a user, or ErrNotFound, with everything that they have allowed and every application
// that they have met.
func (s *Store) UserGrants(ctx context.Context, sub string) (u User, given []Consent, met []OpenID, err error) {
	if !driver.ValidName(sub) {
		return u, nil, nil, document.ErrNotFound
	}
	const most = (driver.Page - 1) / 2
	var found []User
	var moreGiven, moreMet string
	span := driver.Is("user=" + sub)
	err = document.Gather(ctx, s.docs, document.Named(s.docs, Users, []string{sub}, &found),
		document.Listed(s.docs, consents, span, most, &given, &moreGiven),
		document.Listed(s.docs, openIDs, span, most, &met, &moreMet))
	if err == nil && len(found) == 0 {
		err = document.ErrNotFound
	}
	if err == nil {
		given, err = document.Rest(ctx, s.docs, consents, span, given, moreGiven)
	}
	if err == nil {
		met, err = document.Rest(ctx, s.docs, openIDs, span, met, moreMet)
	}
	if err != nil {
		return User{}, nil, nil, err
	}
	return found[0], given, met, nil
}
