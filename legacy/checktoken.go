package legacy

import (
	"errors"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/logintype"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
)

type validAnswer struct {
	Valid     bool  `json:"valid"`
	ExpiresIn int64 `json:"expires_in"` // seconds
}

type ownedAnswer struct {
	Valid     bool   `json:"valid"`
	AppID     string `json:"appid"`
	SocialUID string `json:"social_uid"`
	Type      string `json:"type"`
	Scope     string `json:"scope"`
	Exp       int64  `json:"exp"`        // Unix seconds
	ExpiresIn int64  `json:"expires_in"` // seconds
}

// checkToken serves /check_token.php (protocol 4.10): it reports whether a user's access token
// is valid. Anybody who has the token may call it; only the application that it was issued to
// learns the user.
func (l *Legacy) checkToken(w http.ResponseWriter, r *http.Request) error {
	return l.serve(w, r, checkTokenNames, func(w http.ResponseWriter, c *call) error {
		c.event.Detail = "check_token"
		if c.params.Has("appid") || hasCredentials(c.params) {
			return l.answerOwner(w, c)
		}
		if err := refuseDuplicates(c.params); err != nil {
			return err
		}
		caller, app, _, err := l.checkBearer(c)
		if err != nil {
			return err
		}
		reqctx.By(&c.event, &caller)
		c.event.Anonymous = false
		c.event.Detail += unproven
		return succeed(w, app, validAnswer{true, secondsLeft(caller)})
	})
}

// answerOwner answers an application about a token of its own. A token of another
// application is refused.
func (l *Legacy) answerOwner(w http.ResponseWriter, c *call) error {
	app, err := l.authenticate(c)
	if err != nil {
		return err
	}
	caller, issuedTo, user, err := l.checkBearer(c)
	switch {
	case err != nil:
		return err
	case issuedTo.ID != app.ID:
		return badToken
	}
	reqctx.By(&c.event, &caller)
	return succeed(w, app, ownedAnswer{
		Valid: true, AppID: app.ID, SocialUID: user.SocialUID, Type: user.Type,
		Scope: caller.Scope, Exp: caller.ExpiresAt.Unix(), ExpiresIn: secondsLeft(caller),
	})
}

// secondsLeft returns for how many more seconds a token is valid.
func secondsLeft(caller storage.Caller) int64 {
	return int64(time.Until(caller.ExpiresAt) / time.Second)
}

// checkBearer verifies the token of a request and returns its user and application. It
// refuses a token if one of them is removed or disabled.
func (l *Legacy) checkBearer(c *call) (caller storage.Caller, app storage.App, about profile, err error) {
	if caller, err = l.bearer(c); err != nil {
		return caller, app, about, err
	}
	app, err = l.c.Store.App(c.Context(), caller.AppID)
	if err == nil && app.Disabled {
		err = storage.ErrNotFound
	}
	if err != nil {
		return caller, app, about, badTokenIf(err)
	}
	user, openid, err := l.owner(c, app, caller.UserID)
	return caller, app, profileOf(user, openid, logintype.Of(user.LoginType)), badTokenIf(err)
}

// bearer verifies the token of a request, which must be a user's. It refuses a token in
// more than one place, because they might differ.
func (l *Legacy) bearer(c *call) (storage.Caller, error) {
	text, err := token.Bearer(c.Request)
	places := 0
	if !errors.Is(err, token.ErrNoToken) {
		places++
	}
	for _, name := range []string{"access_token", "token"} {
		if c.params.Has(name) {
			text = c.params.Get(name)
			err = nil
			places++
		}
	}
	switch {
	case places > 1:
		return storage.Caller{}, badParameter.Saying("the token is sent in more than one place")
	case err != nil:
		return storage.Caller{}, badToken
	}
	if handle.LooksLikeAPIKey(text) {
		return storage.Caller{}, badToken.Saying("an API key is none of an application: the old endpoints do not take it")
	}
	caller, err := l.c.Verifier.Verify(c.Context(), text)
	switch {
	case errors.Is(err, token.ErrInvalid):
		return caller, badToken.Because(err)
	case err != nil:
		return caller, err
	case caller.UserID == "":
		return caller, badToken.Saying("this token speaks for an application, not for a user")
	}
	return caller, nil
}

// badTokenIf turns ErrNotFound into badToken: the user or application of the token is gone.
func badTokenIf(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return badToken.Because(err)
	}
	return err
}
