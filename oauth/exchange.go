package oauth

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/dpop"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/oauth/internal/engine"
	"github.com/keystile/keystile/storage"
)

// Types of tokens (RFC 8693 3).
const (
	typeAccessToken = "urn:ietf:params:oauth:token-type:access_token"
	typeIDToken     = "urn:ietf:params:oauth:token-type:id_token"
)

// keyExchangeLife bounds the token that an API key is exchanged for: the end of a key is remembered for a day.
const keyExchangeLife = time.Hour

// subject is the token that another one is exchanged for.
type subject struct {
	user     string
	grant    string
	scope    string
	audience string
	until    time.Time
	actors   []string
	from     storage.Step
	via      []storage.Step
	mayAct   string
	key      string // by which its sender proves that they may use it
}

// exchange hands a token of a user on to another application (RFC 8693, decision 125).
//
// The result is never more than the subject: it has the same user and grant, no more scope, the same audience or one
// below it, and no longer life. It ends with every token before it. So a stolen token gains nothing from
// being exchanged, and an application that may exchange gains no user who has not come to it, or to an application
// that names it.
//
// A subject that is bound to a key takes a proof of that key, and the result is bound to it. The result of any other
// subject is bound to the key that the application proves, if it does.
func (t *tokenEndpoint) exchange(w http.ResponseWriter, r *http.Request, asked engine.Request) (engine.Granted,
	error) {
	ctx, app, form := r.Context(), asked.App, asked.Form
	if err := checkExchange(app, form); err != nil {
		return engine.Granted{}, err
	}
	from, err := t.subject(ctx, app, form)
	if err != nil {
		return engine.Granted{}, err
	}
	actor, err := t.actor(ctx, app, form)
	if err != nil {
		return engine.Granted{}, err
	}
	if from.key != "" && app.KeyBinding() == storage.DPoPOff { // its own tokens are bound to none, but this one is
		if asked.Key, err = t.tokens.proofs.Key(w.Header(), r); err != nil {
			return engine.Granted{}, dpop.AtToken(err)
		}
	}
	if from.key != "" && from.key != asked.Key {
		return engine.Granted{}, unproven
	}
	from.key = asked.Key
	d, err := from.narrowed(form, t.core)
	if err != nil {
		return engine.Granted{}, err
	}
	if d.Scope, err = t.handedOn(ctx, app, from, actor, d.Scope); err != nil {
		return engine.Granted{}, err
	}
	d.Actors = append([]string{actor}, from.actors...)
	d.Via = append([]storage.Step{from.from}, from.via...)
	if len(d.Actors) > token.MaxActors || len(d.Via) > token.MaxActors {
		return engine.Granted{}, badRequest.Saying("subject_token has been exchanged ten times, and may not be once more")
	}
	user, err := t.c.Users.User(ctx, from.user)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return engine.Granted{}, err
	}
	if d.User = user; err != nil {
		d.User = storage.User{}
	}
	if err := t.engine.MayDelegate(ctx, app, d.User); err != nil {
		return engine.Granted{}, err
	}
	return t.engine.Delegate(ctx, app, d)
}

// checkExchange checks what the parameters and the application alone can tell.
func checkExchange(app storage.App, form url.Values) error {
	const types = typeAccessToken + " and " + typeIDToken
	given, requested := form.Get("subject_token_type"), form.Get("requested_token_type")
	actor, actorType := form.Has("actor_token"), form.Get("actor_token_type")
	switch {
	case app.Public || !app.Exchange:
		return badRequest.Named(engine.UnauthorizedClient).Saying("this application may not exchange tokens: an " +
			"administrator allows it with exchange")
	case form.Get("subject_token") == "":
		return badRequest.Saying("subject_token is missing")
	case given != typeAccessToken && given != typeIDToken:
		return badRequest.Saying("subject_token_type is none of " + types)
	case requested != "" && requested != typeAccessToken:
		return badRequest.Saying("requested_token_type is not " + typeAccessToken + ", the only one")
	case actor && actorType != typeAccessToken:
		return badRequest.Saying("actor_token_type is not " + typeAccessToken + ", the only one")
	case !actor && actorType != "":
		return badRequest.Saying("actor_token_type is there, and actor_token is missing")
	}
	return nil
}

// badSubject is the error of a token that cannot be exchanged; RFC 8693 2.2.2 names it invalid_request.
func badSubject(what string, err error) error {
	if errors.Is(err, token.ErrInvalid) {
		reason := strings.TrimPrefix(err.Error(), token.ErrInvalid.Error()+": ")
		return badRequest.Saying(what + " is not good here: " + reason).Because(err)
	}
	return badBearer(err)
}

// subject reads the subject_token: an access token, an API key, or an id_token of the application itself.
func (t *tokenEndpoint) subject(ctx context.Context, app storage.App, form url.Values) (s subject, err error) {
	text := form.Get("subject_token")
	switch {
	case strings.HasPrefix(text, handle.RefreshPrefix):
		return s, badRequest.Saying("subject_token is a refresh token: send the access token")
	case form.Get("subject_token_type") == typeIDToken:
		return t.idSubject(ctx, app, text)
	}
	f := token.Facts{}
	if handle.LooksLikeAPIKey(text) {
		f.Caller, err = t.tokens.Verify(ctx, text)
	} else {
		f, err = t.tokens.verifier.Facts(ctx, text, append(t.tokens.Resources(), t.issuer)...)
	}
	if err != nil {
		return s, badSubject("subject_token", err)
	}
	c := f.Caller
	if c.UserID == "" {
		return s, badRequest.Saying("subject_token is of an application itself: there is no user to act for")
	}
	s = subject{user: c.UserID, grant: c.Grant, scope: c.Scope, audience: c.Audience, until: c.ExpiresAt, actors: c.Actors,
		from: storage.Step{AppID: c.AppID, TokenID: c.TokenID}, via: c.Via, mayAct: f.MayAct, key: c.KeyThumbprint}
	if c.AppID == storage.KeysAppID { // its gid has the time of the key, so that what ends the key's grant ends this one
		s.grant = handle.NewGrantSince(c.GrantedAt)
		if until := time.Now().Add(keyExchangeLife); until.Before(s.until) {
			s.until = until
		}
	}
	return s, nil
}

// idSubject reads an id_token, which stands for what its application may know: openid profile. One with HS256 is
// refused, because each holder of the appkey could make it.
func (t *tokenEndpoint) idSubject(ctx context.Context, app storage.App, text string) (s subject, err error) {
	f, err := t.tokens.keys.ReadID(text, t.issuer, app.ID, time.Now())
	if err != nil {
		return s, badSubject("subject_token", err)
	}
	since := f.IssuedAt
	if t.store.Shared() { // by the clock of another node, maybe, which is ahead of the store's
		since = since.Add(-token.Skew)
	}
	s = subject{user: f.Subject, grant: handle.NewGrantSince(since), scope: "openid profile", audience: t.issuer,
		until: f.ExpiresAt, from: storage.Step{AppID: app.ID}, mayAct: f.MayAct}
	stopped, err := t.tokens.revoked.StopsNow(ctx, storage.Caller{AppID: app.ID, UserID: s.user, Grant: s.grant,
		GrantedAt: since})
	if stopped && err == nil {
		err = badRequest.Saying("subject_token is not good here: the user has signed out since, or taken it back")
	}
	return s, err
}

// actor returns who acts: the subject of the actor_token, which was issued to the application, or the application.
func (t *tokenEndpoint) actor(ctx context.Context, app storage.App, form url.Values) (string, error) {
	text := form.Get("actor_token")
	if text == "" {
		return app.ID, nil
	}
	if handle.LooksLikeAPIKey(text) {
		return "", badRequest.Saying("actor_token is an API key, which no application was issued: send an access token")
	}
	f, err := t.tokens.verifier.Facts(ctx, text, append(t.tokens.Resources(), t.issuer)...)
	switch {
	case err != nil:
		return "", badSubject("actor_token", err)
	case f.Caller.AppID != app.ID:
		return "", badRequest.Saying("actor_token was issued to another application")
	case len(f.Caller.Actors) > 0:
		return "", badRequest.Saying("actor_token was exchanged itself: send the one that it was exchanged for")
	case f.Caller.KeyThumbprint != "":
		return "", badRequest.Saying("actor_token is bound to a key, and one proof cannot be for two tokens")
	case f.Caller.UserID != "":
		return f.Caller.UserID, nil
	}
	return app.ID, nil
}

// handedOn returns what of a wanted scope is handed on to an application: all of it if the token was issued to it, or
// to one that names it. An API key is handed on by its user alone, whose consent to the application it takes.
func (t *tokenEndpoint) handedOn(ctx context.Context, app storage.App, s subject, actor,
	wanted string) (string, error) {
	switch s.from.AppID {
	case app.ID:
		return wanted, nil
	case storage.KeysAppID:
		return t.consentedTo(ctx, app, s.user, wanted)
	}
	issued, err := t.store.App(ctx, s.from.AppID)
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && issued.Disabled:
		return "", badRequest.Saying("subject_token is of an application that is gone or disabled")
	case err != nil:
		return "", err
	case slices.Contains(issued.ExchangeFor, app.ID), s.mayAct != "" && (s.mayAct == app.ID || s.mayAct == actor):
		return wanted, nil
	}
	return "", badRequest.Named(engine.UnauthorizedClient).Saying("subject_token was issued to another application, " +
		"which does not name this one: an administrator adds it to exchange_for of that application")
}

func (t *tokenEndpoint) consentedTo(ctx context.Context, app storage.App, sub, wanted string) (string, error) {
	refused := badRequest.Named(engine.UnauthorizedClient)
	if t.c.Consent == nil {
		return "", refused.Saying("this service cannot ask users for their consent, which the exchange of an API key takes")
	}
	switch granted, ok, err := t.c.Consent.Allowed(ctx, app, sub, wanted); {
	case err != nil:
		return "", err
	case ok && scope.Within(wanted, granted): // a host's own Consent may not widen it
		return granted, nil
	}
	return "", refused.Saying("the user of this API key has not allowed this application what is wanted: they sign in " +
		"to it once and allow it")
}

// narrowed returns what a token is exchanged for, by what is asked for.
func (s subject) narrowed(form url.Values, k *core) (d engine.Delegated, err error) {
	invalid := func(name, text string) (engine.Delegated, error) {
		return engine.Delegated{}, badRequest.Named(name).Saying(text)
	}
	d = engine.Delegated{Grant: s.grant, Until: s.until, Scope: scope.WithoutElevated(s.scope), Audience: s.audience,
		Key: s.key}
	if wanted := form.Get("scope"); wanted != "" {
		if !scope.Within(s.scope, wanted) || scope.HasElevated(wanted) {
			return invalid(engine.InvalidScope, "scope is more than subject_token has, or one that is never handed on: leave "+
				"it out, or ask for less")
		}
		d.Scope = engine.Shared(wanted, wanted)
	}
	if d.Scope == "" {
		return invalid(engine.InvalidScope, "subject_token has nothing that can be handed on")
	}
	resource, audience := form.Get("resource"), k.engine.Target(form.Get("audience"))
	if resource != "" && audience == k.issuer { // whose token it is to be, and what for: libraries send both
		audience = resource
	}
	switch wanted := cmp.Or(resource, audience); {
	case resource != "" && audience != "" && resource != audience:
		return invalid(engine.InvalidTarget, "resource and audience differ: a token is for one of them")
	case wanted == "":
	case k.engine.CheckTarget(wanted) != nil:
		return invalid(engine.InvalidTarget, "resource or audience is not one that this service issues tokens for")
	case wanted != s.audience && s.audience != k.issuer && !strings.HasPrefix(wanted, s.audience+"/"):
		return invalid(engine.InvalidTarget, "subject_token is for another resource than the one that is asked for, and "+
			"what is for one is not for others")
	default:
		d.Audience = wanted
	}
	return d, nil
}
