// Package interop holds the client of upstream MCP servers against the official Go SDK. It
// is a module of its own, so that the SDK is no dependency of anybody:
//
//	go -C mcpbus/internal/mcpcall/interop test -race ./...
package interop
