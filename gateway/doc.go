// Package gateway checks, counts and forwards calls: bearer tokens, rates, quotas, usage, applications,
// billing, audit and CORS; /api/v1/*. One access token opens every service behind it (protocol 4.7, 5, 8).
//
//	trail, err := gateway.OpenTrail(ctx, gateway.TrailConfig{Store: store})
//	g, err := gateway.New(ctx, gateway.Config{Store: store, Tokens: tokens, Trail: trail, Journal: "usage"})
//	g.Mount(mux)
//	mux.Handle("/ai/", g.Guard(gateway.ProductAI, service)) // in there: gateway.CallerFrom(ctx)
//	server := &http.Server{Handler: g.Front(mux)}
//
// [Gateway.Front] counts each request once, against an application or an address. [Gateway.Guard] admits
// requests with a token, and charges the calls that are answered. Services elsewhere are guarded by
// [Gateway.Proxy], or by their own proxy asking at /api/v1/verify. Billing rules are in package billing, rates in
// storage/counters. Package stream ships the audit trail and the charges elsewhere: see TrailConfig.Stream and
// Config.UsageStream.
//
// # Charges
//
// A call is charged when its answer begins, or when its client leaves before that and the request had reached a
// service elsewhere. Before that it is not known whether there is anything to charge; afterwards a client could
// have had what was never counted. A call that cannot be charged is not answered. A repetition under an
// Idempotency-Key is free: see Config.FreeRepeats. A WebSocket is one call, charged when the protocol is
// switched.
//
// # Errors
//
// Requests over a rate are 429 with RateLimit headers; without a valid token 401; when the store cannot be read
// 503. The answers of Proxy for a service that fails are at [Gateway.Proxy].
//
// # Limits
//
//	an application      the rate and quota of its tier, whichever of its users calls
//	its users           if it registered itself (storage.Caller.Account): each a rate and a quota, below its own
//	an address          60 requests a minute without a token
//	a user              60 a minute of each session, four times that of all; 60 of token requests; 6 sign-ins
//	a stream            ends with its token, application or user, and after Config.StreamLife
//	stale data          applications five seconds; changes by another process are seen within one
//
// # Choices
//
// No bearer token carries an administrator's powers, and none makes an application that asks for no consent:
// these are for the console (package gateway/console) and the command line. The other reasons stand with the
// types and functions in question.
//
// # Size
//
// It is one package because Front, Guard, Proxy and forward auth work on one state of a request, from its rate to its
// charge: apart, they would hand that state to each other.
package gateway
