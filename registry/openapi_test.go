package registry

import (
	"testing"

	"github.com/keystile/keystile/internal/test/openapitest"
)

// Decision 51; TestDialogues holds the answers against the document.
func TestDocumentHasEveryRouteAndNoOther(t *testing.T) {
	openapitest.New(t, new(Registry).OpenAPI()).Routes(t, new(Registry).routes())
}
