package main

import (
	_ "embed"

	"github.com/keystile/keystile/internal/apidoc"
)

//go:embed openapi.json
var lobbyAPI []byte

// openAPI describes every endpoint of the program but two: the sign-in page and the demo,
// which are for people. The services of gateway.products have documents of their own.
func (b *builder) openAPI() apidoc.Document {
	return apidoc.Of(lobbyAPI).With(b.provider.OpenAPI(), b.gateway.OpenAPI(), b.console.OpenAPI(), b.registry.OpenAPI(), b.bus.OpenAPI(), b.legacy.OpenAPI())
}
