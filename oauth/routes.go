package oauth

import (
	"net/http"

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

// routes returns all routes of the provider. HEAD is not served where GET has an effect: a HEAD
// at authorize would mint a code.
func (s *Server) routes() []reply.Route {
	read := []string{http.MethodGet, http.MethodHead}
	post := []string{http.MethodPost}
	twins := []reply.Route{
		{Path: pathAuthorize, Methods: []string{http.MethodGet, http.MethodPost}, Handle: s.authorize, Fail: s.failAuthorize},
		{Path: pathToken, Methods: post, Handle: s.token},
		{Path: pathUserInfo, Methods: append(read, http.MethodPost), Handle: s.userInfo},
		{Path: pathRevoke, Methods: post, Handle: s.revoke},
		{Path: pathDevice, Methods: post, Handle: s.authorizeDevice},
		{Path: pathIntrospect, Methods: post, Handle: s.introspect},
		{Path: pathJWKS, Methods: read, Handle: s.jwks},
		{Path: pathLogout, Methods: append(read, http.MethodPost), Handle: s.logout, Fail: s.failPage},
	}
	all := []reply.Route{
		{Path: pathOIDC, Methods: read, Handle: document(s.oidcMetadata())},
		{Path: pathRFC8414, Methods: read, Handle: document(s.oauthMetadata())},
	}
	if s.registers() {
		twins = append(twins, reply.Route{Path: pathRegister, Methods: post, Handle: s.register})
		all = append(all,
			reply.Route{Path: pathRegisterRoot, Methods: post, Handle: s.register},
			reply.Route{Path: pathRegister + "/{client_id}", Methods: append(read, http.MethodDelete), Handle: s.registered})
	}
	for _, r := range twins {
		all = append(all, r)
		r.Path += php
		all = append(all, r)
	}
	return all
}
