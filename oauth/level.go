package oauth

import (
	"context"

	"github.com/keystile/keystile/oauth/internal/engine"
	"github.com/keystile/keystile/storage"
)

// enough reports whether a session is enough for an application.
func (s *Server) enough(ctx context.Context, who storage.Session, app storage.App, acrValues string) (bool, error) {
	if s.c.Levels == nil || acrValues == "" && app.MFA == "" {
		return true, nil
	}
	return s.c.Levels.Enough(ctx, who, app, acrValues)
}

// told returns what an application learns of how a user signed in: nothing of a sign-in with one factor,
// unless it has asked.
func (s *Server) told(who storage.Session, acrValues string) engine.SignIn {
	if s.c.Levels == nil {
		return engine.SignIn{}
	}
	acr := s.c.Levels.Level(who, acrValues)
	if acr == "" && acrValues == "" {
		return engine.SignIn{}
	}
	return engine.SignIn{AMR: who.AMR, ACR: acr}
}
