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
//
// The user is asked after the sign-in, for exactly the scope that would be granted, and before anything is
// written: no openid and no code. A denial comes back as one more parameter of the authorize request, which is
// checked from the start, so that it goes to a validated redirect_uri.
type Consent interface {
	// Allowed returns what a grant of a scope to an application holds: the scope itself if the user (a
	// sub) has allowed everything in it, or what they have allowed in its place, such as one bundle
	// for all tools (decision 55). It reports false if the user has to be asked. The scope may be
	// empty: then it reports whether they have allowed the application anything. Consent given under
	// other storage.App.Terms does not count.
	Allowed(ctx context.Context, app storage.App, sub, scope string) (granted string, ok bool, err error)
	// AllowedOnce is Allowed for a scope with a name that needs consent each time. It reports
	// true once for each consent, and only within ten minutes of it.
	AllowedOnce(ctx context.Context, app storage.App, sub, scope string) (granted string, ok bool, err error)
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

func (v visitors) denied(form url.Values) bool {
	return v.c.Consent != nil && form.Get(paramConsent) == "denied"
}

// consentRequired is the error of a request that needs the user's consent first.
type consentRequired struct {
	who   storage.Session
	scope string
}

func (*consentRequired) Error() string { return "the visitor has to consent" }

// consented returns what the user has allowed of a wanted scope, a *consentRequired, or the error of
// the lookup. A first-party application needs consent only if it sends prompt=consent or asks for a
// scope that is never granted silently: such a scope needs consent each time, and prompt=none gets
// nothing. An application that nobody registered here needs it always, and gets nothing where no
// page could ask.
//
// A consent to the scope apps is good for one grant, within ten minutes, and is used up before the code is
// issued: if that fails, the user is asked again. No page can fetch such a token unseen. Without a [Consent]
// the scope is unknown.
func (v visitors) consented(ctx context.Context, app storage.App, who storage.Session, wanted string,
	prompt promptOptions) (granted string, err error) {
	elevated := scope.HasElevated(wanted)
	switch {
	case v.c.Consent == nil && app.Client != nil:
		return "", accessDenied.Saying("nobody registered this application here, and this service cannot ask its users for " +
			"consent")
	case v.c.Consent == nil, app.Client == nil && app.FirstParty && !prompt.consent && !elevated:
		return wanted, nil
	}
	allowed := v.c.Consent.Allowed
	if elevated {
		allowed = v.c.Consent.AllowedOnce
	}
	if !prompt.consent && !(elevated && prompt.never) {
		switch granted, ok, err := allowed(ctx, app, who.UserID, wanted); {
		case err != nil:
			return "", err
		case ok && scope.Within(wanted, granted): // a host's own Consent may not widen it
			return granted, nil
		}
	}
	return "", &consentRequired{who, wanted}
}
