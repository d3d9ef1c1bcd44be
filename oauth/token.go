package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/bruteforce"
	"github.com/keystile/keystile/internal/logintype"
	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/span"
	"github.com/keystile/keystile/oauth/internal/engine"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// tokenEndpoint serves POST /oauth/token.
type tokenEndpoint struct{ *authenticator }

// token serves POST /oauth/token (protocol 4.2).
func (t *tokenEndpoint) token(w http.ResponseWriter, r *http.Request) (err error) {
	entry := t.newEvent(r, event.Token)
	entry.Anonymous = true
	defer func() {
		completeEvent(entry, err)
		if err == nil || !waits(err) {
			t.c.Audit.Note(*entry)
		}
	}()
	app, form, err := t.client(w, r)
	entry.App = app.ID
	if err != nil {
		return err
	}
	entry.Anonymous = app.Public // until a code or a token of it turns out to be good
	redeem := t.engine.Token
	switch grant := form.Get("grant_type"); grant {
	case engine.GrantCode, engine.GrantRefresh, engine.GrantClientCredentials:
		entry.Detail = grant
	case engine.GrantDevice:
		entry.Detail = "device_code"
		redeem = func(_ context.Context, asked engine.Request) (engine.Granted, error) { return t.deviceToken(r, asked) }
	case engine.GrantJWTBearer, engine.GrantExchange:
		entry.Detail = strings.TrimPrefix(grant, "urn:ietf:params:oauth:grant-type:")
		redeem = func(_ context.Context, asked engine.Request) (engine.Granted, error) {
			if grant == engine.GrantExchange {
				return t.exchange(w, r, asked)
			}
			return t.jwtBearer(r, asked)
		}
	case "":
		return badRequest.Saying("grant_type is missing")
	default:
		entry.Detail = "unknown grant_type"
		return badRequest.Named(engine.UnsupportedGrantType).Saying("grant_type is none of authorization_code, " +
			"refresh_token, client_credentials, " + strings.Join([]string{engine.GrantDevice, engine.GrantJWTBearer,
			engine.GrantExchange}, ", "))
	}
	span.Of(r.Context()).Set("keystile.grant_type", entry.Detail)
	key, err := t.keyOf(w, r, &app)
	if err != nil {
		return err
	}
	granted, err := redeem(r.Context(), engine.Request{App: app, Form: form, Key: key})
	if err != nil {
		return failed(notedRefusal(entry, err))
	}
	entry.User, entry.Actors, entry.Anonymous = granted.User.Sub, granted.Actors, false
	if entry.User != "" {
		reqctx.ChargeGrant(r.Context(), entry.User)
	}
	if entry.Detail == engine.GrantCode && !granted.Challenge {
		entry.Detail = event.DetailNoPKCE
	}
	reply.NoStore(w)
	answer := newTokenResponse(granted, t.c.LoginTypes)
	if form.Get("grant_type") == engine.GrantExchange {
		answer.IssuedType = typeAccessToken
	}
	return reply.JSON(w, http.StatusOK, answer)
}

// authenticator finds the applications that send forms, by their secrets.
type authenticator struct {
	*core
	failures *bruteforce.Failures
}

// client reads a form and finds the application that sent it, by its secret (protocol 5).
func (p *authenticator) client(w http.ResponseWriter, r *http.Request) (app storage.App, form url.Values, err error) {
	if form, err = clientForm(w, r); err != nil {
		return app, nil, err
	}
	p.readTarget(form)
	app, err = p.clientOf(r, form)
	return app, form, err
}

// clientForm reads the form of an application, which may name itself in the Authorization header instead.
func clientForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	form, err := bodyForm(w, r)
	if err != nil {
		return nil, err
	}
	return form, readBasic(r, form)
}

// clientOf finds the application that has sent a form, and counts the request for it.
func (p *authenticator) clientOf(r *http.Request, form url.Values) (app storage.App, err error) {
	if app, err = p.authenticate(r, form); err != nil {
		return app, err
	}
	span.Of(r.Context()).Set(span.ClientID, app.ID)
	if !app.Public && form.Get("grant_type") != engine.GrantDevice { // that is charged when it is known what it asks about
		err = reqctx.Charge(r.Context(), app)
	}
	return app, failed(err)
}

// authenticate checks a secret, unless there were too many wrong ones. Which client_ids exist
// is no secret, so guesses at those that do not may be told apart by when they are refused.
func (p *authenticator) authenticate(r *http.Request, form url.Values) (storage.App, error) {
	address := p.c.ClientIP(r)
	who := bruteforce.By(address, form.Get("client_id"))
	if wait := p.failures.RetryAfter(r.Context(), who); wait != "" {
		return storage.App{}, tooManyKeys.With("Retry-After", wait)
	}
	app, err := p.proven(r, form)
	err = failed(err)
	guessed := provesItself(form) && reply.FailureOf(err).OAuth == engine.InvalidGrant
	if err == nil || !guessed && reply.FailureOf(err).OAuth != engine.InvalidClient {
		return app, err
	}
	if app.ID == "" {
		who = bruteforce.Unknown(address)
		if wait := p.failures.RetryAfter(r.Context(), who); wait != "" {
			return app, tooManyKeys.With("Retry-After", wait)
		}
	}
	p.failures.Count(r.Context(), who)
	return app, challenge(r, err)
}

func (p *authenticator) proven(r *http.Request, form url.Values) (storage.App, error) {
	if id := documentOf(form); id != "" {
		if strings.TrimSuffix(r.URL.Path, php) == pathDevice { // its first request may be this one
			if _, err := p.clients.find(r, id, func() error { return nil }); err != nil && !errors.Is(err, storage.ErrNotFound) {
				return storage.App{}, atToken(err)
			}
		}
		return p.clients.authenticate(r, id, form, []string{p.issuer, p.issuer + pathToken, p.issuer + pathToken + php})
	}
	switch atToken := strings.TrimSuffix(r.URL.Path, php) == pathToken; {
	case atToken && provesItself(form):
		return p.workloadClient(r.Context(), form)
	case form.Has("client_assertion"):
		return p.registeredProof(r, form)
	}
	return p.engine.Authenticate(r.Context(), form)
}

// tokenResponse holds the members of protocol 2.1, in its order.
type tokenResponse struct {
	Code         int         `json:"code"`
	Msg          string      `json:"msg"`
	AccessToken  string      `json:"access_token"`
	IssuedType   string      `json:"issued_token_type,omitempty"` // RFC 8693 2.2.1
	TokenType    string      `json:"token_type"`
	ExpiresIn    int64       `json:"expires_in"`
	RefreshToken string      `json:"refresh_token,omitempty"`
	User         *userObject `json:"user,omitempty"`
	IDToken      string      `json:"id_token,omitempty"`
	Scope        string      `json:"scope"`
}

// userObject holds the user object of protocol 2.2.
type userObject struct {
	ID        int64  `json:"id"`
	OpenID    string `json:"openid"`
	Nickname  string `json:"nickname"`
	Avatar    string `json:"avatar"`
	LoginType string `json:"login_type"`
}

// AppendJSON implements reply.Appender.
func (t tokenResponse) AppendJSON(to []byte) []byte {
	to = strconv.AppendInt(append(to, `{"code":`...), int64(t.Code), 10)
	to = rawjson.AppendString(append(to, `,"msg":`...), t.Msg)
	to = rawjson.AppendString(append(to, `,"access_token":`...), t.AccessToken)
	if t.IssuedType != "" {
		to = rawjson.AppendString(append(to, `,"issued_token_type":`...), t.IssuedType)
	}
	to = rawjson.AppendString(append(to, `,"token_type":`...), t.TokenType)
	to = strconv.AppendInt(append(to, `,"expires_in":`...), t.ExpiresIn, 10)
	if t.RefreshToken != "" {
		to = rawjson.AppendString(append(to, `,"refresh_token":`...), t.RefreshToken)
	}
	if t.User != nil {
		to = t.User.appendJSON(append(to, `,"user":`...))
	}
	if t.IDToken != "" {
		to = rawjson.AppendString(append(to, `,"id_token":`...), t.IDToken)
	}
	to = rawjson.AppendString(append(to, `,"scope":`...), t.Scope)
	return append(to, '}')
}

func (u userObject) appendJSON(to []byte) []byte {
	to = strconv.AppendInt(append(to, `{"id":`...), u.ID, 10)
	to = rawjson.AppendString(append(to, `,"openid":`...), u.OpenID)
	to = rawjson.AppendString(append(to, `,"nickname":`...), u.Nickname)
	to = rawjson.AppendString(append(to, `,"avatar":`...), u.Avatar)
	to = rawjson.AppendString(append(to, `,"login_type":`...), u.LoginType)
	return append(to, '}')
}

// tokenType returns the token_type of an access token (RFC 6750, RFC 9449 5), by the key that it is bound to.
func tokenType(key string) string {
	if key != "" {
		return "DPoP"
	}
	return "Bearer"
}

func newTokenResponse(g engine.Granted, loginTypes string) tokenResponse {
	t := tokenResponse{
		Msg:          "success",
		AccessToken:  g.Access,
		TokenType:    tokenType(g.Key),
		ExpiresIn:    int64(g.ExpiresIn / time.Second),
		RefreshToken: g.Refresh,
		IDToken:      g.IDToken,
		Scope:        g.Scope,
	}
	if g.OpenID != "" {
		t.User = &userObject{g.User.ID, g.OpenID, g.User.Nickname, g.User.Picture, logintype.Shown(loginTypes, g.LoginType)}
	}
	return t
}
