package oauth

import (
	"context"
	"net/http"

	"github.com/keystile/keystile/internal/logintype"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/span"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/oauth/internal/claims"
	"github.com/keystile/keystile/storage"
)

// userInfo serves GET and POST /oauth/userinfo (protocol 4.3).
//
// It costs one read for each user and scope: the answer is cached until the user is written, by any process,
// and for five seconds at most if the users are a host's own, which announce no changes. Tokens are always
// issued after the user was read anew.
func (s *Server) userInfo(w http.ResponseWriter, r *http.Request) error {
	caller, err := s.caller(r)
	if err != nil {
		return badBearer(err)
	}
	span.Of(r.Context()).Set(span.ClientID, caller.AppID)
	if caller.UserID == "" {
		return badToken.Saying("this token speaks for an application, not for a user")
	}
	answer, err := s.answers.Of(r.Context(), caller.UserID, claims.Of(caller.Scope))
	if err != nil {
		return badBearer(err)
	}
	if answer == nil { // the user is disabled
		return badToken
	}
	answer.Write(w)
	return nil
}

// caller returns the caller that the request's bearer token identifies. The gateway in front may
// have verified it already.
func (s *Server) caller(r *http.Request) (storage.Caller, error) {
	if v := reqctx.From(r.Context()); v != nil && v.Known && v.Caller.Audience == s.issuer {
		return v.Caller, nil
	}
	bearer, err := token.Bearer(r)
	if err != nil {
		return storage.Caller{}, err
	}
	return s.tokens.Verify(r.Context(), bearer)
}

// shownUser returns a user as applications are told of them.
func (s *Server) shownUser(ctx context.Context, sub string) (storage.User, error) {
	u, err := s.c.Users.User(ctx, sub)
	u.LoginType = logintype.Shown(s.c.LoginTypes, u.LoginType)
	return u, err
}
