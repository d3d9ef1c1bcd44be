package legacy

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/logintype"
	"github.com/keystile/keystile/internal/pattern"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// profile is a user as old applications see one. All are texts and all are always there:
// clients decode them into fixed types.
type profile struct {
	Type        string `json:"type"`
	SocialUID   string `json:"social_uid"` // the openid of protocol 2.2
	AccessToken string `json:"access_token"`
	Nickname    string `json:"nickname"`
	FaceImg     string `json:"faceimg"`
	Gender      string `json:"gender"` // 男, 女 or ""
	Location    string `json:"location"`
	IP          string `json:"ip"`
}

var genders = map[string]string{"male": "男", "female": "女"}

func profileOf(u storage.User, openid, loginType string) profile {
	return profile{
		Type: loginType, SocialUID: openid, Nickname: cmp.Or(u.Nickname, u.Username), FaceImg: u.Picture,
		Gender: genders[u.Gender], Location: u.Location,
	}
}

// pending is the answer to a request that comes before the browser is back. Clients that
// look at its code know this meaning alone.
type pending struct {
	Code int    `json:"code"`
	Msg  string `json:"msg"`
}

var goesOn = pending{2, "the sign-in has not come back: redeem the code that redirect_uri is given"}

// callback serves act=callback: it redeems a code, once (protocol 3.1). Everything is read,
// verified and minted before the one write that spends the code.
//
// A second act=callback ends nothing, unlike a replay at /oauth/token: old clients repeat the call whenever
// their page is loaded again, with the appkey that proves who they are. It issues no refresh token: there is
// nothing here to exchange one at.
func (l *Legacy) callback(w http.ResponseWriter, c *call) error {
	app, err := l.authenticate(c)
	if err != nil {
		return err
	}
	code, now := c.params.Get("code"), time.Now()
	if code == "" {
		return badParameter.Saying("code is missing")
	}
	if l.c.Provider.Begun(app, code) {
		return reply.JSON(w, http.StatusOK, goesOn)
	}
	t, err := l.findCode(c, app, code, now)
	if err != nil {
		return err
	}
	user, openid, err := l.owner(c, app, t.UserID)
	if errors.Is(err, errNotAdmitted) {
		return notAdmitted
	}
	if errors.Is(err, storage.ErrNotFound) {
		return unknownCode.Because(err)
	} else if err != nil {
		return err
	}
	answer := profileOf(user, openid, t.LoginType)
	answer.IP = t.IP
	if answer.AccessToken, err = l.c.Provider.Access(c.Context(), t); err != nil {
		return err
	}
	if err := l.spend(c.Context(), t, now); err != nil {
		return err
	}
	c.event.User = t.UserID
	return succeed(w, app, answer)
}

// findCode finds the code and verifies it. A code of another kind or of another application
// does not exist for this one, so that a wrong attempt changes nothing.
func (l *Legacy) findCode(c *call, app storage.App, code string, now time.Time) (driver.Token, error) {
	t, err := l.c.Store.Token(c.Context(), handle.KeyOf(code))
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return t, unknownCode
	case err != nil:
		return t, err
	case t.Kind != driver.KindLegacy, t.AppID != app.ID, !now.Before(t.ExpiresAt):
		return t, unknownCode
	case !t.SpentAt.IsZero():
		return t, codeUsed
	}
	// Clients look users up by the type their redirect brought, which anybody can write.
	if wanted := c.params.Get("type"); wanted != "" && wanted != t.LoginType {
		return t, wrongType.Saying("type differs from the one the code was issued for; the code is still good")
	}
	return t, nil
}

func (l *Legacy) spend(ctx context.Context, t driver.Token, now time.Time) error {
	err := l.c.Store.Exchange(ctx, t.Key, now.UTC())
	switch {
	case errors.Is(err, storage.ErrSpent):
		return codeUsed
	case errors.Is(err, storage.ErrRevoked), errors.Is(err, storage.ErrNotFound):
		return unknownCode.Because(err)
	}
	return err
}

// owner returns a user and their openid for an application. It returns storage.ErrNotFound
// for a user who is removed, disabled or unknown to the application, or whom it does not admit any more.
func (l *Legacy) owner(c *call, app storage.App, sub string) (storage.User, string, error) {
	ctx := c.Context()
	user, err := l.c.Users.User(ctx, sub)
	if err == nil && user.Disabled {
		err = storage.ErrNotFound
	}
	if err != nil {
		return storage.User{}, "", err
	}
	if admitted, err := l.c.Store.Admits(ctx, app, user); err != nil {
		return storage.User{}, "", err
	} else if !admitted {
		c.event.User, c.event.Detail = sub, event.DetailNotAdmitted+": "+c.event.Detail
		return storage.User{}, "", errNotAdmitted
	}
	known, err := l.c.Store.OpenID(ctx, app.ID, sub)
	if err == nil && !known.EndedAt.IsZero() {
		err = storage.ErrNotFound // they have taken its access away
	}
	return user, known.OpenID, err
}

var openidShape = pattern.Lazy(`^[0-9A-F]{32}$`)

// query serves act=query: it looks up a user of the application again. It returns no token.
//
// It goes by social_uid; type only has to be a login type, or one that is offered. A user has one social_uid
// per application however they signed in, and the answer names the last way.
func (l *Legacy) query(w http.ResponseWriter, c *call) error {
	app, err := l.authenticate(c)
	if err != nil {
		return err
	}
	uid := c.params.Get("social_uid")
	if uid == "" {
		return badParameter.Saying("social_uid is missing")
	}
	wanted := c.params.Get("type")
	if wanted != "" && !slices.Contains(loginTypes, wanted) && !l.offers(wanted) {
		return l.notOffered(wanted)
	}
	if !openidShape().MatchString(uid) {
		return unknownUser
	}
	known, err := l.c.Store.FindOpenID(c.Context(), app.ID, uid)
	if errors.Is(err, storage.ErrNotFound) {
		return unknownUser
	} else if err != nil {
		return err
	}
	user, openid, err := l.owner(c, app, known.UserID)
	if errors.Is(err, storage.ErrNotFound) {
		return unknownUser
	} else if err != nil {
		return err
	}
	c.event.User = user.Sub
	return succeed(w, app, profileOf(user, openid, logintype.Told(wanted, user.LoginType)))
}
