// Package oauth is an OAuth 2.1 and OpenID Connect provider (protocol 4.1-4.6).
//
// A [Server] is an http.Handler that owns /oauth/* except /oauth/device, /oauth/signin, /oauth/account
// and what is below the last two, and the documents under /.well-known/. It needs [Tokens], which the other
// packages share, and a [SignIn] that knows who the visitor is (package oauth/signin, or your own):
//
//	tokens, err := oauth.OpenTokens(ctx, oauth.TokensConfig{BaseURL: origin, Store: store})
//	signIn, err := signin.New(ctx, signin.Config{BaseURL: origin, Store: store, Revoker: tokens})
//	provider, err := oauth.New(ctx, oauth.Config{Tokens: tokens, SignIn: signIn, Consent: signIn, Devices: signIn, Levels: signIn})
//	provider.Mount(mux)
//	signIn.Mount(mux)
//
// [Tokens.Verify] tells other packages and your own handlers which caller a bearer token
// identifies, without a storage call. Tokens also remove expired records from the store, once a
// minute.
//
// Whoever imports this package links fosite, and with it some 260 packages of 53 modules, gRPC and
// Jaeger's client among them. On linux/amd64 that makes a stripped server of net/http and a store grow from
// 6.7 to 21.3 MB, of which fosite brings 13.2; it starts 3 ms later and holds 13 MB more when idle, of which
// 2 are its own and the rest pages of the file. Packages gateway, registry, mcpbus and legacy do not import
// it: a service in another process that only checks tokens needs none of it.
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
// A refresh token lasts 30 days and is replaced at each use; it keeps the grant's scope but
// for apps. No token carries a role: what administrators do takes their own sign-in, by
// cookie, at /api/console/. Each handler checks its scope itself, and no scope implies another
// except as said here. The scope of a capability, a tool or a bundle is granted whether or not it
// exists: it opens what exists when the token is used.
//
// A user may allow less of the tools than an application asks for, such as one bundle or what changes
// nothing. The grant then holds that in the place of what was asked for, the token response names it
// (RFC 6749 5.1), and no refresh takes more. Asked for the same again, they are not asked once more;
// prompt=consent lets them choose anew, and what is beyond their choice is asked for when it is needed.
//
// # Choices
//
// OpenTokens takes a context and reads: the signing keys, made if the store has none, and the
// revocations. From then on a verified bearer costs no storage call. userinfo costs one for each user and
// scope: the answer is kept as bytes until the user is written, here or elsewhere, and five seconds at most, unless the
// users are a host's own, who tells nobody of changes. Tokens are always issued after the user was read anew.
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
// A client_id that begins with https:// is the URL of a client metadata document (decision 55). Only an
// authorize request reads one, and the first request of a device; only after everything else about the
// request was found right; and from hosts that ClientsConfig and the operator admit. Token requests use
// what is stored, so a vendor that is away ends nobody's session. Package internal/clientdoc says what a
// document must be.
//
// A document that was read is kept for a day, and for good once a user has consented to it
// (storage.Store.KeepClient). While it is fresh nothing is written; once it is not, it is read again by
// the next authorize request, and one write makes it fresh. If it cannot be read then, or says something
// that is refused, the last one that was good is used for another day, and its host is left alone for a
// minute. A failure to read an unknown document is not remembered, and counts for nobody but its requester's
// network. For strangers there are read 10 documents and key sets a minute for an address, 30 of one host and 100 in
// all, and kept 30 new documents an hour and 100 a day for an address, and 1,000 a day for each listed host and for
// all others together; beyond what is shared each network has a reserve, see package internal/allowance. The last
// one bounds what strangers can make the store keep; it is of documents and not of hosts, because some hosts
// answer at any URL with a document of that client_id.
//
// An application that nobody registered is redirected to only once the visitor has consented to it: until then
// its errors, and the way back from a sign-out, are pages with a link (decision 95). It is told interaction_required
// in place of login_required and consent_required.
//
// Such an application is public even if it proves itself by private_key_jwt: it has no secret here,
// and client_credentials is not for it. It gets refresh tokens if its document names that grant type or
// none at all. Its challenge is S256 always. Its keys are read from a jwks_uri at the first token request
// and once they are an hour old, and for an unknown key at most every five minutes; if they cannot be read,
// those that were read before stay. A jti is used up by a ticket, which is created or is there already. The aud of an
// assertion is the issuer or the token endpoint alone, as a text or a list of one: another audience could send it here.
//
// At most 32 names of a scope are granted; the rest is ignored, as unknown names are. A library
// that sends the scope of its first request at each refresh is not refused because of apps: that
// name is ignored there.
//
// The window of decision 90 needs a Store that has HMACKey, as *storage.Store does; with another one the refresh
// tokens of agents are as those of other applications. A repetition writes nothing, so it asks for what has been
// revoked at other nodes itself. Of two requests that replace a token at once, the slower reads what the other has
// stored and is answered with that.
//
// Applications register themselves (RFC 7591) at /oauth/register, and at /register, where clients look
// that have found no metadata; [Server.Mount] takes that path as well, unless registration is off. Every
// one becomes a public client: package registration below says why, what is taken of what they say, and how
// many may. A registration is read
// and removed by its own token (RFC 7592), and never changed: users would have consented to another
// application. To remove one ends what it was granted. A wrong token, an application that is not there and
// one that was registered in another way are answered alike.
//
// The RFC 8414 document is served at the root alone. This issuer has no path, so a document
// at the path of a resource, where some clients look first, would name an issuer other than the one they
// have asked for, and RFC 8414 3.3 forbids to use such a one; after a 404 they look at the root.
//
// A resource (RFC 8707) is known with a slash at its end and with scheme and host in capitals, because
// clients make it of what a person has typed. Tokens name it in one form.
//
// An authorize request may be sent as a form; then its query is not read. Where nobody is signed in it is led to the
// same by GET: a form of another site comes without the cookie. So is a form of another site at /oauth/logout, which
// would otherwise end nothing.
//
// An id_token_hint at authorize is one of the application itself, as at logout: it may have expired, and any other is
// passed over. So is one of another application here: otherwise whoever holds such an id_token could ask whether its
// user is the one who is signed in. So is one of a user whom the application has never met: an application can write an
// id_token itself that its secret signs. The sign-in page says that somebody is meant and not who: the browser may be
// another person's. If anybody else signs in there, the application is told login_required: it knows whom to ask.
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
// # What others are told
//
// An application with a BackchannelLogoutURI is told of the end of sessions (OpenID Connect Back-Channel
// Logout 1.0), and operators of users; package storage/told says what is promised of both, and package
// internal/outgoing how it is sent. [New] starts to send, [Server.Close] ends it, and what waits goes on with the
// next process. Addresses are public ones, or among AllowPrivate and, of user events, AllowPrivateEvents.
//
// Who may say where: the application's owner with a user's token of scope apps or in the console, with a sign-in of
// the last ten minutes as for redirect_uris; administrators; and whoever is at the data folder. An address of this
// machine or of a private network is for the last two alone (decision 101). An application's own token may not, and an
// application that nobody registered here has no such address. The host is one of the application's domains. Operators
// alone choose where user events go.
//
// What a stranger can have sent is bounded: one request for each code that was given and one for each application
// that was met, to addresses that their owners have registered, one at a time and five a second for an
// application; the same is not queued twice, and a queue holds storage.MaxTold.
//
// The sid is in the code, so that it reaches the id_token without a read; the list of applications is on the session.
// The first code of a session for an application that is told costs one write more, any other none. A session
// that a sign-in in the same browser goes on has the sid of the one before. At most storage.MaxSessionApps are told
// of one session; the next get no sid. What a device was granted belongs to no session: it is told by sub alone.
//
// # Size
//
// It is a little larger than a package here should be: the endpoints share one Server, its
// failures and its audit; what fosite does is internal/engine.
package oauth
