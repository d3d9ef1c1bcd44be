// Package oauth is an OAuth 2.1 and OpenID Connect provider (protocol 4.1-4.6).
//
// A [Server] is an http.Handler that owns /oauth/* except /oauth/device, /oauth/signin, /oauth/account
// and what is below the last two, and the documents under /.well-known/. It needs [Tokens], which the other
// packages share, and a [SignIn] that knows who the visitor is (package oauth/signin, or your own):
//
//	tokens, err := oauth.OpenTokens(ctx, oauth.TokensConfig{BaseURL: origin, Store: store})
//	signIn, err := signin.New(ctx, signin.Config{BaseURL: origin, Store: store, Revoker: tokens})
//	provider, err := oauth.New(ctx, oauth.Config{Tokens: tokens, SignIn: signIn, Consent: signIn, Devices: signIn})
//	provider.Mount(mux)
//	signIn.Mount(mux)
//
// [Tokens.Verify] tells other packages and your own handlers which caller a bearer token
// identifies, without a storage call. Tokens also remove expired records from the store, once a
// minute.
//
// Whoever imports this package links fosite, and with it some 260 packages of 53 modules, gRPC and
// Jaeger's client among them. Packages gateway, registry, mcpbus and legacy do not: a service in
// another process that only checks tokens needs none of it.
//
// # What each scope opens
//
//	scope           opens                                       lives    with whose consent
//	(any token)     services behind the gateway, and quota and  168 h    -
//	                usage of the application it was issued to
//	openid          an id_token; the sub at userinfo            168 h    the user's, remembered; a first-party
//	                                                                     application is not asked about
//	profile, email  names and picture; the address              168 h    the same
//	tools           the tools of the bus that the user may use  168 h    the same
//	tools:MEMBER    of these, those of one capability           168 h    the same; tools holds it
//	tools:b:BUNDLE  of these, those of one bundle               168 h    the same; tools holds it
//	apps            the user's applications and their orders:   1 h, no  the user's, each time, also for a
//	                /api/v1/apps, /api/v1/billing/              refresh  first-party application, with a sign-in
//	                                                                     of the last ten minutes; never silent
//	app             the application itself: its record, secret, 168 h    none: client_credentials alone, with the
//	                orders and quota; its tools of the bus               application's own secret; no user grants it
//
// A refresh token lasts 30 days and is replaced at each use; it keeps the grant's scope but
// for apps. No token carries a role: what administrators do takes their own sign-in, by
// cookie, at /api/console/. Each handler checks its scope itself, and no scope implies another
// except as said here. The scope of a capability or a bundle is granted whether or not it exists:
// it opens what exists when the token is used.
//
// # Choices
//
// OpenTokens takes a context and reads: the signing keys, made if the store has none, and the
// revocations. From then on a verified bearer costs no storage call.
//
// Where other processes share the store, OpenTokens also follows what they revoke and change, because
// everything else is made from its result and is closed before it: packages ask the Store to be told
// (OnChange), and one goroutine reads for all of them.
//
// A failure before the redirect_uri is validated is a page and never a redirect. Afterwards
// failures go to the application, except the service's own (503, 500): an application can do
// nothing about those, and the user can try again.
//
// Consent, if there is a [Consent], is requested after the sign-in, for exactly the scope that
// would be granted, and before anything is written: no openid and no code. A denial comes back as
// one more parameter of the authorize request, which is checked from the start, so that it goes
// to a validated redirect_uri. prompt=consent requests consent again, also for a FirstParty
// application. The old check_sso never shows a page: without consent nobody is signed in.
//
// The scope apps needs consent each time. One consent is good for one grant, within ten minutes,
// and is used up before the code is issued: if that fails, the user is asked again. With
// prompt=none the answer is consent_required whatever was allowed before, so that no page
// can fetch such a token unseen. Without a [Consent] the scope is not known.
//
// At most 32 names of a scope are granted; the rest is ignored, as unknown names are. A library
// that sends the scope of its first request at each refresh is not refused because of apps: that
// name is ignored there.
//
// An authorize request may be sent as a form; then its query is not read.
//
// A GET of /oauth/logout signs nobody out and redirects nowhere unless its id_token_hint
// is an id_token of the application it leads back to. Such a hint may have expired and may
// be signed with any of the application's live secrets. If the user it names is the one who is
// signed in, the session ends and the browser goes back at once; if nobody is signed in,
// it goes back at once; if somebody else is, they are asked. A hint that proves nothing is
// no error: the visitor is asked as if there were none. A HEAD always describes the
// question. A disabled application is answered with a page, before and after the form,
// and the session stays, as for any other redirect that is refused.
//
// A device without a browser is granted tokens by its user's answer on a page of the [Config]'s Devices
// (RFC 8628). The scope apps is refused there: it takes a sign-in and a question in the application's own
// browser. A poll that has no answer yet is no event of the audit trail.
//
// # Size
//
// It is a little larger than a package here should be: the endpoints share one Server, its
// failures and its audit; what fosite does is internal/engine.
package oauth
