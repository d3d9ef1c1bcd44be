// Package oauth is an OAuth 2.1 and OpenID Connect provider (protocol 4.1-4.6).
//
// A [Server] is an http.Handler that owns /oauth/* except /oauth/signin, /oauth/account and
// what is below them, and the documents under /.well-known/. It is made of [Tokens], which every
// other room takes too, and of something that knows who the visitor is (package oauth/signin, or
// your own [SignIn]):
//
//	tokens, err := oauth.OpenTokens(ctx, oauth.TokensConfig{BaseURL: origin, Store: store})
//	signIn, err := signin.New(ctx, signin.Config{BaseURL: origin, Store: store, Revoker: tokens})
//	provider, err := oauth.New(ctx, oauth.Config{Tokens: tokens, SignIn: signIn, Consent: signIn})
//	provider.Mount(mux)
//	signIn.Mount(mux)
//
// [Tokens.Verify] tells other rooms and your own handlers whom a bearer token speaks for, without
// a storage call. Tokens also sweep the store of what has ended, once a minute.
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
// cookie, at /api/console/. Each handler looks for its scope itself, and none is implied by
// another but as said here. A scope that a capability or a bundle of that name would have is
// granted whether or not there is one: it opens what there is when it is used.
//
// # Choices
//
// OpenTokens takes a context and reads: the signing keys, made if the store has none, and the
// revocations. From then on a verified bearer costs no storage call.
//
// A failure before the redirect_uri is known to be right is a page and never a redirect.
// Afterwards failures go to the application, except the service's own (503, 500): an
// application can do nothing about those, and the person in front of the browser can try
// again.
//
// Consent, if there is a [Consent], is asked after the sign-in, for exactly the scope that
// would be granted, and before anything is written: no openid and no code. A no comes back as
// one more parameter of the authorize request, which is judged from the start, so that it
// is told to a redirect_uri that has been found right. prompt=consent asks again, also for a
// FirstParty application. The old check_sso never asks: without consent nobody is signed in.
//
// The scope apps is asked for each time. One yes is good for one grant, within ten minutes,
// and is used up before the code is issued: if that fails, the user is asked again. With
// prompt=none the answer is consent_required whatever was allowed before, so that no page
// can fetch such a token unseen. Without a [Consent] the scope is not known.
//
// At most 32 names of a scope are granted; what comes behind is left out, as unknown names
// are. A library that sends the scope of its first request at each refresh is not refused
// because of apps: it is left out there.
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
package oauth
