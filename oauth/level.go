package oauth

import (
	"context"

	"github.com/keystile/keystile/oauth/internal/engine"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

// enough reports whether a session is enough for an application.
func (v visitors) enough(ctx context.Context, who storage.Session, app storage.App, acrValues string) (bool, error) {
	if err := v.judged(ctx, app); err != nil {
		return false, err
	}
	if v.c.Levels == nil || acrValues == "" && app.MFA == "" {
		return true, nil
	}
	return v.c.Levels.Enough(ctx, who, app, acrValues)
}

// judged refuses an application that requires two factors where nobody can tell how many a user has proved: the rule
// may not fall away because a host has not set Levels.
func (v visitors) judged(ctx context.Context, app storage.App) error {
	if v.c.Levels != nil || app.MFA != authn.MFARequired {
		return nil
	}
	v.c.Log.ErrorContext(ctx, "an application that requires two factors is refused: set Levels of the oauth.Config",
		"client_id", app.ID)
	return noLevels
}

// told returns what an application learns of how a user signed in: nothing of a sign-in with one factor,
// unless it has asked.
func (v visitors) told(who storage.Session, acrValues string) engine.SignIn {
	if v.c.Levels == nil {
		return engine.SignIn{}
	}
	acr := v.c.Levels.Level(who, acrValues)
	if acr == "" && acrValues == "" {
		return engine.SignIn{}
	}
	return engine.SignIn{AMR: who.AMR, ACR: acr}
}
