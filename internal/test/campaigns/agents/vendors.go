package agents

import (
	"strings"
	"testing"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/internal/test/vendordocs"
	"github.com/keystile/keystile/oauth"
)

// Vendor is a client that publishes a metadata document.
type Vendor struct {
	Name     string
	ID       string // its client_id, the URL of the document
	Redirect string // where it has the browser come back to; a loopback address without a port takes any
	Signs    bool   // it signs what it sends to the token endpoint
	Stays    bool   // its document asks for refresh tokens
}

// Local reports whether the browser comes back to a program on the user's machine.
func (v Vendor) Local() bool { return strings.HasPrefix(v.Redirect, "http://") }

// Vendors returns those whose documents are recorded in package vendordocs.
func Vendors() []Vendor {
	return []Vendor{
		{"Claude Code", vendordocs.ClaudeCode, "http://localhost/callback", false, true},
		{"claude.ai", vendordocs.ClaudeAI, "https://claude.ai/api/mcp/auth_callback", false, true},
		{"ChatGPT", vendordocs.ChatGPT, "https://chatgpt.com/connector/oauth/kDmjx77UnKOM", true, true},
		{"VS Code", vendordocs.VSCode, "http://127.0.0.1/", false, true},
		{"Codex", vendordocs.Codex, "http://127.0.0.1/callback/EDrLtgxAifwZ", false, true},
		{"OpenCode", vendordocs.OpenCode, "http://127.0.0.1/callback", false, true},
		{"goose", vendordocs.Goose, "http://localhost/oauth_callback", false, false},
		{"Zed", vendordocs.Zed, "http://127.0.0.1/callback", false, false},
	}
}

// WithVendors serves the documents by a server on this machine, under the names of their own hosts, to a
// service that admits the hosts which it ships with and no others.
func WithVendors(t testing.TB) func(*keystile.Config) {
	documents := vendordocs.New(t).Serve(t)
	return func(c *keystile.Config) {
		c.OAuth.Clients.Documents, c.OAuth.Clients.Transport = oauth.ClientsListed, documents
	}
}
