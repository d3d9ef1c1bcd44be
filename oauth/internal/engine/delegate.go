package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Delegated holds the parts of an access token of a user that no code and no refresh token stands for: somebody else
// has proved who the user is, or that the application may act for them.
type Delegated struct {
	User     storage.User
	Scope    string
	Audience string
	Until    time.Time // when it ends, at the latest; zero: as access tokens do

	Grant  string // gid; "": a grant of its own
	Actors []string
	Via    []storage.Step
	Key    string // cnf.jkt
}

// assertedLifetime bounds the access token of an assertion: whoever made that stays the one who decides.
const assertedLifetime = time.Hour

// MayDelegate refuses an application and a user for whom nothing can be granted, as a code would be refused.
func (e *Engine) MayDelegate(ctx context.Context, app storage.App, user storage.User) error {
	switch {
	case app.Disabled:
		return refuse(InvalidGrant, "this application is disabled")
	case user.Sub == "" || user.Disabled:
		return refuse(InvalidGrant, "the user is gone or disabled")
	}
	return e.admitted(ctx, &work{app: app, found: &driver.Token{}}, user)
}

// Delegate makes an access token. MayDelegate has been asked. It writes nothing and gives no refresh token.
func (e *Engine) Delegate(ctx context.Context, app storage.App, d Delegated) (Granted, error) {
	now := time.Now()
	w := &work{app: app, now: now, scope: d.Scope}
	if err := e.MayGrant(); err != nil {
		return Granted{}, err
	}
	c := token.Claims{
		Issuer: e.Issuer, Subject: d.User.Sub, Audience: d.Audience, ClientID: app.ID, Scope: d.Scope, Grant: d.Grant,
		Actors: d.Actors, Via: d.Via, KeyThumbprint: d.Key,
	}
	if c.Grant == "" {
		c.Grant = handle.NewGrant(e.Store.Later(now))
	}
	if app.GroupsInAccessToken && scope.Has(d.Scope, scope.Groups) {
		var err error
		if c.Groups, err = e.Groups(ctx, &app, d.User.Sub, d.Scope); err != nil {
			return Granted{}, err
		}
	}
	life := e.lifetime(d.Scope)
	if !d.Until.IsZero() {
		life = min(life, d.Until.Sub(now).Truncate(time.Second))
	}
	if life <= 0 {
		return Granted{}, refuse(InvalidGrant, "there is no second left of what this token would stand for: get a new one")
	}
	if err := e.mint(w, c, life); err != nil {
		return Granted{}, err
	}
	return Granted{App: app, User: d.User, At: now, ExpiresIn: life, Scope: d.Scope, Access: w.access, Actors: d.Actors,
		Key: d.Key}, nil
}

// Until returns when the access token of an assertion ends, at the latest.
func Until(now time.Time) time.Time { return now.Add(assertedLifetime) }

// mint signs an access token for a lifetime from now on.
func (e *Engine) mint(w *work, c token.Claims, life time.Duration) (err error) {
	c.ID, c.IssuedAt, c.ExpiresAt = rand.Text(), w.now, w.now.Add(life)
	w.access, err = e.Keys.SignAccess(c)
	if errors.Is(err, token.ErrTooLong) {
		err = refuse(InvalidRequest, "the token would be too long, because it was exchanged too often")
	}
	return err
}

// Shared returns what is in both of two scopes: of all tools and those of one capability, the latter. Where nothing is
// wanted it is all that is granted. A scope that is never granted silently is in none.
func Shared(granted, wanted string) string {
	if wanted == "" {
		return scope.WithoutElevated(granted)
	}
	var both []string
	for name := range strings.FieldsSeq(wanted) {
		if scope.Within(granted, name) {
			both = append(both, name)
			continue
		}
		for less := range strings.FieldsSeq(granted) {
			if scope.Within(name, less) {
				both = append(both, less)
			}
		}
	}
	return knownScopes(strings.Join(both, " "), func(name string) bool {
		return scope.Grantable(name) && !scope.Elevated(name)
	}, "")
}
