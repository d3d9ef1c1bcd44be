package mcpbus

import (
	"testing"

	"github.com/keystile/keystile/internal/test/openapitest"
)

// Decision 51; TestDialogues holds the answers against the document.
func TestDocumentHasEveryRouteAndNoOther(t *testing.T) {
	routes := new(Bus).routes()
	for i := range routes {
		if routes[i].Methods == nil {
			routes[i].Methods = []string{"POST"} // it refuses others in a voice of its own, 405 in both shapes
		}
	}
	openapitest.New(t, new(Bus).OpenAPI()).Routes(t, routes)
}
