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
// The state of an upstream, and a discovery that several callers share, is keyed by the URL and
// the credential together: two capabilities at one URL may see different tools.
//
// An older upstream that uses sessions gets one, which all callers share, because they share the credential too. A call
// is sent twice only if the upstream is known not to have executed it, because it does not know the session.
//
// A list is complete or refused: past a limit on pages, entries or bytes none of it is used,
// because half a list would look as if tools had been removed. A tool that cannot be used is
// left out alone, and reported.
//
// Arguments under names that models cannot write are offered under others, at every level. A name that was made is the
// same wherever it stands in a tool, so that the names and the schema tell what is to be sent: see package toolschema.
//
// Which arguments a modern upstream wants to see in headers too (x-mcp-header) is known from
// its list. A call before the first discovery goes without them, and such an upstream
// refuses it.
//
// No stream is opened with GET, so an upstream can ask nothing there. A stream that broke off is not resumed.
//
// Tools are listed without invisible text. A tool's answer is data for its caller and is passed
// on unchanged, hidden text included.
package mcpcall
