package oauth

import (
	_ "embed"
	"slices"
)

//go:embed openapi.json
var openAPI []byte

// OpenAPI returns the OpenAPI document of this room's endpoints, in JSON. keystile.OpenAPI puts
// those of several rooms together, with what all of them share.
func (*Server) OpenAPI() []byte { return slices.Clone(openAPI) }
