// Package oauth is an OAuth 2.1 and OpenID Connect provider (protocol 4.1-4.6).
//
// A [Server] is an http.Handler for /oauth/*, except /oauth/device, /oauth/signin, /oauth/account and the paths
// below the last two, and for the documents under /.well-known/. It needs [Tokens], which the other packages
// share, and a [SignIn] that knows who the visitor is (package oauth/signin, or your own):
//
//	tokens, err := oauth.OpenTokens(ctx, oauth.TokensConfig{BaseURL: origin, Store: store})
//	signIn, err := signin.New(ctx, signin.Config{BaseURL: origin, Store: store, Revoker: tokens})
//	provider, err := oauth.New(ctx, oauth.Config{
//		Tokens: tokens, SignIn: signIn, Consent: signIn, Devices: signIn, Levels: signIn,
//	})
//	provider.Mount(mux)
//	signIn.Mount(mux)
//
// [Tokens.Verify] returns the caller that a bearer token identifies, without a storage call. Close the Server
// before the Tokens.
//
// It is one package because its endpoints answer from the same records under one issuer: what one grants, the next
// redeems, shows and revokes, and their refusals are one list. Each endpoint is a struct of its own.
//
// # Scopes
//
//	scope           opens                                       lives    with whose consent
//	(any token)     services behind the gateway, and quota and  168 h    -
//	                usage of the application it was issued to
//	openid          an id_token; the sub at userinfo            168 h    the user's, remembered; a first-party
//	                                                                     application is not asked about
//	profile, email  names and picture; the address              168 h    the same
//	groups          names of the user's groups, filtered        168 h    the same; the page names them
//	tools           the tools of the bus that the user may use  168 h    the same
//	tools/read      of these, those that change nothing         168 h    the same; tools holds it
//	tools:MEMBER    of these, those of one capability           168 h    the same; tools holds it
//	tools:MEMBER/TOOL  of these, one                            168 h    the same; tools and tools:MEMBER hold it
//	tools:b:BUNDLE  of these, those of one bundle               168 h    the same; tools holds it
//	apps            the user's applications and their orders:   1 h, no  the user's, each time, also for a
//	                /api/v1/apps, /api/v1/billing/              refresh  first-party application, with a sign-in
//	                                                                     of the last ten minutes; never silent
//	app             the application itself: its record, secret, 168 h    none: client_credentials alone, with the
//	                orders and quota; its tools of the bus               application's own secret; no user grants it
//
// A refresh token lasts 30 days and is replaced at each use; it keeps the grant's scope except apps. No token carries
// a role: administrators act at /api/console/ with their own sign-in, by cookie. Each handler checks its scope itself,
// and no scope implies another except as the table says. The scope of a capability, a tool or a bundle is granted
// whether or not it exists: it opens what exists when the token is used. At most 32 names of a scope are granted.
//
// A user may allow less of the tools than an application asks for, such as one bundle. The grant then holds that
// instead, the token response names it (RFC 6749 5.1), and no refresh takes more. prompt=consent lets users choose
// anew. A claim groups is as old as its token; userinfo and introspection say what is so now: see [ClaimsRequest].
//
// # Errors
//
// A failure before the redirect_uri is validated is a page and never a redirect. Later failures go to the
// application, except those of the service itself (503, 500): the user can try again, and the application could
// do nothing.
//
// # Imports
//
// This package links fosite, some 260 packages of 53 modules: a stripped server of net/http and a store grows
// from 6.7 to 21.3 MB on linux/amd64, and the go.sum has 893 lines, of which fosite alone makes 852. A service
// in another process that only checks tokens uses package gateway/remote instead.
package oauth
