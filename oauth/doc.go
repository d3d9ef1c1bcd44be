// Package oauth is the front door: an OAuth 2.1 and OpenID Connect provider (spec 4.1-4.6).
//
// A [Server] is an http.Handler that owns /oauth/* except /oauth/signin, /oauth/account and
// what is below them, and the two documents under /.well-known/. Give it a storage.Store and
// something that knows who the visitor is (package oauth/signin, or your own [SignIn]), and
// mount it:
//
//	mux.Handle("/oauth/", provider)
//	mux.Handle("/oauth/signin", signIn)
//	mux.Handle("/oauth/signin/", signIn)
//	mux.Handle("/.well-known/", provider)
//
// A serving process also runs storage.Store.SweepEvery in a goroutine of its own.
//
// Other rooms and your own handlers ask [Server.Verify] who a bearer token speaks for.
//
// # Choices
//
// New takes a context and reads: the signing keys, made if the store has none, and the
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
