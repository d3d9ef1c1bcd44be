// Package mcpbus serves every published tool to any MCP client, at /api/mcp (protocol 4.9).
//
//	upstreams, err := mcpbus.NewUpstreams(mcpbus.UpstreamsConfig{})
//	b, err := mcpbus.New(ctx, mcpbus.Config{BaseURL: origin, Store: store, Invoker: upstreams, Meter: gateway, Verifier: tokens})
//	b.Mount(mux)
//	http.ListenAndServe(address, g.Front(mux)) // rates and CORS; the bus itself asks for a token, and charges
//
// One endpoint speaks MCP 2026-07-28, which says all there is to know with each request, and
// the revisions from 2024-11-05 to 2025-11-25, which begin with a handshake. Nothing is
// remembered of a client between two requests, so any node can answer any of them.
//
// A request reads one snapshot of all tools, encoded already. The snapshot is made anew
// when the catalog has changed: by Reload, or within seconds if another node changed it.
//
// What a token finds is what its scope opens (tools; tools:<member>; tools:b:<bundle> at the
// bundle's own address; app of client_credentials is tools) and its subject may use: see
// package internal/toolaccess for what access lists mean. The rest is not there: it is in no
// list, no cursor and no notification, and a call of it is answered as one of a tool that
// nobody has registered.
//
// # Choices
//
// The server core is our own. A call is on the goroutine of its request, so that a client
// that goes away ends it and a panic in it ends nothing else.
//
// A request of the modern revision is known by its _meta or its header; everything else is
// taken for legacy, with or without a handshake, and errors of its messages come with
// status 200. What is refused before there is a message with an id, a missing token for
// instance, has an HTTP status and a body that is JSON-RPC and our own failure at once.
// Modern errors that answer an id are JSON-RPC alone: strict clients take nothing else.
//
// Who brings no token is answered 401 with the challenge whatever the method is: clients look
// for the login with GET or HEAD too. With a token, all but POST are 405. OPTIONS is 405 in
// any case, for browsers send no token with it; a gateway in front answers preflights.
//
// How long one call may take is its capability's to say, up to 10 minutes; it is for the wait
// as well as for the whole answer. What takes longer ends with an error that names the time.
//
// A call is answered with JSON. It is so however long it takes, unless the client asks to be
// told of the progress: with a progressToken in _meta, and an Accept that names
// text/event-stream. If then 5 seconds pass (Config.Progress), or the upstream tells how far
// it is, the answer becomes a stream, whose last event is the response; what is quicker stays
// as it is. An upstream's progress is passed on with the client's token as far as it grows,
// and from then on only comments say that the stream is alive. For any other the clock tells
// the seconds that have passed. What a batch asks for is not told: its answer is one text.
//
// Legacy clients cancel a call with a notification that comes in a request of its own. For
// that, initialize hands out a random session id, and nobody keeps it: calls under way, and
// only those, are found by session id, user, application and the request's id together. So no
// session is unknown, none can be ended (DELETE is answered 405), and any node answers. A
// cancel that comes to another node than the call ends nothing there, and is answered 202 as
// any other is; the call then ends with its time. An id of the client's own making cancels
// nothing, because others might guess it. A call that was cancelled has no response: its HTTP
// answer is a stream that ends, or, for who reads none, an error that says so. It is charged as
// one whose client went away.
//
// Modern clients, which have no sessions, cancel by closing the connection. That ends calls of
// legacy clients too: no stream is resumed, so nobody could get their answers any more.
//
// Batches are answered under the revisions that have them. Each message of one counts against
// the caller's rate, so that packing them buys nothing, and a batch carries one call.
//
// A call is charged when its result is there, before it leaves; also if the client has
// gone meanwhile, or hanging up would be a way not to pay. What is refused before it
// reaches the upstream is not charged, and neither is what breaks here.
//
// Of an answer that is larger than UpstreamsConfig.MaxAnswer the caller learns how large it
// is. It is an error, for the model has to ask for less; unless the upstream names a place for
// it, which is then a resource_link, and a text before 2025-06-18. See package
// internal/restcall for which places are told, and for how texts of other charsets are read. A
// call allocates some 12 bytes for each byte of an answer, 42 where each has to be escaped, so
// 64 calls at the same time with 1 MiB each hold at most some 750 MB, usually far less: how
// many there can be is PerCaller and PerUpstream, times the callers and upstreams there are.
//
// Origins are those whose pages may call from a browser; of others every request is refused
// (MCP, transports: DNS rebinding). Which answers a page may read is the gateway's to say, and
// it lets all pages read these: they come to nobody without a token.
//
// A cursor is the last name of its page. It needs no secret: names that a caller may not
// see never get into one, and one that is made up finds nothing that is not listed. What can
// not be the name of a tool is refused; the name of one that is gone, or never was, is a place.
//
// A tool that clients cannot read is left out and logged. Many of them throw a whole list
// away for one bad schema, and no registration of somebody should cost others theirs.
//
// One owner has a share of the bus, and the bus has a bound; of both, the capabilities whose
// names were registered first come first, so that no later registration pushes out an
// earlier one, whatever it is called. The share is every owner's, an administrator's too. A
// capability that does not fit is left out whole, and its owner is told where it is shown.
//
// What goes out because of a request says which services it has come through, and a request
// that has been here before is refused with 508 (RFC 5842): the only sign of an upstream
// that is this service by another name. Two services may call one another's tools.
// The list has no text that nobody sees, whoever stored or found a tool, and neither have
// the Instructions. Results are data for the caller, and are not touched.
//
// What an upstream says of its tools stays in memory: the store keeps what was registered,
// and each node asks for itself.
//
// A view, the tools that a caller finds, is a set of bits that is made once for all callers
// about whom the rules say the same, and kept with its snapshot: 1,024 of them, 24 MB at
// most. A page of one is cut out of the snapshot's own text; where the tools do not stand
// side by side it is joined once and kept, 32 MB at most. So a filtered list costs what an
// unfiltered one does.
//
// A call of a tool that the user may use and the token's scope does not cover is answered
// 403 with the scope that would, so that a client can ask for more (step-up); it names what
// the token opens already, or the client would lose that. Of a tool that the user may not
// use nothing is told, and in a batch neither: it has one status for all its messages.
//
// A token with the scope of a bundle opens the bundle's address alone: at the address of the
// whole bus it is refused, and not shown a part. The scope of a capability opens no bundle.
// A token for the whole bus (by its audience) is good for a bundle, not the other way round.
//
// Without a token every name of a bundle is answered 401, and has a metadata document, which
// is made of the name: only who may use bundles learns which there are. A bundle of which
// the caller may use nothing is there, and empty. It takes in nothing that was registered
// after it was written: the name of a capability may have been another's then.
//
// A user's role and an application's tier are remembered for 5 seconds, and for a minute
// where the store does not answer; then the answer is 503. Forget ends that at once, here.
// Who listens is told of a lost role when the stream says the next time that it is alive.
//
// The rules are read before and after the capabilities until both readings agree, so that
// what was removed meanwhile is not listed for a moment without the rules it had. A bus that
// cannot read the rules does not start, and one that could goes on with those it has.
package mcpbus
