// Package mcpbus is the bus: every registered tool for any MCP client; /api/mcp.
//
// Nothing of it is built yet. Its place in the import law is: see internal/house.
package mcpbus
