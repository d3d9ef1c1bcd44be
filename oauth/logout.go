package oauth

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// logoutEndpoint serves /oauth/logout.
type logoutEndpoint struct {
	visitors
	sameOrigin *http.CrossOriginProtection
}

// logout serves /oauth/logout (OpenID Connect RP-Initiated Logout 1.0). Any page on the web can
// send a browser here, so a GET asks before it ends a session or leads to an application.
// It does both at once for an application that shows an id_token of the user who is
// signed in (decision 63). The POST, if it is our own form, always does; one of another site is answered as
// a GET. To an application that nobody registered and the visitor has not consented to there is a link at most
// (decision 95).
//
// The id_token_hint may have expired, and may be signed with any of the application's live secrets. A hint that
// proves nothing is no error: the visitor is asked as if there were none. A HEAD always describes the question.
// A disabled application is answered with a page, before and after the form, and the session stays.
func (o *logoutEndpoint) logout(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodPost {
		return o.signOut(w, r)
	}
	form, err := parseForm(r.URL.RawQuery)
	if err != nil {
		return err
	}
	app, form, err := o.returning(r, form)
	if err != nil {
		return err
	}
	who, err := o.c.SignIn.Visitor(r)
	nobody := errors.Is(err, storage.ErrNotFound)
	if err != nil && !nobody {
		return err
	}
	trusted, err := o.trusts(r, app)
	if err != nil {
		return err
	}
	sub := ""
	if form.Has("post_logout_redirect_uri") { // else there is nothing to go back to, and the page says what has happened
		sub = o.hinted(r, form, app)
	}
	switch {
	case trusted && sub != "" && r.Method == http.MethodGet && nobody:
		return o.redirectBack(w, form)
	case trusted && sub != "" && r.Method == http.MethodGet && sub == who.UserID:
		if err := o.c.SignIn.SignOut(w, r); err != nil {
			return err
		}
		return o.redirectBack(w, form)
	case nobody:
		return o.writeSignedOut(w, r, app, form)
	}
	return o.writeConfirmation(w, r, app, form)
}

// meet writes down that a user is about to be known to an application, and that the application is told when the
// session ends. It returns the application's sid of the session: "" for one that is not told. A session that has
// ended meanwhile is a storage.ErrNotFound.
//
// The sid is in the code, so that it reaches the id_token without a read; the list of applications is on the
// session. The first code of a session for such an application costs one write more, any other none. A session
// that a sign-in in the same browser continues keeps its sid. At most storage.MaxSessionApps are told of one
// session; the next get no sid. The grant of a device belongs to no session: it is told by sub alone.
func (v visitors) meet(ctx context.Context, app storage.App, who storage.Session) (sid string, err error) {
	if _, err := v.store.EnsureOpenID(ctx, app.ID, who.UserID); err != nil || app.BackchannelLogoutURI == "" {
		return "", err
	}
	return v.store.JoinSession(ctx, who, app.ID)
}

func (o *logoutEndpoint) signOut(w http.ResponseWriter, r *http.Request) error {
	text, err := formBody(w, r)
	if err != nil {
		return err
	}
	if o.sameOrigin.Check(r) != nil {
		return moveToGet(w, r, text)
	}
	form, err := parseForm(text)
	if err != nil {
		return err
	}
	app, form, err := o.returning(r, form)
	if err != nil {
		return err
	}
	trusted, err := o.trusts(r, app) // by the user who was signed in before
	if err != nil {
		return err
	}
	if err := o.c.SignIn.SignOut(w, r); err != nil {
		return err
	}
	if !trusted || form.Get("post_logout_redirect_uri") == "" {
		return o.writeSignedOut(w, r, app, form)
	}
	return o.redirectBack(w, form)
}

// returning finds the application that the browser returns to. A request whose address to return to is not
// allowed is answered as one that names none: whoever wants to sign out can, and nobody is led there.
func (o *logoutEndpoint) returning(r *http.Request, form url.Values) (storage.App, url.Values, error) {
	app, err := o.postLogoutApp(r, form)
	if refused := new(reply.Failure); errors.As(err, &refused) {
		// not what was sent: that may be anything
		o.c.Log.InfoContext(r.Context(), "sign-out without a way back", "client_id", app.ID, "why", refused.Msg)
		form = maps.Clone(form)
		for _, of := range []string{"client_id", "post_logout_redirect_uri", "state"} {
			form.Del(of)
		}
		return storage.App{}, form, nil
	}
	return app, form, err
}

// postLogoutApp finds the application that the browser returns to, and checks the
// post_logout_redirect_uri. A request without one needs no application.
func (o *logoutEndpoint) postLogoutApp(r *http.Request, form url.Values) (app storage.App, err error) {
	to := form.Get("post_logout_redirect_uri")
	if to == "" {
		return app, nil
	}
	id := form.Get("client_id")
	if id == "" {
		id = audienceOf(form.Get("id_token_hint"))
	}
	app, err = o.clients.known(r.Context(), id)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return app, unknownApp
	case err != nil:
		return app, err
	case app.Disabled:
		return app, disabledApp
	}
	if err := app.AllowsRedirect(to); err != nil {
		return app, badRedirect.Saying("post_logout_redirect_uri is not allowed: " + err.Error())
	}
	return app, nil
}

// audienceOf reads the client_id out of an id_token without verifying it: it only picks
// the application whose registered domains the redirect must keep to.
func audienceOf(idToken string) string {
	_, rest, _ := strings.Cut(idToken, ".")
	payload, _, _ := strings.Cut(rest, ".")
	raw, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		return ""
	}
	var claims struct {
		Audience string `json:"aud"`
	}
	json.Unmarshal(raw, &claims)
	return claims.Audience
}

// redirectBack redirects to the post_logout_redirect_uri, which postLogoutApp has checked.
func (o *logoutEndpoint) redirectBack(w http.ResponseWriter, form url.Values) error {
	return reply.Found(w, backTo(form))
}

// backTo returns post_logout_redirect_uri with the state, "" if the request names none.
func backTo(form url.Values) string {
	to := form.Get("post_logout_redirect_uri")
	if to == "" {
		return ""
	}
	return reply.WithQuery(to, "state", form.Get("state"))
}
