// Package lasthop tests what the services behind a whole service learn of who calls: through the proxy, by tools of an
// OpenAPI document, and by those of an MCP endpoint (decision 122).
package lasthop
