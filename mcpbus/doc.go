// Package mcpbus serves every published tool to any MCP client, at /api/mcp (protocol 4.9).
//
//	upstreams, err := mcpbus.NewUpstreams(mcpbus.UpstreamsConfig{})
//	b, err := mcpbus.New(ctx, mcpbus.Config{
//		BaseURL: origin, Store: store, Invoker: upstreams, Meter: gateway, Verifier: tokens,
//	})
//	b.Mount(mux)
//	http.ListenAndServe(address, g.Front(mux)) // rates and CORS; the bus itself asks for a token, and charges
//
// One endpoint speaks MCP 2026-07-28, whose requests are self-contained, and the revisions from 2024-11-05 to
// 2025-11-25, which begin with a handshake. No state of a client is kept between two requests, so any node can
// answer any of them. A request reads one snapshot of all tools, already encoded. A new snapshot is made when
// the catalog has changed: by Reload, or within a second if another node changed it.
//
// A caller sees the tools that the token's scope opens (tools; tools/read, those that change nothing;
// tools:<member>; tools:<member>/<tool>; tools:b:<bundle>; of several names all that they open; app of
// client_credentials counts as tools) and that its subject may use: package internal/toolaccess explains access
// lists. All other tools are invisible: they are in no list, cursor or notification, and calling one is
// answered like calling an unknown tool.
//
// # Errors
//
// Without a token every method is answered 401 with the challenge; with one, all methods but POST are 405. A
// refusal before a message with an id was read has an HTTP status and a body that is both JSON-RPC and a
// failure of the service. Modern errors that answer an id are JSON-RPC alone: strict clients accept nothing
// else. A tool of the user that the token does not cover is 403 with the scope that would (step-up). A call
// that is refused, or that fails because of an error here, is not charged.
//
// # Limits
//
//	time of a call    set by the capability, up to 10 minutes; it covers the whole answer
//	answer            UpstreamsConfig.MaxAnswer; beyond it the result is an error with the size, or a link
//	calls at a time   Config.PerCaller, Config.PerUpstream; beyond them a result says to wait, and nothing is charged
//	tools             of one owner and of the whole bus; the capabilities registered first have priority
//	views             1,024 and 24 MB cached; 32 MB of joined pages
//	stale data        roles one second, tiers five, both a minute while the store is away; then 503
//
// # Choices
//
// A call runs on the goroutine of its request, so that a disconnect ends it and a panic in it ends nothing
// else. The reasons for the rest stand with the types and functions in question.
//
// It is one package because two families of revisions list, call and stream from one snapshot, and each of these
// depends on what a caller may see. The client of upstreams is internal/mcpcall.
package mcpbus
