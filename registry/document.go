package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/toolschema/tree"
)

// document is an OpenAPI document that has been read.
type document struct {
	*toolschema.Document
	options Options
	version string
	two     bool // OpenAPI 2.0
	skips   skips
	steps   int // taken to read it so far
	budget  int // of steps
}

// maxSteps bounds the work for all tools together: one may take 20,000, but a document
// in which many do is not there to be called. A real one of 14 MB takes some 100,000.
const maxSteps = 5_000_000

// open reads a document; see [Parse] for its errors.
func open(raw []byte, o Options) (*document, error) {
	text, err := textOf(raw, o.MaxDocument)
	if err != nil {
		return nil, err
	}
	value, err := tree.ParseLazily(text, o.MaxDepth, answers)
	switch {
	case errors.Is(err, tree.ErrDepth):
		return nil, limitf("the document nests more than %d levels deep: flatten its schemas with $ref", o.MaxDepth)
	case err != nil:
		return nil, reject(NotOpenAPI, "the document is not JSON ("+err.Error()+"): send a JSON object, or a JSON string that holds one; convert YAML first")
	}
	root := value.(tree.Object) // textOf saw the brace
	d := &document{Document: toolschema.NewDocument(root, o.MaxHops), options: o, budget: maxSteps}
	if d.version = version(root, "openapi", "3"); d.version == "" {
		d.version = version(root, "swagger", "2")
		d.two = true
	}
	if d.version == "" {
		return nil, reject(NotOpenAPI, `the document names no version that is known: it needs "openapi": "3.x" or "swagger": "2.0"`)
	}
	return d, nil
}

// answers reports the parts of a document that tools are not made of, though references
// may lead into them. They are most of a large document.
func answers(path []string) bool {
	switch len(path) {
	case 1:
		return path[0] == "responses" || path[0] == "webhooks"
	case 2:
		return path[0] == "components" && (path[1] == "responses" || path[1] == "examples")
	case 4:
		return path[0] == "paths" && path[3] == "responses"
	}
	return false
}

// textOf returns the text of the document's object, out of a string if it is in one.
func textOf(raw []byte, max int) (string, error) {
	tooLong := limitf("the document has more than %d bytes: remove examples, or split it", max)
	raw = trim(raw)
	if len(raw) > 0 && raw[0] == '"' {
		const escaped = 6 // bytes that JSON may take for one: \u0000
		if len(raw)/escaped > max {
			return "", tooLong
		}
		var inner string
		if err := json.Unmarshal(raw, &inner); err != nil {
			return "", reject(NotOpenAPI, "the document is a string that is not JSON: send a JSON object, or a JSON string that holds one")
		}
		raw = trim([]byte(inner))
	}
	switch {
	case len(raw) > max:
		return "", tooLong
	case len(raw) == 0 || raw[0] != '{':
		return "", reject(NotOpenAPI, "the document is not a JSON object: send an object, or a JSON string that holds one; convert YAML first")
	}
	return string(raw), nil
}

// trim takes blanks and byte order marks off both ends.
func trim(raw []byte) []byte {
	return bytes.Trim(raw, "\ufeff \t\r\n")
}

// version returns the version a document names under a key, "" if it is another major
// one. Some documents write it as a number.
func version(root tree.Object, key, major string) string {
	text := root.Text(key)
	if n, is := root.Get(key).(tree.Number); is {
		text = string(n)
	}
	if text = strings.TrimSpace(text); text != major && !strings.HasPrefix(text, major+".") || len(text) > maxVersion {
		return ""
	}
	return strings.Clone(text)
}

const maxVersion = 32
