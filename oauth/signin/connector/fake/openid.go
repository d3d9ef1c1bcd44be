package fake

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/keystile/keystile/oauth/signin/connector/oidc"
)

const oidcID = "keystile-at-the-fake"

func (f *Fake) openIDIssuer() string { return f.base + f.path + "/oidc" }

// openIDConfig is that of a connector to the issuer, which is on this machine.
func (f *Fake) openIDConfig() oidc.Config {
	base, _ := url.Parse(f.base) // New has checked it
	port := base.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[base.Scheme]
	}
	return oidc.Config{
		Name: "oidc", Label: "OpenID", Issuer: f.openIDIssuer(), ClientID: oidcID, ClientSecret: f.secret,
		AllowPrivate: []string{joinHostPort(base.Hostname(), port)},
	}
}

func joinHostPort(host, port string) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + port
}

func respondJSON(w http.ResponseWriter, status int, o object) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	return json.NewEncoder(w).Encode(o)
}

func (f *Fake) openIDDocument(w http.ResponseWriter, _ *http.Request) error {
	at := f.openIDIssuer()
	return respondJSON(w, http.StatusOK, object{
		"issuer": at, "authorization_endpoint": at + "/authorize", "token_endpoint": at + "/token",
		"userinfo_endpoint": at + "/userinfo", "jwks_uri": at + "/jwks",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"pairwise"},
		"scopes_supported": []string{"openid", "profile", "email"}, "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported":          []string{"client_secret_basic", "client_secret_post"},
		"id_token_signing_alg_values_supported":          []string{"RS256", "PS256", "ES256", "EdDSA"},
		"authorization_response_iss_parameter_supported": true,
	})
}

func (f *Fake) openIDKeys(w http.ResponseWriter, _ *http.Request) error {
	keys, err := f.keys.current()
	if err != nil {
		return err
	}
	return respondJSON(w, http.StatusOK, object{"keys": keys.public()})
}

// asked keeps what an authorization request of OpenID Connect or GitHub is bound to.
func asked(request url.Values, fault string) func(*grant) {
	return func(g *grant) {
		g.challenge, g.nonce, g.scope, g.fault = request.Get("code_challenge"), request.Get("nonce"), request.Get("scope"),
			fault
	}
}

// proves reports whether a verifier is that of the visit (RFC 7636, S256).
func (g grant) proves(verifier string) bool {
	sum := sha256.Sum256([]byte(verifier))
	return subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(g.challenge)) == 1
}

func (f *Fake) openIDToken(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	id, secret, basic := r.BasicAuth()
	if basic {
		id, _ = url.QueryUnescape(id)
		secret, _ = url.QueryUnescape(secret)
	} else {
		id, secret = form.Get("client_id"), form.Get("client_secret")
	}
	if id != oidcID || !f.secret.Equal(secret) {
		return respondJSON(w, http.StatusUnauthorized, object{"error": "invalid_client",
			"error_description": "wrong id or secret"})
	}
	token, g, v := f.issuer.redeem("oidc", form.Get("code"))
	if v != valid || g.back != form.Get("redirect_uri") || !g.proves(form.Get("code_verifier")) ||
		form.Get("grant_type") != "authorization_code" {
		return respondJSON(w, http.StatusBadRequest, object{"error": "invalid_grant",
			"error_description": "code, redirect_uri or code_verifier"})
	}
	signed, err := f.idToken(g, token)
	if err != nil {
		return err
	}
	return respondJSON(w, http.StatusOK, object{"access_token": token, "token_type": "Bearer", "expires_in": 300,
		"id_token": signed, "scope": g.scope})
}

func (f *Fake) openIDUser(w http.ResponseWriter, r *http.Request) error {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	g, ok := f.issuer.holder("oidc", token)
	if !ok {
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		return respondJSON(w, http.StatusUnauthorized, object{"error": "invalid_token"})
	}
	claims := f.claimsOf(g)
	claims["sub"] = g.openID()
	if g.fault == "another-userinfo" {
		claims["sub"] = "somebody-else"
	}
	return respondJSON(w, http.StatusOK, claims)
}

// claimsOf are the claims that the scopes of a grant are about.
func (f *Fake) claimsOf(g grant) object {
	claims, scopes := object{}, strings.Fields(g.scope)
	if slices.Contains(scopes, "profile") {
		claims["name"], claims["picture"], claims["gender"] = g.user.Name, f.faceOf(g.user),
			g.user.genderAs("male", "female", "")
	}
	if slices.Contains(scopes, "email") {
		claims["email"], claims["email_verified"] = g.user.email(), g.user.verified()
	}
	return claims
}

// email returns the address of a test user.
func (p testUser) email() string { return p.Key + "@example.com" }

// verified reports whether a provider has verified it: omar's has not been.
func (p testUser) verified() bool { return p.Key != "omar" }
