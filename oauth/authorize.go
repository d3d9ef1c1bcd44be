package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/span"
	"github.com/keystile/keystile/oauth/internal/engine"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
)

// authorizer serves the authorization endpoint.
type authorizer struct {
	visitors
	legacy *Legacy
}

// authorize serves GET and POST /oauth/authorize (protocol 4.1).
func (a *authorizer) authorize(w http.ResponseWriter, r *http.Request) error {
	text, err := authorizeText(w, r)
	if err != nil {
		return err
	}
	if moved, err := a.byGet(w, r, text); moved || err != nil {
		return err
	}
	app, form, wrong, err := a.readAuthorize(r, text)
	if err != nil {
		return err
	}
	if wrong != nil {
		return a.refuse(w, r, app, form, wrong)
	}
	here := span.Of(r.Context())
	here.Set(span.ClientID, app.ID)
	if form.Has(paramTicket) {
		return a.legacy.authorize(w, r, app, form)
	}
	code, err := a.decide(r, app, form)
	var refused *reply.Failure
	var consent *consentRequired
	var kept *notAdmitted
	switch {
	case errors.Is(err, errSignInRequired):
		return a.asked(w, r, app, form, a.c.SignIn.Ask(w, a.carried(r, app, form), app))
	case errors.Is(err, errFactorRequired):
		return a.asked(w, r, app, form, a.c.Levels.AskFactor(w, a.carried(r, app, form), app, form.Get(paramACR)))
	case errors.As(err, &consent):
		return a.asked(w, r, app, form, a.c.Consent.AskConsent(w, a.carried(r, app, form), app, consent.who, consent.scope))
	case errors.As(err, &kept):
		return a.keepOut(w, r, app, form, kept.who, a.answerAt(form.Get("redirect_uri"), "error", mayNotUse.OAuth,
			"error_description", mayNotUse.Msg, "state", form.Get("state")))
	// who asks too often reads that here
	case errors.As(err, &refused) && refused.Status < 500 && refused.Status != http.StatusTooManyRequests:
		here.Set("keystile.oauth_error", refused.OAuth)
		return a.refuse(w, r, app, form, refused)
	case err != nil:
		return err
	}
	return a.redirect(w, form.Get("redirect_uri"), "code", code, "state", form.Get("state"))
}

func authorizeText(w http.ResponseWriter, r *http.Request) (string, error) {
	if r.Method == http.MethodPost {
		return formBody(w, r)
	}
	return r.URL.RawQuery, nil
}

// readAuthorize reads the request and finds the application. Nothing may be sent to the redirect_uri before it is
// known to be registered. An error in another parameter is told there.
func (a *authorizer) readAuthorize(r *http.Request, text string) (
	app storage.App, form url.Values, wrong *reply.Failure, err error,
) {
	if err := a.checkSign(r.Context(), text); err != nil {
		return app, form, nil, err
	}
	if form, err = parseForm(text); err != nil {
		if !form.Has("client_id") || !form.Has("redirect_uri") {
			return app, form, nil, err
		}
		wrong = reply.FailureOf(err)
	}
	app, err = a.applicationOf(r, form, wrong)
	return app, form, wrong, err
}

func (a *authorizer) applicationOf(r *http.Request, form url.Values,
	wrong *reply.Failure) (app storage.App, err error) {
	a.readTarget(form)
	if r.Method == http.MethodPost {
		r.PostForm = form // the body is gone; SignIn.Ask reads the fields here
	}
	app, err = a.clients.find(r, form.Get("client_id"), func() error {
		if wrong != nil {
			return wrong
		}
		return a.wellFormed(r.Context(), form)
	})
	switch {
	case errors.Is(err, storage.ErrNotFound) && strings.HasPrefix(form.Get("client_id"), client.DynamicPrefix):
		return app, endedApp
	case errors.Is(err, storage.ErrNotFound):
		return app, unknownApp
	case err != nil:
		return app, err
	case app.Disabled:
		return app, disabledApp
	}
	if err := app.AllowsRedirect(form.Get("redirect_uri")); err != nil {
		return app, badRedirect.Saying("redirect_uri is not allowed: " + err.Error())
	}
	return app, nil
}

// wellFormed checks what can be checked of an authorize request before anything is known of its
// application but that it is public. Nothing is fetched for a request that would be refused anyway.
func (a *authorizer) wellFormed(ctx context.Context, form url.Values) error {
	redirectURI := form.Get("redirect_uri")
	if err := client.CheckRedirect(redirectURI); err != nil {
		return badRedirect.Saying("redirect_uri is not allowed: " + err.Error())
	}
	if err := checkSupported(form); err != nil {
		return err
	}
	if _, err := readPromptOptions(form); err != nil {
		return err
	}
	anybody := storage.App{ID: form.Get("client_id"), Public: true, ForbidPlain: true, Client: &client.Description{
		RedirectURIs: []string{redirectURI}, Grants: []string{engine.GrantCode},
	}}
	_, err := a.engine.Authorize(ctx, anybody, form)
	return failed(err)
}

var errSignInRequired = errors.New("the visitor has to sign in")

// errFactorRequired says that the visitor has to prove one more factor.
var errFactorRequired = errors.New("the visitor has to prove another factor")

// paramACR asks for a level of sign-in (OpenID Connect Core 3.1.2.1).
const paramACR = "acr_values"

// paramLogin marks an authorize request whose user has come from another provider that does not prove what prompt or
// max_age asks for. It needs no proof: whoever forges it only makes the provider answer login_required.
const paramLogin = "keystile_login"

// decide returns a code, errSignInRequired, errFactorRequired, a *consentRequired, a *notAdmitted, or a failure for the
// application. Nothing is written before the user is signed in and has consented.
func (a *authorizer) decide(r *http.Request, app storage.App, form url.Values) (code string, err error) {
	ctx := r.Context()
	if err := checkSupported(form); err != nil {
		return "", err
	}
	prompt, err := readPromptOptions(form)
	if err != nil {
		return "", err
	}
	authorization, err := a.engine.Authorize(ctx, app, form)
	if err != nil {
		return "", failed(err)
	}
	if a.denied(form) {
		return "", accessDenied
	}
	if form.Get(paramLogin) == "unproven" {
		return "", loginRequired.Saying("the provider that the user has chosen does not prove that they have signed in " +
			"there as prompt or max_age asks for")
	}
	if prompt.never {
		switch trusted, err := a.trusts(r, app); {
		case err != nil:
			return "", err
		case !trusted:
			return "", interactionRequired
		}
	}
	who, err := a.signedIn(r, app, form, prompt, authorization.Scope())
	if err != nil {
		return "", err
	}
	if err := a.admitted(ctx, app, who.UserID); err != nil {
		return "", a.untold(r, app, err, prompt.never)
	}
	switch enough, err := a.enough(ctx, who, app, form.Get(paramACR)); {
	case err != nil:
		return "", err
	case !enough && prompt.never:
		return "", badRequest.Named("login_required").Saying("the sign-in has too few factors, and prompt=none forbids to " +
			"ask")
	case !enough:
		return "", errFactorRequired
	}
	granted, err := a.consented(ctx, app, who, authorization.Scope(), prompt)
	if prompt.never && errors.As(err, new(*consentRequired)) {
		return "", badRequest.Named("consent_required").Saying("the user has not allowed this, and prompt=none forbids to " +
			"ask")
	} else if err != nil {
		return "", err
	}
	how := a.told(who, form.Get(paramACR))
	if how.SID, err = a.meet(ctx, app, who); errors.Is(err, storage.ErrNotFound) { // the session has ended meanwhile
		err = errSignInRequired
		if prompt.never {
			err = loginRequired
		}
	}
	if err != nil {
		return "", err
	}
	code, err = authorization.Issue(ctx, who, how, granted)
	return code, failed(err)
}

// checkSupported refuses parameters that are not supported (protocol 1; OpenID Connect Core 6, 3.1.2.6).
func checkSupported(form url.Values) error {
	no := badRequest
	switch mode := form.Get("response_mode"); {
	case form.Has("request"):
		return no.Named("request_not_supported").Saying("request objects are not supported: send plain parameters")
	case form.Has("request_uri"):
		return no.Named("request_uri_not_supported").Saying("request_uri is not supported: send plain parameters")
	case form.Has("registration"):
		return no.Named("registration_not_supported").Saying("registration is not supported")
	case !form.Has("response_type"):
		return no.Saying("response_type is missing: send response_type=code")
	case form.Get("response_type") != "code":
		return no.Named(engine.UnsupportedResponseType).Saying("response_type is not code, the only one supported")
	case mode != "" && mode != "query":
		return no.Saying("response_mode is not query, the only one supported")
	}
	return nil
}
