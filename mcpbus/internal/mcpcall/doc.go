// Package mcpcall is a client of upstream MCP servers: it lists the tools of an endpoint
// that a quick registration named, and calls them (protocol 2.7, 4.8, 4.9).
//
// [Client.Discover] reads the whole list and makes of it tools that every client of the
// bus can read. [Client.Call] calls one. Both speak 2026-07-28 to upstreams that do, and
// shake hands (initialize) with older ones, over the Streamable HTTP transport.
//
// Nothing of the request that carried a call reaches the upstream but the names of the services
// it has come through (package hop). The upstream's credential and address appear in no result
// and no error. Nothing that an upstream sends is trusted: every answer has a limit in bytes,
// depth and time, and every tool and content block is rebuilt from known, well-formed members.
//
// # Choices
//
// The era of an upstream is detected with tools/list, which may be sent twice, and never with
// tools/call. Any refusal that no server of 2026-07-28 gives leads to the handshake, except
// those about the credential (401, 403) and temporary ones (429, 502, 503, 504). The HTTP+SSE
// transport of 2024-11-05, with its second endpoint, is not supported.
//
// A redirect is not followed, but for one (307, 308) to the same origin and query that only adds or drops a slash at
// the end of the path: frameworks answer it before anything is executed.
//
// The state of an upstream, and a discovery that several callers share, is keyed by the URL and
// the credential together: two capabilities at one URL may see different tools.
//
// An older upstream that uses sessions gets one, which all callers share, because they share the
// credential too. A 404 to it means that the session is unknown and nothing was executed, so the
// call is sent again after a new handshake, once. Servers that answer 400 in its place also answer that to calls that
// they have executed: such a call is sent again if a ping under the session is refused in the same words, and one
// under a new session is not. No other call is ever sent twice. A session under which a ping is refused as the call was
// is given up all the same (500, 401, an error about parameters), so that a restart costs one call at most.
//
// A list is complete or refused: past a limit on pages, entries or bytes none of it is used,
// because half a list would look as if tools had been removed. A tool that cannot be used is
// left out alone, and reported.
//
// A tool keeps its title, hints, output schema and the icons that hold their picture. Its _meta is left out: it speaks
// to a client of the upstream, often of resources that the bus does not have. So are icons at an address, which clients
// are to accept from the server alone that they are connected to, and the tasks of a tool that can do without. Each
// part that is left out is listed, and so is what is malformed or not known.
//
// Arguments under names that models cannot write are offered under others, at every level. A name that was made is the
// same wherever it stands in a tool, so that the names and the schema tell what is to be sent: see package toolschema.
//
// Which arguments a modern upstream wants to see in headers too (x-mcp-header) is known from
// its list. A call before the first discovery goes without them, and such an upstream
// refuses it.
//
// An upstream's progress notifications are passed to the caller that requested them
// ([WithProgress]); the credential is redacted, and their bytes count like the answer's.
//
// A ping of an upstream within an answer is answered at once, beside the call, and any other request of it (sampling,
// elicitation, roots) with the error -32601: none of these was offered to it. No stream is opened with GET, so none of
// its requests can come there. A stream that broke off is not resumed.
//
// Tools are listed without invisible text. A tool's answer is data for its caller and is passed
// on unchanged, hidden text included.
//
// # Size
//
// It is larger than a package here should be: one client speaks every revision of the protocol,
// and sessions, streams and retries are part of each call.
package mcpcall
