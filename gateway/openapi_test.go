package gateway

import (
	"testing"

	"github.com/keystile/keystile/internal/test/openapitest"
)

// Decision 51; TestDialogues holds the answers against the document.
func TestDocumentHasEveryRouteAndNoOther(t *testing.T) {
	g := new(Gateway)
	openapitest.New(t, g.OpenAPI()).Routes(t, g.routes())
}
