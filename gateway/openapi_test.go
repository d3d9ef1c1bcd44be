package gateway

import (
	"testing"

	"github.com/keystile/keystile/internal/test/openapitest"
)

// Entry 51 of the decisions; TestDialogues holds the answers against the document.
func TestTheDocumentHasEveryRouteAndNoOther(t *testing.T) {
	for name, g := range map[string]*Gateway{"without applications": {}, "with them": {c: Config{Apps: struct{ AppStore }{}}}} {
		t.Run(name, func(t *testing.T) { openapitest.New(t, g.OpenAPI()).Routes(t, g.routes()) })
	}
}
