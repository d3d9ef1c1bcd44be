package lint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"

	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/toolschema/tree"
)

const (
	maxDepth = 64  // levels of a document, as in openapi.Options
	maxHops  = 16  // references that lead to references
	maxLines = 100 // of advice
)

// Check checks a document, which is JSON, as strictly as OpenAPI does, and returns advice, none if there is nothing to
// say. Nothing is fetched. A document that is built so that strictness would take minutes is not checked, and the
// advice says so.
func Check(ctx context.Context, document []byte) []string {
	root, err := tree.Parse(string(document), maxDepth) // all of it: the validator reads the answers too
	if err != nil {
		return []string{"not judged by the strict validator: " + err.Error()}
	}
	of := toolschema.NewDocument(root, maxHops)
	if why := (&effort{d: of, seen: map[string]bool{}}).check(root); why != "" {
		return []string{"not judged by the strict validator: " + why}
	}
	return advice(strict(ctx, document, versionOf(of.Root())))
}

// versionOf returns the version of OpenAPI that a document names, "" if it is 2.0. Some write it as a number.
func versionOf(root toolschema.Node) string {
	switch v := root.Get("openapi").Value.(type) {
	case string:
		return strings.TrimSpace(v)
	case tree.Number:
		return string(v)
	}
	return ""
}

// newest are the fields of OpenAPI 3.2 that the validator does not know.
var newest = []string{
	"$self", "additionalOperations", "dataValue", "defaultMapping", "deprecated", "deviceAuthorizationUrl",
	"itemEncoding", "itemSchema", "kind", "mediaTypes", "name", "nodeType", "oauth2MetadataUrl", "parent",
	"prefixEncoding", "query", "serializedValue", "summary",
}

// strict hands a document to the validator, which panics on some.
func strict(ctx context.Context, text []byte, version string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the strict validator gave up: %v", r)
		}
	}()
	loader := openapi3.NewLoader()
	loader.Context = ctx
	loader.IsExternalRefsAllowed = false
	var allowed []openapi3.ValidationOption
	if strings.HasPrefix(version, "3.2") {
		allowed = append(allowed, openapi3.AllowExtraSiblingFields(newest...))
	}
	if strings.HasPrefix(version, "3") {
		doc, err := loader.LoadFromData(text)
		if err != nil {
			return err
		}
		return doc.Validate(ctx, allowed...)
	}
	var old openapi2.T
	if err := json.Unmarshal(text, &old); err != nil {
		return err
	}
	doc, err := openapi2conv.ToV3WithLoader(&old, loader, nil)
	if err != nil {
		return err
	}
	return doc.Validate(ctx)
}

// advice splits an error into lines of text.
func advice(err error) (out []string) {
	if err == nil {
		return nil
	}
	var many openapi3.MultiError
	if !errors.As(err, &many) {
		many = openapi3.MultiError{err}
	}
	for _, err := range many[:min(len(many), maxLines)] {
		first, _, _ := strings.Cut(err.Error(), "\n")
		out = append(out, toolschema.Text(first))
	}
	return out
}

// effort estimates what the strict validator would do. It reads every subtree once per
// level above it, and compares each schema with all those on the way to it.
type effort struct {
	d     *toolschema.Document
	seen  map[string]bool
	bytes int // of the tree, weighed by the square of their level
	pairs int // of schemas compared
}

const (
	maxBytes = 200_000_000 // some seconds
	maxPairs = 500_000     // a chain of 1,000 references, which also bounds how deep walk recurses
)

// check says why a document is too much, "" if it is not.
func (e *effort) check(root any) (why string) {
	switch err := e.walk(root, 1, 1); {
	case errors.Is(err, toolschema.ErrHops):
		return "references lead to references through more than 16 others"
	case err != nil:
		return err.Error()
	}
	return ""
}

func (e *effort) walk(v any, level, chain int) error {
	if e.bytes += level * level; e.bytes > maxBytes {
		return errors.New("it is large and deep")
	}
	switch v := v.(type) {
	case tree.Array:
		for _, item := range v {
			if err := e.walk(item, level+1, chain); err != nil {
				return err
			}
		}
	case tree.Object:
		if ref, is := v.Get("$ref").(string); is {
			return e.follow(v, ref, level, chain)
		}
		for _, m := range v {
			if err := e.walk(m.Value, level+1, chain); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *effort) follow(v tree.Object, ref string, level, chain int) error {
	if e.seen[ref] {
		return nil
	}
	e.seen[ref] = true
	if e.pairs += chain; e.pairs > maxPairs {
		return errors.New("its references lead through too many others")
	}
	target, err := e.d.Follow(toolschema.Node{Value: v})
	if errors.Is(err, toolschema.ErrHops) {
		return err
	}
	if err != nil {
		return nil // the validator says so itself
	}
	return e.walk(target.Value, 1, chain+1)
}
