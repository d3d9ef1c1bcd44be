package oauth

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"

	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/oauth/internal/claims"
	"github.com/keystile/keystile/oauth/internal/engine"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/claim"
)

func (k *core) idToken(ctx context.Context, g engine.Granted) (string, error) {
	alg := g.App.SignsIDTokensWith()
	c := claims.ID{
		Issuer: k.issuer, Audience: g.App.ID, Nonce: g.Nonce, AtHash: atHash(alg, g.Access),
		ExpiresAt: g.At.Add(k.c.IDTokenLifetime), IssuedAt: g.At, AuthTime: g.AuthTime, ACR: g.SignIn.ACR, AMR: g.SignIn.AMR,
	}
	if g.App.BackchannelLogoutURI != "" {
		c.SID = g.SignIn.SID
	}
	payload := c.Append(make([]byte, 0, 768), g.User, claims.Of(g.Scope))
	if scope.Has(g.Scope, scope.Groups) || k.learns(g.App.Claims) {
		payload = claims.Extend(payload, k.more(ctx, questionOf(g)))
	}
	return k.signFor(ctx, g.App, token.TypeID, payload)
}

// questionOf is of the user and the groups that were read for the tokens at hand.
func questionOf(g engine.Granted) question {
	return question{app: &g.App, user: g.User, granted: g.Scope, in: claim.InIDToken, groups: g.Groups}
}

// signFor signs what is meant for an application, with the algorithm of its id_tokens.
func (k *core) signFor(ctx context.Context, app storage.App, typ string, payload []byte) (string, error) {
	alg := app.SignsIDTokensWith()
	if alg == token.HS256 {
		return token.SignHS256(app.AppKey(), typ, payload), nil
	}
	if err := k.tokens.keys.Ensure(ctx, alg); err != nil {
		return "", err
	}
	return k.tokens.keys.Sign(alg, typ, payload)
}

// atHash binds an id_token to its access token: the left half of the hash that belongs to
// the algorithm (OpenID Connect Core 3.1.3.6).
func atHash(alg, access string) string {
	if alg == token.EdDSA {
		sum := sha512.Sum512([]byte(access))
		return base64.RawURLEncoding.EncodeToString(sum[:32])
	}
	sum := sha256.Sum256([]byte(access))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}
