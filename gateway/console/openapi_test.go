package console

import (
	"testing"

	"github.com/keystile/keystile/internal/apidoc/witness"
)

// Entry 51 of the decisions; TestDialogues holds the answers against the document.
func TestTheDocumentHasEveryRouteAndNoOther(t *testing.T) {
	witness.New(t, new(Console).OpenAPI()).Routes(t, new(Console).routes())
}
