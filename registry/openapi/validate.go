package openapi

import (
	"context"
	"fmt"
	"strings"

	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/toolschema/tree"
)

// Advise checks a document by a strict validator, lint.Check of package registry/lint, and returns advice, none if
// there is nothing to say. It never decides whether a document becomes tools: of the documents that are in use, more
// than half break a rule. Nothing is fetched. The validator is given the document in JSON. Without one the advice says
// that there is none.
func Advise(ctx context.Context, document []byte, strict func(ctx context.Context, document []byte) []string) []string {
	o, _ := Options{}.check() // the defaults are right
	d, err := open(ctx, document, o)
	if err != nil {
		return []string{err.Error()}
	}
	if strict == nil {
		return append(missingSlashes(d), "not judged by a strict validator: this service has none")
	}
	return append(missingSlashes(d), strict(ctx, []byte(d.json))...)
}

// maxSlashes bounds how many paths are named that lack one.
const maxSlashes = 100

// missingSlashes says which paths get a slash at their beginning, which OpenAPI demands.
func missingSlashes(d *document) (out []string) {
	paths, _ := d.Root().Get("paths").Value.(tree.Object)
	for _, m := range paths {
		if path := withLeadingSlash(paths, m.Key); path != m.Key && !strings.HasPrefix(m.Key, "x-") && len(out) < maxSlashes {
			out = append(out, toolschema.Text(fmt.Sprintf("the path %q does not start with /: it is read as %q", m.Key, path)))
		}
	}
	return out
}
