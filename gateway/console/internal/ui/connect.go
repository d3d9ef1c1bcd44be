package ui

import (
	"net/url"
	"slices"
)

// Connection holds what connects an agent: the address of an MCP server, and the line for each common client.
type Connection struct {
	Address string
	Lines   []ClientLine
}

// ClientLine holds what one client takes.
type ClientLine struct {
	Client string
	Where  string // in English, where the text goes
	Text   string
}

// Connection returns how agents connect to the MCP server, or to a tool set of it by name; nil if there is none.
func (v *View) Connection(set string) *Connection {
	if v.mcp == "" {
		return nil
	}
	address, name := v.mcp, "keystile"
	if set != "" {
		address, name = address+"/b/"+set, name+"-"+set
	}
	remote := "npx mcp-remote " + address
	if u, err := url.Parse(address); err == nil && u.Scheme == "http" &&
		!slices.Contains([]string{"localhost", "127.0.0.1"}, u.Hostname()) {
		remote += " --allow-http"
	}
	return &Connection{address, []ClientLine{
		{"Claude Code", "in a terminal", "claude mcp add --transport http " + name + " " + address},
		{"VS Code", "in a terminal", `code --add-mcp '{"name":"` + name + `","type":"http","url":"` + address + `"}'`},
		{"Codex", "in a terminal", "codex mcp add " + name + " --url " + address},
		{"Cursor", "in .cursor/mcp.json", `{"mcpServers": {"` + name + `": {"url": "` + address + `"}}}`},
		{"mcp-remote", "for clients that start a program", remote},
	}}
}
