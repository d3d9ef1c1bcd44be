// Package gateway checks, counts and forwards calls: bearer tokens, rates, quotas, usage, applications, billing, audit
// and CORS; /api/v1/*. One access token opens every service behind it (protocol 4.7, 5, 8).
//
//	trail, err := gateway.OpenTrail(ctx, gateway.TrailConfig{Store: store})
//	g, err := gateway.New(ctx, gateway.Config{Store: store, Tokens: tokens, Trail: trail, Journal: "usage"})
//	g.Mount(mux)
//	mux.Handle("/ai/", g.Guard(gateway.AI, service)) // in there: gateway.CallerFrom(ctx)
//	server := &http.Server{Handler: g.Front(mux)}
//
// Front counts each request once, against an application or an address. Guard admits requests
// with a token, and charges the calls that are answered. Services elsewhere are guarded by
// Proxy, or by their own proxy asking at /api/v1/verify. Billing rules are in package billing,
// rates in package limits. What is on the trail, and what was charged, is shipped elsewhere by package stream,
// where TrailConfig.Stream and Config.UsageStream say so.
//
// # Choices
//
// A call is charged when its answer begins, or when its client leaves before that and the
// request had reached a service elsewhere. Before that it is not known whether there is
// anything to charge; afterwards a client could have what was never counted. If it cannot
// be charged, it is not answered.
//
// What an application may do is remembered for five seconds, then read again beside the
// next call: no call waits for the store. Forget makes a change take effect at once in
// this process, and that of another process forgets the application here within a second.
//
// A rate belongs to an application whichever of its users calls, because the quota does. An
// application that nobody registered here, such as an agent of some vendor, has users who have
// nothing to do with each other: each of them has a rate and a quota of their own, under it
// (storage.Caller.Account, decision 55). What is remembered of the application is remembered once.
//
// A request without a token counts against its address, which may make 60 a minute. Ten people in
// an office have one address, and each sign-in by an agent is 10 to 20 requests, so what their user
// is known for counts for the user: a live session (60 a minute each, and four times that for all
// sessions of a user, however many), a code that is redeemed and a token that is refreshed (60), a
// sign-in that succeeds (6: a password takes long to check). Beyond these a session is refused, and
// the others count against the address as before. A failure always does, and so does a cookie that
// is none. The documents by which MCP clients find out how to sign in are free as static assets are,
// because each reads them twice; openid-configuration and the keys, which servers read and keep, are
// not. Of the requests of a sign-in three to five are left to the address. An address that
// strangers have used up refuses those with a session too: whether a cookie is one is known only
// behind here.
//
// What is left of a quota is told to models with each result of a tool, so it is remembered for up
// to 100,000 accounts, and read again beside a call every five seconds at most. A call takes one off
// at once in this process, and within seconds in the others.
//
// Usage by user, tool or member (capability) is summed up for who pays: the application itself, by
// its own token, and its owner, by a token of it. Its other users learn nothing of each other. It is
// no bill: calls of the application for no user are of no user, and while a store is away for long,
// calls are counted by product alone (package ledger). A user who calls adds a row an hour for
// themselves and one for each tool they call, and no more than one for each call that is charged; rows
// of hours go after 400 days, those of days stay, as they do for products. One answer holds the 1,000
// names with the most calls and 10,000 rows; it is summed up a few days at a time, two answers at a time.
// A call is charged once however often its client repeats it under an Idempotency-Key
// (draft-ietf-httpapi-idempotency-key-header), for 24 hours and up to Config.FreeRepeats times; each
// attempt reaches the service, which does its own part, and counts against the rate. The key alone
// would be a way to have everything for one charge, so it goes together with all that the service sees of the request:
// account, user, method, path, query, headers and the body, which is hashed as the service reads it. What it has not
// read to the end when it answers is not known, and charged. Of the headers only those are apart that differ between
// attempts at one call by themselves (package internal/repeat lists them); a request id that a client sends is not
// among them. The same request again may be a call of its own too: hence the number, one. A WebSocket is
// charged each time, and the answer to a repetition that goes on for more than a minute is charged after all.
// Behind forward auth the body is not seen, so only GET and HEAD can be free, without anything that tells of a body
// or a stream, and only where a trusted proxy reports both method and path.
// A key that cannot be read is a 400: its client believes that trying again is free, and learns it when it is
// written, not from a bill. Only requests with a key wait for the store, in one step where it is their
// first, and what cannot be looked up is charged: package internal/repeat has the promise at kills.
//
// Rates in Config.Shadow refuse nobody. What passes over one does not count against it, so what is
// reported is what would be refused. It is summed on the audit trail by application or network, as the acts of
// strangers are: who is let through at any rate must not fill it.
//
// RateLimit headers stand on refusals and on the gateway's own answers; a service's answer
// is left as it is.
//
// With Config.Tracer each request that Front or a Guard sees is a span of OpenTelemetry, with the product and
// the application, and a call that Proxy forwards is one below it, whose id the service gets in traceparent.
// Without it traceparent passes as it came. Package internal/span says what is never in a span.
//
// A row of the audit trail is written for each call of a guarded endpoint, even a refused
// one; anonymous calls are summed (package internal/audit). Refusals by Front have no row:
// anybody can cause them at any rate.
//
// Applications are managed by their owner, with a token that carries the scope apps. It does
// not matter whose application the token was issued to: the scope is consented to each time,
// and that consent is what lets an application manage the others. An application's own token
// is for that application alone, whatever else its owner has: its secret is on servers, and
// must not open its owner's other applications. It may read its own record, rotate its own
// secret, order a tier and cancel a pending order. It may not change its redirect addresses
// or its other settings: whoever finds its secret could do so too.
//
// No bearer token carries an administrator's powers, and none makes an application that
// asks for no consent: these are the console's (package gateway/console) and the command
// line's. A foreign application answers as one that is not there, to administrators too.
//
// Each change of an application is on the audit trail, with the state before and after, and
// its owner is notified by Config.Notifier. A secret is shown there by the beginning of its
// hash: it is drawn at random, so that nobody finds it by guessing.
//
// A proxied service learns the caller from headers, and does not get the token unless
// Upstream.KeepBearer is set: one token is valid for every product, so a service that reads
// it could call the others. A service that verifies tokens itself (protocol 5) keeps it.
//
// Nothing else that a client says of itself reaches a service, behind Proxy or behind Guard (package
// internal/headername has the list): who calls (X-Keystile-*, Remote-User, what sign-in proxies and client
// certificates are told by), from where (Forwarded, X-Forwarded-*, X-Real-Ip, True-Client-Ip and what content networks
// write), which URL, host or method is meant (X-Original-*, X-Rewrite-Url, X-HTTP-Method-Override), and what a mesh or
// a server in front is steered by (X-Envoy-*, X-Accel-*). Nor does a header whose name holds anything but letters,
// digits and -: PHP and CGI make one variable of X-Keystile.User and X-Keystile-User. Proxy then writes who calls and
// from where. Behind Guard, CallerFrom says who, and X-Forwarded-For, -Host and -Proto, where they came, say what the
// gateway knows; whoever else reads the request finds it as it came. There is no setting for it: a service that needs
// such a header from its clients can give it another name.
//
// A service behind Proxy gets none of the cookies of Keystile and sets none (package internal/cookies), and its
// answers say nothing that browsers keep for the whole host: Clear-Site-Data, NEL, Report-To, Alt-Svc,
// Service-Worker-Allowed, Set-Login. A handler behind Guard is the host's own code, which has both in its hands
// anyway: its cookies and answers pass as they are.
//
// The prefix of a proxied service must be written as it is: /%61i is not /ai. What is handed on
// is cut from the path as it came, so nothing is taken for a prefix that a service could read in
// another way. No path climbs, in up to two decodings, with / or \, before or behind a semicolon.
//
// Trailers of a request reach no service, neither behind Guard nor behind Proxy: they come when
// the headers have been checked, and services that join the two would believe them. Those of an
// answer pass, because gRPC needs them, without those that a service must not set as headers.
//
// Forward auth takes the product from the query, which the proxy's operator has written, and
// never from a header. Method and path of the client's call are accepted from
// Config.TrustedProxies. A proxy sends them in X-Forwarded-Uri or in X-Original-URI and hands on
// the other as the client sent it; no order of the two is right for every proxy, so where they
// differ neither is accepted, and the trail shows the verify request itself. Every identity
// header is in the answer, also an empty one: proxies that copy what they find replace the
// client's.
//
// Front sends Strict-Transport-Security where Config.HSTS is set, for this host and not for its
// subdomains. Browsers keep it for the whole host, so a proxied service cannot change it. A
// handler in the same program can: it is the host's own.
//
// A WebSocket is one call, charged when the protocol is switched. Like any call that goes on, a stream of events, an
// upload, a long answer, it ends with its token, with its application or user, and after Config.StreamLife: first its
// context, whose cause is ErrEnded, then its connection. All requests of known callers that Front or a Guard sees are
// watched so, in memory and by one goroutine (package internal/streams); what takes less than three seconds is left
// alone. While revocations cannot be read such calls end too, as none passes then. Behind forward auth only the proxy
// can end what goes on. The row of a WebSocket on the audit trail is written when it is over, with the
// bytes that went to the client. A page of any origin may open one, and that opens nothing:
// only a bearer token counts, and browsers add none by themselves. Nor can their WebSocket
// send one, and a token in the query would end up in logs: pages use a stream of events, or
// a server of their own. Shutdown of an http.Server neither waits for WebSockets nor ends
// them; Close breaks them off, as it cannot know where a frame ends.
//
// # Size
//
// It is larger than a package here should be: front, guard, proxy and forward auth work on one
// state of a request, from its rate to its charge, and apart they would hand that state around.
// Limits, money, the ledger and the endpoints of owners are packages of their own.
package gateway
