package oauth

import (
	"encoding/json"
	"net/http"

	"github.com/keystile/keystile/internal/dpop"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/oauth/internal/engine"
	"github.com/keystile/keystile/storage/client"
)

// metadata holds the discovery document of protocol 2.5 and RFC 8414.
type metadata struct {
	Issuer                   string   `json:"issuer"`
	Authorization            string   `json:"authorization_endpoint"`
	Token                    string   `json:"token_endpoint"`
	UserInfo                 string   `json:"userinfo_endpoint"`
	Revocation               string   `json:"revocation_endpoint"`
	Introspection            string   `json:"introspection_endpoint,omitempty"`        // RFC 7662
	DeviceAuthorization      string   `json:"device_authorization_endpoint,omitempty"` // RFC 8628 4
	Registration             string   `json:"registration_endpoint,omitempty"`         // RFC 7591
	JWKS                     string   `json:"jwks_uri"`
	EndSession               string   `json:"end_session_endpoint"`
	ResponseTypes            []string `json:"response_types_supported"`
	ResponseModes            []string `json:"response_modes_supported,omitempty"`
	GrantTypes               []string `json:"grant_types_supported"`
	GrantProfiles            []string `json:"authorization_grant_profiles_supported,omitempty"` // of jwt-bearer
	Scopes                   []string `json:"scopes_supported"`
	TokenAuthMethods         []string `json:"token_endpoint_auth_methods_supported"`
	TokenAuthAlgs            []string `json:"token_endpoint_auth_signing_alg_values_supported,omitempty"`
	RevocationAuthMethods    []string `json:"revocation_endpoint_auth_methods_supported,omitempty"`
	RevocationAuthAlgs       []string `json:"revocation_endpoint_auth_signing_alg_values_supported,omitempty"`
	IntrospectionAuthMethods []string `json:"introspection_endpoint_auth_methods_supported,omitempty"`
	IntrospectionAuthAlgs    []string `json:"introspection_endpoint_auth_signing_alg_values_supported,omitempty"`
	ChallengeMethods         []string `json:"code_challenge_methods_supported"`
	SubjectTypes             []string `json:"subject_types_supported"`
	IDTokenAlgs              []string `json:"id_token_signing_alg_values_supported"`
	ProofAlgs                []string `json:"dpop_signing_alg_values_supported,omitempty"` // RFC 9449 5.1
	Claims                   []string `json:"claims_supported"`
	ACRValues                []string `json:"acr_values_supported,omitempty"`
	IssInResponse            bool     `json:"authorization_response_iss_parameter_supported"`
	Requests                 bool     `json:"request_parameter_supported"`     // OpenID Connect Core 6
	RequestURIs              bool     `json:"request_uri_parameter_supported"` // which is true where it is not said
	BackchannelLogout        bool     `json:"backchannel_logout_supported,omitempty"`
	BackchannelSessions      bool     `json:"backchannel_logout_session_supported,omitempty"`
	ClientDocuments          bool     `json:"client_id_metadata_document_supported,omitempty"` // decision 55
}

// The ways in which an application with a secret authenticates (protocol 5, decision 88).
const (
	secretPost  = "client_secret_post"
	secretBasic = "client_secret_basic"
)

// assertionAlgs are the algorithms that an application may sign with which authenticates by its keys (RFC 7523).
var assertionAlgs = []string{token.RS256, "PS256", token.ES256, token.EdDSA}

// readsDocuments reports whether a client_id may be the URL of a metadata document.
func (k *core) readsDocuments() bool {
	return k.c.Consent != nil && k.c.Clients.Documents != ClientsOff
}

// oidcMetadata returns the document of protocol 2.5: the endpoints in their .php form, exactly the values listed, and
// beside them what many clients look for here alone.
func (k *core) oidcMetadata() metadata {
	m := metadata{
		Issuer:           k.issuer,
		Authorization:    k.issuer + pathAuthorize + php,
		Token:            k.issuer + pathToken + php,
		UserInfo:         k.issuer + pathUserInfo + php,
		Revocation:       k.issuer + pathRevoke + php,
		JWKS:             k.issuer + pathJWKS,
		EndSession:       k.issuer + pathLogout,
		ResponseTypes:    []string{"code"},
		GrantTypes:       []string{engine.GrantCode, engine.GrantRefresh, engine.GrantClientCredentials},
		Scopes:           []string{"openid", "profile", "email"},
		TokenAuthMethods: []string{secretPost},
		ChallengeMethods: []string{"S256", "plain"},
		SubjectTypes:     []string{"public"},
		IDTokenAlgs:      k.c.IDTokenAlgs,
		Claims: []string{"sub", "name", "nickname", "preferred_username", "picture", "email",
			"email_verified", "gender", "location", "login_type", "updated_at"},
		IssInResponse: true,

		Introspection: k.issuer + pathIntrospect, ResponseModes: []string{"query"}, BackchannelLogout: true,
		BackchannelSessions: true,
	}
	if k.registers() {
		m.Registration = k.issuer + pathRegister
	}
	if k.c.Devices != nil {
		m.DeviceAuthorization = k.issuer + pathDevice
	}
	return m
}

// oauthMetadata returns the document of RFC 8414, for all clients, public ones included.
//
// It is served at the root alone. This issuer has no path, so a document at the path of a resource, where some
// clients look first, would name an issuer other than the one they asked for, which RFC 8414 3.3 forbids; after
// a 404 they look at the root.
func (k *core) oauthMetadata() metadata {
	m := k.oidcMetadata()
	m.Authorization = k.issuer + pathAuthorize
	m.Token = k.issuer + pathToken
	m.UserInfo = k.issuer + pathUserInfo
	m.Revocation = k.issuer + pathRevoke
	if k.c.Devices != nil {
		m.GrantTypes = append(m.GrantTypes, engine.GrantDevice)
	}
	m.GrantTypes = append(m.GrantTypes, engine.GrantJWTBearer, engine.GrantExchange)
	m.GrantProfiles = []string{"urn:ietf:params:oauth:grant-profile:id-jag"}
	m.Scopes = append(m.Scopes, scope.Groups, scope.Tools, scope.ReadOnlyTools)
	m.Claims = append(m.Claims, scope.Groups)
	if k.c.Consent != nil {
		m.Scopes = append(m.Scopes, scope.Apps)
	}
	// none first: some clients take the first they know
	m.TokenAuthMethods = []string{client.AuthNone, secretPost, secretBasic, client.AuthPrivateKeyJWT}
	if m.ClientDocuments = k.readsDocuments(); m.ClientDocuments {
		m.TokenAuthMethods = []string{client.AuthNone, client.AuthPrivateKeyJWT, secretPost, secretBasic}
	}
	m.TokenAuthAlgs = assertionAlgs
	m.RevocationAuthMethods, m.RevocationAuthAlgs = m.TokenAuthMethods, m.TokenAuthAlgs
	m.IntrospectionAuthMethods, m.IntrospectionAuthAlgs = m.TokenAuthMethods[1:], m.TokenAuthAlgs
	m.ChallengeMethods, m.ProofAlgs = []string{"S256"}, dpop.Algs()
	if k.c.Levels != nil {
		m.ACRValues = k.c.Levels.Levels()
		m.Claims = append(m.Claims, "auth_time", "acr", "amr")
	}
	m.IDTokenAlgs = []string{token.HS256, token.ES256, token.RS256, token.EdDSA}
	return m
}

// document serves bytes that never change while the process runs.
func document(m metadata) reply.HandlerFunc {
	body, err := json.Marshal(m)
	if err != nil {
		panic(err) // strings and booleans marshal
	}
	d := reply.NewDocument(body)
	return func(w http.ResponseWriter, r *http.Request) error {
		d.Write(w, r)
		return nil
	}
}

// jwks serves GET /oauth/jwks (protocol 4.6).
func (k *core) jwks(w http.ResponseWriter, r *http.Request) error {
	k.tokens.keys.JWKS().Write(w, r)
	return nil
}
