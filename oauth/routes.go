package oauth

import (
	"net/http"

	"github.com/keystile/keystile/internal/bruteforce"
	"github.com/keystile/keystile/internal/reply"
)

// Paths of the endpoints (protocol 4). Each OAuth endpoint also answers with .php behind it.
const (
	pathAuthorize  = "/oauth/authorize"
	pathToken      = "/oauth/token"
	pathUserInfo   = "/oauth/userinfo"
	pathRevoke     = "/oauth/revoke"
	pathJWKS       = "/oauth/jwks"
	pathLogout     = "/oauth/logout"
	pathRegister   = "/oauth/register"
	pathIntrospect = "/oauth/introspect"           // RFC 7662
	pathDevice     = "/oauth/device_authorization" // RFC 8628
	pathOIDC       = "/.well-known/openid-configuration"
	pathRFC8414    = "/.well-known/oauth-authorization-server"

	// pathRegisterRoot is for clients that have found no metadata (MCP 2025-03-26).
	pathRegisterRoot = "/register"

	php = ".php"
)

// routes makes the endpoints and returns all routes of the provider. HEAD is not served where GET has an effect: a
// HEAD at authorize would mint a code.
func (s *Server) routes(users *userInfo, failures *bruteforce.Failures,
	sameOrigin *http.CrossOriginProtection) []reply.Route {
	visits := visitors{s.core}
	authorize, proof := &authorizer{visits, s.legacy}, &authenticator{s.core, failures}
	logout := &logoutEndpoint{visits, sameOrigin}
	read := []string{http.MethodGet, http.MethodHead}
	post := []string{http.MethodPost}
	twins := []reply.Route{
		{Path: pathAuthorize, Methods: []string{http.MethodGet, http.MethodPost}, Handle: authorize.authorize,
			Fail: authorize.failAuthorize},
		{Path: pathToken, Methods: post, Handle: (&tokenEndpoint{proof}).token},
		{Path: pathUserInfo, Methods: append(read, http.MethodPost), Handle: users.userInfo},
		{Path: pathRevoke, Methods: post, Handle: (&revocation{proof}).revoke},
		{Path: pathDevice, Methods: post, Handle: (&deviceEndpoint{proof, visits}).authorizeDevice},
		{Path: pathIntrospect, Methods: post, Handle: (&introspector{proof}).introspect},
		{Path: pathJWKS, Methods: read, Handle: s.jwks},
		{Path: pathLogout, Methods: append(read, http.MethodPost), Handle: logout.logout, Fail: s.failPage},
	}
	all := []reply.Route{
		{Path: pathOIDC, Methods: read, Handle: document(s.oidcMetadata())},
		{Path: pathRFC8414, Methods: read, Handle: document(s.oauthMetadata())},
	}
	if s.registers() {
		g := &registrar{s.core}
		twins = append(twins, reply.Route{Path: pathRegister, Methods: post, Handle: g.register})
		all = append(all,
			reply.Route{Path: pathRegisterRoot, Methods: post, Handle: g.register},
			reply.Route{Path: pathRegister + "/{client_id}", Methods: append(read, http.MethodDelete), Handle: g.registered})
	}
	for _, r := range twins {
		all = append(all, r)
		r.Path += php
		all = append(all, r)
	}
	return all
}
