package legacy

import (
	_ "embed"
	"slices"
)

//go:embed openapi.json
var openAPI []byte

// OpenAPI returns the OpenAPI document of this package's endpoints, in JSON. keystile.OpenAPI
// puts those of several packages together, with what all of them share.
func (*Legacy) OpenAPI() []byte { return slices.Clone(openAPI) }
