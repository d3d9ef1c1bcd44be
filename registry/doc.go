// Package registry stores capabilities: OpenAPI documents, lists that were filled in by hand, and MCP endpoints, whose
// tools package mcpbus serves.
//
// [New] makes a [Registry], the endpoints under /api/console/capabilities (protocol 4.8): a signed-in user with a role
// registers, previews, lists, shows, updates and removes capabilities. The Registry stores them, sends webhooks and
// makes a [Bus] serve them. Its methods do the same for a host, which checks who may call them; those of [Forms] take
// the JSON of the endpoints. Package openapi reads documents, package lint judges them, and package pins keeps which
// tools of an MCP endpoint its owner has accepted.
//
// # Errors
//
// A registration that is at fault is refused with an [openapi.Rejection], which lists what was left out of the document
// so far; other refusals have the HTTP status of their endpoint. A duplicate field of a request is refused, because
// parsers disagree on which one counts; an unknown one is listed as left out, so that a misspelling is noticed.
//
// # Limits
//
//	registrations at a time  one of a user, four of all users, of which two are parsed; others wait up to ten seconds,
//	                         and are then refused with 429 (the user's own are in the way) or 503, with Retry-After
//	of a user                50 capabilities, 10,000 tools on the bus (decision 61); none for administrators
//	a call of a tool         timeout, 1 to 600 seconds, 30 by default
//	replacing, removing      a sign-in of the last ten minutes (decision 57): they discard the credential, or move calls
//	                         elsewhere
package registry
