package registry_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/apidoc"
	"github.com/keystile/keystile/legacy"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/registry/lint"
	"github.com/keystile/keystile/registry/openapi"
)

// Decision 51: the registrar accepts the service's own document.
func ownDocuments(t *testing.T) map[string][]byte {
	t.Helper()
	h := newFixture(t)
	trail := must(gateway.OpenTrail(t.Context(), gateway.TrailConfig{Store: h.store}))(t)
	t.Cleanup(func() { trail.Close(context.Background()) })
	g := must(gateway.New(t.Context(), gateway.Config{Store: h.store, Tokens: h.tokens, Trail: trail}))(t)
	t.Cleanup(func() { g.Close(context.Background()) })
	return map[string][]byte{
		"oauth": h.provider.OpenAPI(), "gateway": g.OpenAPI(), "registry": h.registry.OpenAPI(),
		"mcpbus": new(mcpbus.Bus).OpenAPI(), "legacy": new(legacy.Legacy).OpenAPI(),
	}
}

func ownDocument(t *testing.T) []byte {
	t.Helper()
	return must(apidoc.Of(slices.Collect(maps.Values(ownDocuments(t)))...).JSON(base))(t)
}

func TestOwnDocumentIsStrictlyOpenAPI(t *testing.T) {
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(ownDocument(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation(),
		openapi3.EnableSchemaFormatValidation()); err != nil {
		t.Error(err)
	}
	if advice := lint.Check(t.Context(), ownDocument(t)); len(advice) != 0 {
		t.Errorf("preview --lint advises %q", advice)
	}
}

// The document of a package that is mounted alone is complete.
func TestPackagesDocumentIsComplete(t *testing.T) {
	for name, d := range ownDocuments(t) {
		if advice := lint.Check(t.Context(), must(apidoc.Of(d).JSON(base))(t)); len(advice) != 0 {
			t.Errorf("%s: %q", name, advice)
		}
	}
}

func TestOwnDocumentBecomesTools(t *testing.T) {
	raw := ownDocument(t)
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string
		}
	}
	json.Unmarshal(raw, &doc) // the list of parameters of a path is no operation
	var want []string
	for _, item := range doc.Paths {
		for _, method := range []string{"get", "post", "put", "delete", "patch"} {
			if id := item[method].OperationID; id != "" {
				want = append(want, id)
			}
		}
	}
	if len(want) < 30 {
		t.Fatalf("only %q are described: the test reads the wrong thing", want)
	}
	for _, o := range []openapi.Options{{Member: "keystile"}, {Member: "keystile", ResolveRefs: true}} {
		result, err := openapi.Parse(context.Background(), raw, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range result.Skipped {
			if !s.Usual {
				t.Errorf("left out: %v", s)
			}
		}
		var got []string
		for _, tool := range result.Tools {
			got = append(got, tool.Name)
			if strings.Contains(string(tool.InputSchema), "unresolved") && o.ResolveRefs {
				t.Errorf("%s is not shown whole: %s", tool.Name, tool.InputSchema)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("tools %q, want %q", got, want)
		}
	}
}
