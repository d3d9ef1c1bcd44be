// Package lasthop tests what services learn of their callers (decision 122) behind a whole service: through the proxy,
// by tools of an OpenAPI document, and by those of an MCP endpoint.
package lasthop
