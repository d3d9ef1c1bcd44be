// Package mcp runs stock MCP clients, unmodified, against the bus: the official SDKs for Go
// and TypeScript, in both eras of the protocol. It holds tests only, and is a module of its
// own so that the library needs none of what these clients need.
package mcp
