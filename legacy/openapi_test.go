package legacy

import (
	"testing"

	"github.com/keystile/keystile/internal/test/openapitest"
)

// Decision 51; TestDialogues holds the answers against the document.
func TestDocumentHasEveryRouteAndNoOther(t *testing.T) {
	openapitest.New(t, new(Legacy).OpenAPI()).Routes(t, new(Legacy).routes())
}
