package consent

import (
	"context"
	"errors"

	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/storage"
)

// Remember stores what a user has allowed an application on a page other than the one of this package.
// What they allowed on other Terms is forgotten. If two requests do so at once, both count.
func (s *Consents) Remember(ctx context.Context, app storage.App, sub, asked, allowed string) error {
	for {
		c, err := s.Store.Consent(ctx, app.ID, sub)
		if errors.Is(err, storage.ErrNotFound) {
			c, err = storage.Consent{AppID: app.ID, UserID: sub}, nil
		}
		if err == nil {
			if c.Terms != app.Terms() {
				c.Scope, c.Asked, c.Terms, c.Once = "", "", app.Terms(), ""
			}
			c = c.With(allowed)
			if !scope.Within(allowed, asked) {
				c.Asked = storage.Consent{Scope: c.Asked}.With(asked).Scope
			}
			_, err = s.Store.SaveConsent(ctx, c)
		}
		if !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrExists) {
			return err
		}
	}
}
