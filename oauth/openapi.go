package oauth

import (
	_ "embed"
	"slices"
)

//go:embed openapi.json
var openAPI []byte

// OpenAPI returns the OpenAPI document of this package's endpoints, in JSON. keystile.OpenAPI
// merges those of several packages.
func (*Server) OpenAPI() []byte { return slices.Clone(openAPI) }
