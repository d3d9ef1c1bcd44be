package oauth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/oauth/internal/engine"
	"github.com/keystile/keystile/storage"
)

// idClaims holds the payload of protocol 2.4 with OpenID Connect Core 2 and 3.1.3.6.
type idClaims struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"`
	Audience string `json:"aud"`
	Expires  int64  `json:"exp"`
	IssuedAt int64  `json:"iat"`
	AuthTime int64  `json:"auth_time"`
	Nonce    string `json:"nonce,omitempty"`
	AtHash   string `json:"at_hash"`
	*profileClaims
	*emailClaims
}

// profileClaims come with the scope profile, emailClaims with email (OpenID Connect Core 5.4).
type profileClaims struct {
	Name              string `json:"name"`
	Nickname          string `json:"nickname"`
	PreferredUsername string `json:"preferred_username"`
	Picture           string `json:"picture"`
	Gender            string `json:"gender"`
	Location          string `json:"location"`
}

type emailClaims struct {
	Email         string `json:"email"`
	EmailVerified bool   `json:"email_verified"`
}

func profileOf(u storage.User, scope string) *profileClaims {
	if !slices.Contains(strings.Fields(scope), "profile") {
		return nil
	}
	return &profileClaims{cmp.Or(u.Name, u.Nickname, u.Username), cmp.Or(u.Nickname, u.Username), u.Username, u.Picture, u.Gender, u.Location}
}

func emailOf(u storage.User, scope string) *emailClaims {
	if !slices.Contains(strings.Fields(scope), "email") {
		return nil
	}
	return &emailClaims{u.Email, u.EmailVerified && u.Email != ""}
}

// idToken mints the id_token of a grant.
func (s *Server) idToken(ctx context.Context, g engine.Granted) (string, error) {
	alg := g.App.SignsIDTokensWith()
	claims, err := json.Marshal(idClaims{
		Issuer: s.issuer, Subject: g.User.Sub, Audience: g.App.ID,
		Expires: g.At.Add(s.c.IDTokenLifetime).Unix(), IssuedAt: g.At.Unix(), AuthTime: g.AuthTime.Unix(),
		Nonce: g.Nonce, AtHash: atHash(alg, g.Access),
		profileClaims: profileOf(g.User, g.Scope), emailClaims: emailOf(g.User, g.Scope),
	})
	if err != nil {
		return "", err
	}
	if alg == token.HS256 {
		return token.SignHS256(g.App.AppKey(), token.TypeID, claims), nil
	}
	if err := s.tokens.keys.Ensure(ctx, alg); err != nil {
		return "", err
	}
	return s.tokens.keys.Sign(alg, token.TypeID, claims)
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
