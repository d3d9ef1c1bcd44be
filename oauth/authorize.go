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

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/internal/span"
	"github.com/keystile/keystile/internal/stepup"
	"github.com/keystile/keystile/oauth/internal/engine"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
)

// authorize serves GET and POST /oauth/authorize (protocol 4.1).
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) error {
	text, err := authorizeText(w, r)
	if err != nil {
		return err
	}
	if moved, err := s.byGet(w, r, text); moved || err != nil {
		return err
	}
	app, form, wrong, err := s.readAuthorize(r, text)
	if err != nil {
		return err
	}
	if wrong != nil {
		return s.refuse(w, r, app, form, wrong)
	}
	here := span.Of(r.Context())
	here.Set(span.ClientID, app.ID)
	if form.Has(paramTicket) {
		return s.legacyAuthorize(w, r, app, form)
	}
	code, err := s.decide(r, app, form)
	var refused *reply.Failure
	var consent *consentRequired
	switch {
	case errors.Is(err, errSignInRequired):
		return s.asked(w, r, app, form, s.c.SignIn.Ask(w, s.carried(r, app, form), app))
	case errors.Is(err, errFactorRequired):
		return s.asked(w, r, app, form, s.c.Levels.AskFactor(w, s.carried(r, app, form), app, form.Get(paramACR)))
	case errors.As(err, &consent):
		return s.asked(w, r, app, form, s.c.Consent.AskConsent(w, s.carried(r, app, form), app, consent.who, consent.scope))
	case errors.As(err, &refused) && refused.Status < 500 && refused.Status != http.StatusTooManyRequests: // who asks too often reads that here
		here.Set("keystile.oauth_error", refused.OAuth)
		return s.refuse(w, r, app, form, refused)
	case err != nil:
		return err
	}
	return s.redirect(w, form.Get("redirect_uri"), "code", code, "state", form.Get("state"))
}

// authorizeText returns the parameters of an authorize request as they were sent.
func authorizeText(w http.ResponseWriter, r *http.Request) (string, error) {
	if r.Method == http.MethodPost {
		return formBody(w, r)
	}
	return r.URL.RawQuery, nil
}

// readAuthorize reads the request and finds the application. Nothing may be sent to the redirect_uri before it is
// known to be registered. What is wrong with another parameter is told there.
func (s *Server) readAuthorize(r *http.Request, text string) (
	app storage.App, form url.Values, wrong *reply.Failure, err error,
) {
	if err := s.checkSign(r.Context(), text); err != nil {
		return app, form, nil, err
	}
	if form, err = parseForm(text); err != nil {
		if !form.Has("client_id") || !form.Has("redirect_uri") {
			return app, form, nil, err
		}
		wrong = reply.FailureOf(err)
	}
	app, err = s.applicationOf(r, form, wrong)
	return app, form, wrong, err
}

// applicationOf finds the application of an authorize request, and checks the redirect_uri.
func (s *Server) applicationOf(r *http.Request, form url.Values, wrong *reply.Failure) (app storage.App, err error) {
	s.readTarget(form)
	if r.Method == http.MethodPost {
		r.PostForm = form // the body is gone; SignIn.Ask reads the fields here
	}
	app, err = s.clients.find(r, form.Get("client_id"), func() error {
		if wrong != nil {
			return wrong
		}
		return s.wellFormed(r.Context(), form)
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
func (s *Server) wellFormed(ctx context.Context, form url.Values) error {
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
	_, err := s.engine.Authorize(ctx, anybody, form)
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

// loginRequired says that the visitor has to sign in, to an application that has forbidden to ask.
var loginRequired = badRequest.Named("login_required").Saying("nobody is signed in, or not recently enough, and prompt=none forbids to ask")

// decide returns a code, errSignInRequired, errFactorRequired, a *consentRequired, or a failure for the application.
// Nothing is written before the user is signed in and has consented.
func (s *Server) decide(r *http.Request, app storage.App, form url.Values) (code string, err error) {
	ctx := r.Context()
	if err := checkSupported(form); err != nil {
		return "", err
	}
	prompt, err := readPromptOptions(form)
	if err != nil {
		return "", err
	}
	authorization, err := s.engine.Authorize(ctx, app, form)
	if err != nil {
		return "", failed(err)
	}
	if s.denied(form) {
		return "", accessDenied
	}
	if form.Get(paramLogin) == "unproven" {
		return "", loginRequired.Saying("the provider that the user has chosen does not prove that they have signed in there as prompt or max_age asks for")
	}
	if prompt.never {
		switch trusted, err := s.trusts(r, app); {
		case err != nil:
			return "", err
		case !trusted:
			return "", interactionRequired
		}
	}
	who, err := s.signedIn(r, app, form, prompt, authorization.Scope())
	if err != nil {
		return "", err
	}
	switch enough, err := s.enough(ctx, who, app, form.Get(paramACR)); {
	case err != nil:
		return "", err
	case !enough && prompt.never:
		return "", badRequest.Named("login_required").Saying("the sign-in has too few factors, and prompt=none forbids to ask")
	case !enough:
		return "", errFactorRequired
	}
	granted, err := s.consented(ctx, app, who, authorization.Scope(), prompt)
	if prompt.never && errors.As(err, new(*consentRequired)) {
		return "", badRequest.Named("consent_required").Saying("the user has not allowed this, and prompt=none forbids to ask")
	} else if err != nil {
		return "", err
	}
	how := s.told(who, form.Get(paramACR))
	if how.SID, err = s.meet(ctx, app, who); errors.Is(err, storage.ErrNotFound) { // the session has ended meanwhile
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

// signedIn returns the session of the visitor, if they are who the application means and need not sign in once more.
func (s *Server) signedIn(
	r *http.Request, app storage.App, form url.Values, prompt promptOptions, wanted string,
) (who storage.Session, err error) {
	who, err = s.c.SignIn.Visitor(r)
	there := err == nil
	if there && scope.HasElevated(wanted) {
		there, err = s.fresh(r.Context(), who)
	}
	meant := s.hinted(form, app)
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
func (s *Server) fresh(ctx context.Context, who storage.Session) (bool, error) {
	proved, err := stepup.ProvedBy(ctx, who, s.c.SignIn, s.c.Levels)
	return err == nil && stepup.Fresh(who.FreshFrom(), proved, time.Now()), err
}
