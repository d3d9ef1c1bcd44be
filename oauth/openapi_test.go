package oauth

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/keystile/keystile/internal/apidoc"
	"github.com/keystile/keystile/internal/test/openapitest"
)

// Decision 51; TestDialogues holds the answers against the document.
func TestDocumentHasEveryRouteAndNoOther(t *testing.T) {
	openapitest.New(t, new(Server).OpenAPI()).Routes(t, (&Server{core: new(core)}).routes(new(userInfo), nil, nil))
}

// A name that authorize learns has to be one that no value of a signed request may hide.
func TestAuthorizeKnowsEveryNameOfTheDocument(t *testing.T) {
	text, err := apidoc.Of(new(Server).OpenAPI()).JSON(apidoc.Example)
	var document struct {
		Paths map[string]struct {
			Get struct{ Parameters []struct{ Name string } }
		}
	}
	if err == nil {
		err = json.Unmarshal(text, &document)
	}
	parameters := document.Paths["/oauth/authorize"].Get.Parameters
	if err != nil || len(parameters) < 15 {
		t.Fatalf("%d parameters, %v: nothing is tested", len(parameters), err)
	}
	for _, p := range parameters {
		if !slices.Contains(authorizeNames, p.Name) {
			t.Errorf("authorize has a parameter %s that a value may hide", p.Name)
		}
	}
}
