// Package remote verifies access tokens of a Keystile service in another process, for services
// that its tokens are meant for (protocol 5):
//
//	v, err := remote.New(ctx, remote.Config{BaseURL: "https://id.example.com"})
//	mux.Handle("/reports/", v.Require("profile")(reports)) // in there: remote.CallerFrom(ctx)
//	err = v.Mount(mux, "https://api.example.com/mcp", mcpHandler, "tools:orders") // and says where to sign in
//
// A token is verified here, by the keys that the service publishes: its signature, its issuer,
// its audience, its time and that it is an access token (RFC 9068 4). Nothing is charged, and
// nothing is asked of the service but its keys. Where that is wanted, put the service behind
// gateway.Proxy, or behind a proxy that asks at /api/v1/verify.
//
// Mount protects an MCP endpoint, or any other service that strangers' programs use: a client that is refused reads
// beside it where to sign in (RFC 9728), and comes back with a token for it alone.
//
// An API key of a user ("ks_...") says nothing by itself, and is refused here. A service that takes
// them asks about each: with its own client_secret at /oauth/introspect (RFC 7662), or by GET
// /api/v1/verify with the key as its bearer token; or it stands behind gateway.Proxy.
//
// A service that Keystile calls, as the upstream of a capability or behind the proxy, learns from it who calls if its
// identity is signed. Callers verifies that:
//
//	callers, err := v.Callers("https://api.example.com", "shop") // its own origin, and the capability's name
//	mux.Handle("/orders/", callers.Require(orders))              // in there: remote.ToldFrom(ctx)
//
// The package links neither the provider nor a store.
//
// # Choices
//
// Keys are fetched when the first token comes, and by a request whenever they are older than
// Config.RefreshEvery: nothing runs beside the requests, and there is nothing to close. Others go
// on with the keys there are meanwhile. If the service is away, they do so until
// Config.StaleAfter; then every token is answered with a 503, because a key may have been
// withdrawn.
//
// A token with a kid that nobody knows has the keys fetched again, because they may have been
// rotated. Anybody can make up such a token, so one fetch runs at a time, and Config.Pause passes
// between two of them: in between, such tokens are refused. The service publishes a key long
// before it signs with it, so that no genuine token is among them.
//
// A revoked token is accepted here until it expires, as the protocol allows to those who verify
// tokens locally. With Config.CheckEvery the service is asked about each token by GET
// /api/v1/verify, which knows of revocations and of applications that were disabled. The token
// itself is all that is sent there: no other credential is needed. Each question counts one
// request against the rate of the token's application. If it cannot be asked, the answer is 503.
//
// A token is looked at when a request begins. A WebSocket, server-sent events and any other call that goes on are not
// ended here when it expires or is revoked, as gateway.Guard and gateway.Proxy end them: a service that serves such
// calls ends them at CallerFrom(ctx).ExpiresAt, and calls Verify again every few seconds, with CheckEvery, to learn
// of a revocation.
//
// Redirects are not followed: keys are the service's own, or none.
package remote
