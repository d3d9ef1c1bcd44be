// Package mcpcall is a client of upstream MCP servers: it lists the tools of an endpoint
// that a quick registration named, and calls them (protocol 2.7, 4.8, 4.9).
//
// [Client.Discover] reads the whole list and makes of it tools that every client of the
// bus can read. [Client.Call] calls one. Both speak 2026-07-28 to upstreams that do, and
// shake hands (initialize) with older ones, over the Streamable HTTP transport.
//
// Nothing of the request that carried a call reaches the upstream but the names of the
// services it has come through (package hop). The upstream's
// credential reaches no result and no error, and neither does its address. Nothing that an
// upstream sends is believed: every answer has a limit in bytes, depth and time, and every
// tool and block of content is rebuilt from the members that are known and well-formed.
//
// # Choices
//
// The era of an upstream is found out with tools/list, which may be sent twice, and never
// with tools/call. Any refusal that no server of 2026-07-28 gives leads to the handshake
// except that of the credential (401, 403) and of the moment (429, 502, 503, 504). The
// HTTP+SSE transport of 2024-11-05, with its second endpoint, is not spoken.
//
// What is known of an upstream, and a discovery that several wait for, belongs to a URL
// together with its credential: two capabilities at one URL may see different tools.
//
// An older upstream that gives out sessions gets one, which all callers share, because
// they share the credential too. A 404 to it means that nothing was done, so the call is
// sent again after a new handshake, once. Nothing else is ever sent twice.
//
// A list is whole or refused: past a limit on pages, entries or bytes none of it is used,
// for half a list would pass for one from which tools were removed. A tool that cannot be
// used is left out alone, and listed.
//
// Which arguments a modern upstream wants to see in headers too (x-mcp-header) is known from
// its list. A call before the first discovery goes without them, and such an upstream
// refuses it.
//
// What an upstream tells of its progress within an answer reaches who asks for it ([Watch]);
// the credential is blotted out of it, and its bytes count as the answer's do.
//
// Requests of an upstream within an answer (sampling, elicitation, roots) get no answer,
// and a stream that broke off is not resumed.
//
// Tools are shown without text that nobody sees, whatever their upstream says of them. What
// a tool answers is data for whoever called it, and is passed on as it is, hidden text too.
package mcpcall
