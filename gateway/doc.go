// Package gateway checks, counts and forwards calls: bearer tokens, rates, quotas, usage,
// applications, billing, audit and CORS; /api/v1/*. One access token opens every service behind it (spec 4.7, 5, 8).
//
//	trail, err := gateway.OpenTrail(ctx, gateway.TrailConfig{Store: store})
//	g, err := gateway.New(ctx, gateway.Config{Store: store, Tokens: tokens, Trail: trail, Journal: "usage"})
//	g.Mount(mux)
//	mux.Handle("/ai/", g.Guard(gateway.AI, service)) // in there: gateway.CallerFrom(ctx)
//	server := &http.Server{Handler: g.Front(mux)}
//
// Front counts each request once, against an application or an address. Guard lets in who
// has a token, and charges what is answered. Services elsewhere are guarded by Proxy, or by
// their own proxy asking at /api/v1/verify.
//
// # Choices
//
// A rate is exact: no 60 seconds hold more than N requests, and what is refused does not
// count. A quota never refuses, so it is not looked at on a call: calls are counted, and
// who is over is settled with later.
//
// A call is charged when its answer begins, or when its client leaves before that and the
// request had reached a service elsewhere. Before that it is not known whether there is
// anything to charge; afterwards a client could have what was never counted. If it cannot
// be charged, it is not answered.
//
// Removing an application renews nothing: what it has used of its period, up to its limit,
// counts against the applications that its owner makes before the reset: calls beyond what it
// leaves them are over, and settled. It is never usage or settled a second time itself. A call whose answer has not begun when the application is
// removed is left out, and one that another process has not sent yet, within a second.
//
// A million addresses are counted at a time, apart from applications. Where there are more, an
// unknown one is counted by its network, which may do four times as much for each step that it
// is wider, and the RateLimit headers go on speaking of the address (entry 56 of the decisions,
// package network).
//
// What an application may do is remembered for five seconds, then read again beside the
// next call: no call waits for the store. Forget makes a change hold at once, here.
//
// A rate belongs to an application whichever of its users calls, because the quota does.
// RateLimit headers stand on refusals and on the gateway's own answers; a service's answer
// is left as it is.
//
// Who brings no valid token is counted by address and, of IPv6, by /56 and /48 too, which may
// do four and sixteen times as much: anybody can have a /48, and in it 65,536 addresses. A
// household seldom has more than a /56, so it cannot use up the rate of its neighbours in a
// /48. A company or a pool of a mobile network shares one /48 between many people, as it
// shares one address of IPv4, which may do a sixteenth of that: where 960 requests a minute of
// people who sign in are too few for a /48, 60 are for an address, and Config.PerAddress is
// to be raised, which raises all of them. Networks of IPv4 are not counted together: each of
// its addresses costs somebody something. The counts of networks take 8 MB at most.
//
// A row of the audit trail is written for each call that came to a guarded door, also if
// it was refused there; calls of nobody who is known are summed (package internal/audit).
// Refusals by Front have none: anybody can cause them at any rate.
//
// Applications are managed by their owner, with a token that carries the scope apps. It does
// not matter whose application the token was issued to: the scope is consented to each
// time, and that consent is what lets an application manage the others. An application's
// own token is for that application alone, whoever owns it: its secret is on servers, and
// must not open its owner's other applications. It reads itself, rotates its own secret,
// orders a tier and takes an order back that waits; it changes neither where its users are
// sent nor what it is, because whoever finds its secret would.
//
// No bearer token carries an administrator's powers, and none makes an application that
// asks for no consent: these are the console's (package gateway/console) and the command
// line's. A foreign application answers as one that is not there, to administrators too.
//
// What is done to an application is on the audit trail with what there was before and what
// there is now, and told to its owner where Config.Notifier can. A secret is shown there by
// the beginning of its hash: it is drawn at random, so that nobody finds it by guessing.
//
// A tier is read by the clock from what was agreed on, so nothing has to run at the moment
// it changes. It is one document with the application, and is written in one step with the
// order that changes it. Of one application one order is open at a time; asking again for
// the same answers with it. What is less begins when what there is ends, and can be taken
// back until then. An order that has yet to begin is canceled by what overtakes it, in the
// same step: it is neither owed nor to be taken back.
//
// A new tier has its quota whole. The hour in which a tier changes counts in the new one:
// the ledger knows hours, and who upgrades has run out of calls most likely.
//
// The specification names no price for calls beyond a quota: Plan.OverFen is 0 until the
// operator sets one. An application that was removed leaves behind what it is settled by.
//
// A proxied service is told who calls in headers, and does not get the token unless
// Upstream.KeepBearer says so: one token opens every product, so whoever reads it could
// call the others. A sibling that verifies tokens itself (spec 5) keeps it. None ever gets
// the sign-in cookie, or can set it.
//
// The prefix of a proxied service must be written as it is: /%61i is not /ai. What is handed on
// is cut from the path as it came, so nothing is taken for a prefix that a service could read in
// another way. No path climbs, in up to two decodings, with / or \, before or behind a semicolon.
//
// Trailers of a request reach no service, neither behind Guard nor behind Proxy: they come when
// the headers have been judged, and services that join the two would believe them. Those of an
// answer pass, gRPC needs them, without what a service must not say in headers.
//
// Forward auth believes the query of the question, which its proxy's operator has written, and
// no header for what a call is charged to. Method and path of the client's call are believed of
// Config.TrustedProxies. A proxy says them in X-Forwarded-Uri or in X-Original-URI and hands on
// the other as the client sent it; no order of the two is right for every proxy, so where they
// differ neither is believed, and the question itself stands on the trail. Every identity header
// is in the answer, also an empty one: proxies that copy what they find replace the client's.
//
// Strict-Transport-Security is said by Front where Config.HSTS says so, of this host and not of
// those below it. Browsers keep it for the whole host, so a proxied service cannot change it. A
// handler in the same program can: it is the host's own.
//
// A WebSocket is one call, charged and judged when the protocol is switched: it goes on
// when its token ends. Its row on the audit trail is written when it is over, with the bytes
// that went to the client. A page of any origin may open one, and that opens nothing: only
// a bearer token counts, and browsers add none by themselves. Nor can their WebSocket send
// one, and a token in the query would end up in logs: pages use a stream of events, or a
// server of their own. Shutdown of an http.Server neither waits for WebSockets nor ends
// them; Close breaks them off, as it cannot know where a frame ends.
package gateway
