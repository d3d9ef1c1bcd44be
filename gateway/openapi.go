package gateway

import (
	_ "embed"

	"github.com/keystile/keystile/internal/apidoc"
)

//go:embed openapi.json
var openAPI []byte

//go:embed openapi_apps.json
var openAPIOfApps []byte

// OpenAPI describes the endpoints of this room: those of applications and billing only
// where they are there. With puts the documents of several rooms together, and Handler
// serves them at /openapi.json.
func (g *Gateway) OpenAPI() apidoc.Document {
	if g.c.Apps == nil {
		return apidoc.Of(openAPI)
	}
	return apidoc.Of(openAPI, openAPIOfApps)
}
