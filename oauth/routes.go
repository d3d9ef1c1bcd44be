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
	pathIntrospect = "/oauth/introspect"
	pathLogout     = "/oauth/logout"
	pathOIDC       = "/.well-known/openid-configuration"
	pathRFC8414    = "/.well-known/oauth-authorization-server"

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
		{Path: pathIntrospect, Methods: post, Handle: s.introspect},
		{Path: pathJWKS, Methods: read, Handle: s.jwks},
		{Path: pathLogout, Methods: append(read, http.MethodPost), Handle: s.logout, Fail: s.failPage},
	}
	all := []reply.Route{
		{Path: pathOIDC, Methods: read, Handle: document(s.oidcMetadata())},
		{Path: pathRFC8414, Methods: read, Handle: document(s.oauthMetadata())},
	}
	for _, r := range twins {
		all = append(all, r)
		r.Path += php
		all = append(all, r)
	}
	return all
}
