package oauth

import (
	_ "embed"

	"github.com/keystile/keystile/internal/apidoc"
)

//go:embed openapi.json
var openAPI []byte

// OpenAPI describes the endpoints of this room. With puts the documents of several rooms
// together, and Handler serves them at /openapi.json.
func (*Server) OpenAPI() apidoc.Document { return apidoc.Of(openAPI) }
