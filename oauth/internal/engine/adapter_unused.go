package engine

import (
	"context"
	"time"

	"github.com/ory/fosite"
)

// The rest of fosite's storage interfaces: calls that this engine's handlers do not make.
// They fail, so that a change in fosite is noticed instead of being obeyed.

func (a adapter) SetClientAssertionJWT(context.Context, string, time.Time) error {
	return errNotOffered
}

func (a adapter) GetAccessTokenSession(context.Context, string, fosite.Session) (fosite.Requester, error) {
	return nil, errNotOffered
}

func (a adapter) DeleteAccessTokenSession(context.Context, string) error  { return errNotOffered }
func (a adapter) DeleteRefreshTokenSession(context.Context, string) error { return errNotOffered }
func (a adapter) RevokeRefreshToken(context.Context, string) error        { return errNotOffered }
func (a adapter) RevokeAccessToken(context.Context, string) error         { return errNotOffered }
