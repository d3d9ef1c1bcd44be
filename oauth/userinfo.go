package oauth

import (
	"context"
	"net/http"

	"github.com/keystile/keystile/internal/logintype"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/span"
	"github.com/keystile/keystile/oauth/internal/claims"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/claim"
)

// userInfo serves /oauth/userinfo.
type userInfo struct {
	*core
	answers *claims.Answers
	apps    *claims.Apps
}

func (u *userInfo) changed(c storage.Change) {
	u.answers.Changed(c)
	u.apps.Changed(c)
}

// userInfo serves GET and POST /oauth/userinfo (protocol 4.3).
//
// It costs one read for each user and scope: the answer is cached until the user is written, by any process,
// and for five seconds at most if the users are a host's own, which announce no changes. Tokens are always
// issued after the user was read anew. With the scope groups, the groups of the user are read each time; the
// user, too, where claims are added by rules or by the host.
func (u *userInfo) userInfo(w http.ResponseWriter, r *http.Request) error {
	caller, err := u.caller(w, r)
	if err != nil {
		return badBearer(err)
	}
	span.Of(r.Context()).Set(span.ClientID, caller.AppID)
	if caller.UserID == "" {
		return badToken.Saying("this token speaks for an application, not for a user")
	}
	answer, err := u.answers.Of(r.Context(), caller.UserID, claims.Of(caller.Scope))
	if err != nil {
		return badBearer(err)
	}
	if answer == nil { // the user is disabled
		return badToken
	}
	more, err := u.moreFor(r.Context(), caller)
	if err != nil {
		return badBearer(err)
	}
	if len(more) > 0 {
		answer = answer.With(more)
	}
	answer.Write(w)
	return nil
}

// moreFor returns what a caller learns beside the 13 claims.
func (u *userInfo) moreFor(ctx context.Context, caller storage.Caller) ([]byte, error) {
	app, err := u.apps.Of(ctx, caller.AppID)
	if err != nil {
		return nil, err
	}
	q := question{app: app, granted: caller.Scope, in: claim.InUserInfo}
	if q.groups, err = u.groups(ctx, app, caller.UserID, caller.Scope); err != nil {
		return nil, err
	}
	if u.learns(app.Claims) {
		if q.user, err = u.c.Users.User(ctx, caller.UserID); err != nil {
			return nil, err
		}
	}
	return u.more(ctx, q), nil
}

// caller returns the caller that the request's access token identifies. The gateway in front may
// have verified it already.
func (u *userInfo) caller(w http.ResponseWriter, r *http.Request) (storage.Caller, error) {
	if v := reqctx.From(r.Context()); v != nil && v.Known && v.Caller.Audience == u.issuer {
		return v.Caller, nil
	}
	return u.tokens.VerifyRequest(w, r)
}

func (k *core) shownUser(ctx context.Context, sub string) (storage.User, error) {
	u, err := k.c.Users.User(ctx, sub)
	u.LoginType = logintype.Shown(k.c.LoginTypes, u.LoginType)
	return u, err
}
