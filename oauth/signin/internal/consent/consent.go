package consent

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/oauth/signin/internal/flow"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
)

// Path is the target of the form.
const Path = web.FormPath + "/consent"

// store keeps what users have allowed applications.
type store interface {
	Consent(ctx context.Context, appID, sub string) (storage.Consent, error)
	SaveConsent(ctx context.Context, c storage.Consent) (storage.Consent, error)
	KeepClient(ctx context.Context, id string) error
	GroupsOf(ctx context.Context, sub string) ([]access.Group, error)
}

// toolStore knows which tools users may use.
type toolStore interface {
	Offer(ctx context.Context, sub, clientID, scope string) (access.Offer, error)
}

// tokenRevoker ends tokens.
type tokenRevoker interface {
	Revoke(ctx context.Context, rs ...driver.Revocation) error
}

// userStore knows users by their sub.
type userStore interface {
	User(ctx context.Context, sub string) (storage.User, error)
}

// Consents asks users for consent, and keeps it.
type Consents struct {
	*flow.Steps
	Store           store
	Users           userStore
	Tools           toolStore     // nil: there is no choice among tools
	Revoker         tokenRevoker  // nil: who allows less than before has to end the old tokens otherwise
	RefreshLifetime time.Duration // an application that is not used for so long is signed out
}

func (s *Consents) Routes() []reply.Route {
	return []reply.Route{{Path: Path, Methods: []string{http.MethodPost}, Handle: s.answer, Fail: web.Fail}}
}

// Allowed returns what a user has allowed an application of a scope; of an empty one, it reports
// whether they have allowed it anything. It implements oauth.Consent.
func (s *Consents) Allowed(ctx context.Context, app storage.App,
	sub, wanted string) (granted string, ok bool, err error) {
	c, err := s.Store.Consent(ctx, app.ID, sub)
	if errors.Is(err, storage.ErrNotFound) || err == nil && c.Terms != app.Terms() {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	granted, ok = scope.Narrowed(wanted, c.Asked, c.Scope)
	return granted, ok, nil
}

// AllowedOnce returns what a user has just allowed an application of a scope that they are asked
// for each time, and uses that up. It implements oauth.Consent.
func (s *Consents) AllowedOnce(ctx context.Context, app storage.App,
	sub, wanted string) (granted string, ok bool, err error) {
	_, err = storage.RetryOnConflict(ctx, func() (storage.Consent, error) {
		c, err := s.Store.Consent(ctx, app.ID, sub)
		if err != nil {
			return c, err
		}
		granted, ok = scope.Narrowed(wanted, c.Asked, c.Scope+" "+c.Once)
		if !ok || !time.Now().Before(c.OnceUntil) || c.Terms != app.Terms() {
			return c, storage.ErrNotFound
		}
		c.Once, c.OnceUntil = "", time.Time{}
		return s.Store.SaveConsent(ctx, c) // of two requests at once one loses, and asks again
	})
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return "", false, nil
	case err != nil:
		return "", false, err
	}
	return granted, true, nil
}
