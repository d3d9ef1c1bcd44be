package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/internal/stepup"
	"github.com/keystile/keystile/storage"
)

// loginRequired says that the visitor has to sign in, to an application that has forbidden to ask.
var loginRequired = badRequest.Named("login_required").Saying("nobody is signed in, or not recently enough, and " +
	"prompt=none forbids to ask")

// visitors judges what the visitor of a browser may be granted: whether they are signed in as an application asks for,
// and have allowed it.
type visitors struct{ *core }

// signedIn returns the session of the visitor, if they are who the application means and need not sign in once more.
func (v visitors) signedIn(
	r *http.Request, app storage.App, form url.Values, prompt promptOptions, wanted string,
) (who storage.Session, err error) {
	who, err = v.c.SignIn.Visitor(r)
	there := err == nil
	if there && scope.HasElevated(wanted) {
		there, err = v.fresh(r.Context(), who)
	}
	meant := v.hinted(r, form, app)
	other := meant != "" && who.UserID != meant
	switch {
	case err != nil && !errors.Is(err, storage.ErrNotFound):
		return who, err
	case there && !other && !prompt.needsSignIn(who, time.Now()):
		return who, nil
	case prompt.never:
		return who, loginRequired
	case other && who.UserID != "" && form.Get(paramHint) == hintAsked:
		return who, loginRequired.Saying("somebody else has signed in than the one whom id_token_hint names")
	}
	return who, errSignInRequired
}

// promptOptions holds the parameters prompt and max_age (OpenID Connect Core 3.1.2.1).
type promptOptions struct {
	never   bool          // prompt=none
	always  bool          // prompt=login or select_account
	consent bool          // prompt=consent
	maxAge  time.Duration // of the last sign-in; negative: any
}

func readPromptOptions(form url.Values) (promptOptions, error) {
	options := promptOptions{maxAge: -1}
	prompts := strings.Fields(form.Get("prompt"))
	for _, prompt := range prompts {
		switch prompt {
		case "none":
			options.never = true
		case "login", "select_account":
			options.always = true
		case "consent":
			options.consent = true
		default:
			return options, badRequest.Saying("prompt is none of none, login, consent, select_account")
		}
	}
	if options.never && slices.ContainsFunc(prompts, func(prompt string) bool { return prompt != "none" }) {
		return options, badRequest.Saying("prompt=none goes with no other prompt")
	}
	if age := form.Get("max_age"); age != "" {
		n, err := strconv.ParseUint(age, 10, 31)
		if err != nil {
			return options, badRequest.Saying("max_age is not a number of seconds")
		}
		options.maxAge = time.Duration(n) * time.Second
	}
	return options, nil
}

// needsSignIn reports whether a signed-in user has to sign in again because the application asks for it.
func (p promptOptions) needsSignIn(who storage.Session, now time.Time) bool {
	return p.always || p.maxAge >= 0 && now.Sub(who.ProvedAt()) > p.maxAge
}

// fresh reports whether a session may grant a scope that is never granted silently: such a scope takes a fresh sign-in,
// whatever the application asks for.
func (v visitors) fresh(ctx context.Context, who storage.Session) (bool, error) {
	proved, err := v.c.SignIn.Proved(ctx, who)
	return err == nil && stepup.Fresh(who.FreshFrom(), proved, time.Now()), err
}
