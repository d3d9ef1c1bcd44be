package mcpbus

import (
	_ "embed"
	"slices"
)

//go:embed openapi.json
var openAPI []byte

// OpenAPI returns the OpenAPI document of this package's endpoints, in JSON. keystile.OpenAPI
// merges the documents of several packages.
func (*Bus) OpenAPI() []byte { return slices.Clone(openAPI) }
