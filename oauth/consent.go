package oauth

import (
	"context"
	"net/http"
	"net/url"

	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/storage"
)

// Consent knows what users have allowed applications to learn about them and to do for
// them; *signin.SignIn implements it.
type Consent interface {
	// Allowed reports whether a user (a sub) has allowed an application everything in a scope,
	// which may be empty: then whether they have allowed it anything.
	Allowed(ctx context.Context, app storage.App, sub, scope string) (bool, error)
	// AllowedOnce is Allowed for a scope with a name that needs consent each time. It reports
	// true once for each consent, and only within ten minutes of it.
	AllowedOnce(ctx context.Context, app storage.App, sub, scope string) (bool, error)
	// AskConsent answers an authorize request with the consent page. The request is as for
	// SignIn.Ask; who is signed in and what would be granted have been found right. Afterwards
	// it brings the browser back to /oauth/authorize with the same parameters, but without
	// prompt=consent, which would ask for ever; or, if the answer is no, with one more:
	// keystile_consent=denied. Its errors become a 503 or 500 page.
	AskConsent(w http.ResponseWriter, r *http.Request, app storage.App, who storage.Session, scope string) error
}

// paramConsent marks an authorize request that the user has denied. It needs no proof: whoever
// forges it only makes the provider answer access_denied.
const paramConsent = "keystile_consent"

func (s *Server) denied(form url.Values) bool {
	return s.c.Consent != nil && form.Get(paramConsent) == "denied"
}

// consentRequired is the error of a request that needs the user's consent first.
type consentRequired struct {
	who   storage.Session
	scope string
}

func (*consentRequired) Error() string { return "the visitor has to consent" }

// consented returns nil, a *consentRequired, or the error of the lookup. A first-party
// application needs consent only if it sends prompt=consent or asks for a scope that is never
// granted silently: such a scope needs consent each time, and prompt=none gets nothing.
func (s *Server) consented(ctx context.Context, app storage.App, who storage.Session, granted string, prompt promptOptions) error {
	elevated := scope.HasElevated(granted)
	if s.c.Consent == nil || app.FirstParty && !prompt.consent && !elevated {
		return nil
	}
	allowed := s.c.Consent.Allowed
	if elevated {
		allowed = s.c.Consent.AllowedOnce
	}
	if !prompt.consent && !(elevated && prompt.never) {
		switch ok, err := allowed(ctx, app, who.UserID, granted); {
		case err != nil:
			return err
		case ok:
			return nil
		}
	}
	return &consentRequired{who, granted}
}
