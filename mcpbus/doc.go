// Package mcpbus serves every published tool to any MCP client, at /api/mcp (protocol 4.9).
//
//	upstreams, err := mcpbus.NewUpstreams(mcpbus.UpstreamsConfig{})
//	b, err := mcpbus.New(ctx, mcpbus.Config{BaseURL: origin, Store: store, Invoker: upstreams, Meter: gateway, Verifier: tokens})
//	b.Mount(mux)
//	http.ListenAndServe(address, g.Front(mux)) // rates and CORS; the bus itself asks for a token, and charges
//
// One endpoint speaks MCP 2026-07-28, whose requests are self-contained, and the revisions from
// 2024-11-05 to 2025-11-25, which begin with a handshake. No state of a client is kept between
// two requests, so any node can answer any of them.
//
// A request reads one snapshot of all tools, already encoded. A new snapshot is made when the
// catalog has changed: by Reload, or within a second if another node changed it.
//
// A caller sees the tools that the token's scope opens (tools; tools/read, those that change nothing;
// tools:<member>; tools:<member>/<tool>; tools:b:<bundle>; of several names all that they open; app of
// client_credentials counts as tools) and that its subject may use: see package internal/toolaccess for the meaning of
// access lists. All others are invisible: they are in no list, cursor or notification, and a call of one is answered
// like a call of a tool that does not exist.
//
// # Choices
//
// A user who is asked for all tools may allow a bundle, and the client stays at the address of the whole
// bus: so the scope of a bundle opens its tools there too. A token that names the bundle's address as its
// resource is good for that alone. A challenge for one more tool names what the token opens already, and
// a whole capability only where the token has whole ones: whoever has chosen closely is asked closely.
//
// The server core is our own. A call runs on the goroutine of its request, so that a disconnect
// ends it and a panic in it ends nothing else.
//
// A request of the modern revision is recognised by its _meta or its header; everything else is
// legacy, with or without a handshake, and errors of its messages have status 200. A refusal
// before a message with an id was read, such as a missing token, has an HTTP status and a body
// that is both JSON-RPC and our own failure. Modern errors that answer an id are JSON-RPC alone:
// strict clients accept nothing else.
//
// A request without a token is answered 401 with the challenge whatever its method: clients
// probe for the login with GET or HEAD too. With a token, all methods but POST are 405. OPTIONS
// is always 405, for browsers send no token with it; a gateway in front answers preflights.
//
// The capability sets the time limit of its calls, up to 10 minutes. It covers the whole answer.
// A call that exceeds it ends with an error that names the limit.
//
// A call is answered with JSON however long it takes, unless the client requests progress: with
// a progressToken in _meta, and an Accept that names text/event-stream. If then 5 seconds pass
// (Config.Progress), or the upstream sends progress, the answer becomes a stream whose last event
// is the response; a quicker call is still answered with JSON. An upstream's progress is passed
// on with the client's token as far as it grows, and from then on only comments keep the stream
// alive. Otherwise the seconds that have passed are the progress. A batch gets no progress: its
// answer is one text.
//
// Legacy clients cancel a call with a notification in a request of its own. For that, initialize
// returns a random session id, which is not stored: only running calls are kept, by session id,
// user, application and request id together. So no session is unknown, none can be ended (DELETE
// is answered 405), and any node answers. A cancel that reaches another node than the call has no
// effect, and is answered 202 as any other is; the call then ends at its time limit. A session id
// that the client made up cancels nothing, because others might guess it. A cancelled call has no
// response: its HTTP answer is a stream that ends or, for clients that read no streams, an error.
// It is charged like a call whose client disconnected.
//
// Modern clients, which have no sessions, cancel by closing the connection. That ends calls of
// legacy clients too: no stream is resumed, so nobody could get their answers any more.
//
// Batches are answered under the revisions that have them. Each message of one counts against
// the caller's rate, so that packing them buys nothing, and a batch carries one call.
//
// A call is charged when its result has arrived and before it is sent, also if the client has
// disconnected: otherwise hanging up would be a way not to pay. A call that is refused before it
// reaches the upstream is not charged, and neither is one that fails because of an error here.
//
// An answer larger than UpstreamsConfig.MaxAnswer becomes an error with its size, so that the
// model asks for less; if the upstream names a URL for it, it becomes a resource_link (a text
// before 2025-06-18). See package internal/restcall for which URLs are passed on, and for how
// other charsets are read. A call allocates some 12 bytes for each byte of an answer, 42 where
// each has to be escaped, so 64 concurrent calls with 1 MiB each hold at most some 750 MB,
// usually far less. PerCaller and PerUpstream bound the number of concurrent calls. By default a caller may have half
// of what an upstream takes, so that nobody fills one alone; the clients we know make some ten calls at a time. A call
// beyond is a result that says to wait, so that a model can, and is not charged.
//
// A name that is longer than MaxName ends in a hash of the whole name in lists. Rules, scopes, bundles, cursors and
// records have the whole name, which also calls the tool, so that a change of the setting changes none of them.
//
// Only pages of Config.Origins may call from a browser; every request of another origin is
// refused (MCP, transports: DNS rebinding). CORS headers are set by the gateway, which lets all
// pages read these answers: nobody gets them without a token.
//
// A cursor is the last name of its page. It needs no secret: names that a caller may not
// see never get into one, and a made-up one finds nothing that is not listed. A text that cannot
// be the name of a tool is refused; the name of a tool that does not exist is still a position.
//
// A tool that clients cannot read is left out and logged. Many clients discard a whole list
// because of one bad schema, and one owner's registration must not cost others their tools.
//
// The tools of one owner are limited, and so are those of the whole bus. In both, capabilities
// whose names were registered first have priority, so that no later registration displaces an
// earlier one, whatever its name. The limit applies to every owner, administrators included. A
// capability that does not fit is left out as a whole, and the registry shows its owner why.
//
// An outgoing request names the services it has come through, and a request that has passed
// through here before is refused with 508 (RFC 5842): nothing else reveals an upstream that is
// this service under another name. Two services may call one another's tools.
// The list and the Instructions contain no invisible text, whoever stored or discovered a tool.
// Results are data for the caller, and are not changed.
//
// Each node runs its own discovery of upstreams that list their tools. The tools that it finds are compared with those
// in the store, which the owner has accepted (Pins, decision 92): callers see and call the accepted tools that are
// still listed, and nothing of the rest. A node that has just read the capability again lists all that were accepted
// until it has asked the upstream. Without Pins in the Config what differs is left out and nobody is told. Of a
// capability whose pins are off the found tools are on the bus at once, and stay in memory.
//
// A view, the set of tools that a caller sees, is a bit set that is made once for all callers
// that the rules treat alike, and cached with its snapshot: at most 1,024 views and 24 MB. A page
// of a view is a slice of the snapshot's own text; where its tools are not adjacent it is joined
// once and cached, at most 32 MB. So a filtered list costs what an unfiltered one does.
//
// A call of a tool that the user may use but the token's scope does not cover is answered 403
// with the scope that would, so that the client can request it (step-up); that scope includes
// what the token opens already, or the client would lose it. A tool that the user may not use is
// answered as unknown, and so is any such call in a batch, which has one status for all messages.
//
// A token with the scope of a bundle opens the bundle's address alone: at the address of the
// whole bus it is refused. The scope of a capability opens no bundle. A token whose audience is
// the whole bus is good for a bundle, not the other way round.
//
// Without a token every bundle name is answered 401 and has a metadata document, which is
// derived from the name: only callers with a token learn which bundles exist. A bundle of which
// the caller may use nothing exists, and is empty. It includes no capability that has come to its
// owner after the bundle was written, and the scope of a capability or of a tool in a token or an API key opens none
// that has come to its owner after the grant: the name meant another owner's then (decision 100).
//
// A user's role is cached for a second, an application's tier until a process changes it, or for 5
// seconds, and both for a minute if the store does not answer; then the answer is 503. Forget drops
// them at once, on this node. A listener learns of a lost role with the next keep-alive of its stream.
//
// The rules are read before and after the capabilities until both readings agree, so that no
// tool is listed without the rules it had. A bus that cannot read the rules does not start; a
// running one keeps the rules it has. Where another process is known to have changed something, it
// is read again each second, and a bus that could not for ten answers 503: the change may be a rule that
// denies.
//
// # Size
//
// It is larger than a package here should be: two families of revisions list, call and stream from
// one snapshot, and what a caller may see is part of each of these. The client of upstreams is
// internal/mcpcall.
package mcpbus
