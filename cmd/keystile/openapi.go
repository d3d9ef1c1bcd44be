package main

import (
	_ "embed"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/apidoc"
	"github.com/keystile/keystile/legacy"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/registry"
)

//go:embed openapi.json
var lobbyAPI []byte

// openAPI describes every endpoint of the program but two: the sign-in page and the demo,
// which are for people. Products behind --proxy have documents of their own.
func openAPI() apidoc.Document {
	return oauth.OpenAPI().With(gateway.OpenAPI(), registry.OpenAPI(), mcpbus.OpenAPI(), legacy.OpenAPI(), apidoc.Of(lobbyAPI))
}
