package oauth

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/internal/cache"
	"github.com/keystile/keystile/internal/statement"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/lasthop"
)

const (
	statementLife  = time.Minute      // from a statement's making to its end
	statementReuse = 30 * time.Second // how long one without a jti is sent again
	statements     = 16_384           // that are remembered, and openids likewise
)

// statementKey says of which calls a statement without a jti is: those by one token of one tool at one upstream.
type statementKey struct{ app, user, token, tool, audience, subject string }

// reusable is a statement without a jti.
type reusable struct {
	text  string
	until time.Time
}

// callers signs who makes a call.
type callers struct {
	known   *cache.Cache[statementKey, reusable]
	openIDs *cache.Cache[[2]string, string] // by client_id and sub; they never change
}

func newCallers() callers {
	return callers{cache.New[statementKey, reusable](statements), cache.New[[2]string, string](statements)}
}

// SignCaller returns the statement that tells an upstream who makes a call (decision 122): a JWT of the typ
// keystile-caller+jwt, signed with ES256, that is good for a minute. The caller has been verified for this call.
func (t *Tokens) SignCaller(ctx context.Context, caller storage.Caller, c lasthop.Call) (string, error) {
	now := time.Now()
	key := statementKey{caller.AppID, caller.UserID, caller.TokenID, c.Tool, c.Audience, c.Subject}
	if c.JTI == lasthop.Off {
		if known, ok := t.callers.known.Get(key); ok && now.Before(known.until) {
			return known.text, nil
		}
	}
	s := statement.Statement{Issuer: t.c.BaseURL, Audience: c.Audience, Subject: cmp.Or(caller.UserID, caller.AppID),
		ClientID: caller.AppID, Actors: caller.Actors, Tool: c.Tool, IssuedAt: now, ExpiresAt: now.Add(statementLife)}
	if c.JTI != lasthop.Off {
		s.RequestID, s.ID = c.RequestID, rand.Text()
	}
	var err error
	if c.Subject == lasthop.OpenID && caller.UserID != "" {
		if s.Subject, err = t.openID(ctx, caller); err != nil {
			return "", fmt.Errorf("oauth: the openid of a caller: %w", err)
		}
	}
	if err := t.keys.Ensure(ctx, token.ES256); err != nil { // access tokens may have another algorithm
		return "", fmt.Errorf("oauth: %w", err)
	}
	text, err := statement.Sign(t.keys, s)
	if err == nil && c.JTI == lasthop.Off {
		t.callers.known.Put(key, reusable{text, now.Add(statementReuse)})
	}
	return text, err
}

// openID returns how the application of a caller knows its user.
func (t *Tokens) openID(ctx context.Context, caller storage.Caller) (string, error) {
	key := [2]string{caller.AppID, caller.UserID}
	if known, ok := t.callers.openIDs.Get(key); ok {
		return known, nil
	}
	o, err := t.c.Store.OpenID(ctx, caller.AppID, caller.UserID)
	if errors.Is(err, storage.ErrNotFound) {
		o, err = t.c.Store.EnsureOpenID(ctx, caller.AppID, caller.UserID)
	}
	if err != nil {
		return "", err
	}
	return t.callers.openIDs.GetOrPut(key, o.OpenID), nil
}
