package console

import (
	_ "embed"

	"github.com/keystile/keystile/internal/apidoc"
)

//go:embed openapi.json
var openAPI []byte

// OpenAPI describes the endpoints of the console. With puts the documents of several rooms
// together, and Handler serves them at /openapi.json.
func (*Console) OpenAPI() apidoc.Document { return apidoc.Of(openAPI) }
