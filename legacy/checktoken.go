package legacy

import (
	"cmp"
	"errors"
	"net/http"
	"time"

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

// checkToken is /check_token.php (protocol 4.10): whether a user's access token is good. Whoever
// has it may ask; whose it is, only the application it was issued to is told.
func (l *Legacy) checkToken(w http.ResponseWriter, r *http.Request) error {
	return l.serve(w, r, checkTokenNames, func(w http.ResponseWriter, c *call) error {
		c.event.Detail = "check_token"
		if c.params.Has("appid") || offersProof(c.params) {
			return l.answerOwner(w, c)
		}
		if err := once(c.params); err != nil {
			return err
		}
		caller, app, _, err := l.checkBearer(c)
		if err != nil {
			return err
		}
		c.event.App, c.event.User, c.event.Anonymous = app.ID, caller.UserID, false
		c.event.Detail += unproven
		return succeed(w, app, validAnswer{true, left(caller)})
	})
}

// tellOwner answers an application about a token of its own. One of another application is
// as good as none.
func (l *Legacy) answerOwner(w http.ResponseWriter, c *call) error {
	app, err := l.prove(c)
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
	c.event.User = caller.UserID
	return succeed(w, app, ownedAnswer{
		Valid: true, AppID: app.ID, SocialUID: user.SocialUID, Type: user.Type,
		Scope: caller.Scope, Exp: caller.ExpiresAt.Unix(), ExpiresIn: left(caller),
	})
}

// left is for how many more seconds a token is good.
func left(caller storage.Caller) int64 { return int64(time.Until(caller.ExpiresAt) / time.Second) }

// judge returns what the token of a request is about: a user and an application that are
// still there, or it is no good.
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
	user, openid, err := l.owner(c.Context(), app, caller.UserID)
	return caller, app, profileOf(user, openid, cmp.Or(user.LoginType, storage.LoginSelf)), badTokenIf(err)
}

// bearer returns whom the token of a request speaks for: a user, or it is no good. It
// comes in one place only, because two might be two different ones.
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

// badTokenIf takes what a good token can no longer be about for a bad one.
func badTokenIf(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return badToken.Because(err)
	}
	return err
}
