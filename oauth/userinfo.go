package oauth

import (
	"cmp"
	"net/http"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
)

// claims holds the claims of protocol 2.3: all 13, always. Those that the scope does not include
// are empty.
type claims struct {
	Subject string `json:"sub"`
	UserID  int64  `json:"user_id"`
	profileClaims
	emailClaims
	LoginType string `json:"login_type"`
	UpdatedAt int64  `json:"updated_at"`
	Issuer    string `json:"iss"`
}

// userInfo serves GET and POST /oauth/userinfo (protocol 4.3).
func (s *Server) userInfo(w http.ResponseWriter, r *http.Request) error {
	caller, err := s.caller(r)
	if err != nil {
		return badBearer(err)
	}
	if caller.UserID == "" {
		return badToken.Saying("this token speaks for an application, not for a user")
	}
	user, err := s.c.Users.User(r.Context(), caller.UserID)
	if err != nil {
		return badBearer(err)
	}
	if user.Disabled {
		return badToken
	}
	reply.NoStore(w)
	return reply.JSON(w, http.StatusOK, s.claims(user, caller.Scope))
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

func (s *Server) claims(u storage.User, scope string) claims {
	c := claims{
		Subject: u.Sub, UserID: u.ID, Issuer: s.issuer, UpdatedAt: u.UpdatedAt.Unix(),
		LoginType: cmp.Or(u.LoginType, storage.LoginSelf),
	}
	if p := profileOf(u, scope); p != nil {
		c.profileClaims = *p
	}
	if e := emailOf(u, scope); e != nil {
		c.emailClaims = *e
	}
	return c
}
