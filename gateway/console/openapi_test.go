package console

import (
	"testing"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/internal/test/openapitest"
)

// Decision 51; TestDialogues holds the answers against the document.
func TestDocumentHasEveryRouteAndNoOther(t *testing.T) {
	openapitest.New(t, new(Console).OpenAPI()).Routes(t, ui.New(ui.Config{}, allParts()...).APIs())
}
