package signin

import (
	"context"
	"net/http"

	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// Levels returns the values of acr, the lowest first: mfa for two factors, phr for a passkey, which resists
// phishing. It is one of the Levels of an oauth.Config.
func (*SignIn) Levels() []string { return factor.Levels }

// Level returns the acr that an application is told of a session: of its acr_values the first that is met, else
// the highest; "" for one factor. It is one of the Levels of an oauth.Config.
func (*SignIn) Level(v storage.Session, acrValues string) string { return factor.Told(v, acrValues) }

// Enough reports whether a session is enough for the acr_values of a request and for what its application
// requires. It is one of the Levels of an oauth.Config.
func (s *SignIn) Enough(ctx context.Context, v storage.Session, app storage.App, acrValues string) (bool, error) {
	return s.factors.Enough(ctx, v, app, acrValues)
}

// AskFactor answers an authorize request of a signed-in user whose session is not enough with the page that
// asks for what it lacks. It is one of the Levels of an oauth.Config, and takes r as Ask does.
func (s *SignIn) AskFactor(w http.ResponseWriter, r *http.Request, app storage.App, acrValues string) error {
	query, err := web.QueryOf(r)
	if err != nil {
		return err
	}
	asked, err := s.factors.Raise(w, r, app, acrValues, query)
	if err != nil || asked {
		return err
	}
	return s.Ask(w, r, app) // signed out meanwhile
}
