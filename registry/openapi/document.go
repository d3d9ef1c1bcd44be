package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/toolschema/tree"
	"github.com/keystile/keystile/internal/yamljson"
)

// document is an OpenAPI document that has been read.
type document struct {
	*toolschema.Document
	json       string // its text
	options    Options
	version    string
	two        bool // OpenAPI 2.0
	skips      skips
	unexpanded int // tools that show a nested reference by its name alone
	others     otherMethods
	steps      int // taken to read it so far
	budget     int // of steps
}

// maxSteps bounds the work for all tools together: one may take 20,000, but a document
// in which many do is not there to be called. A real one of 14 MB takes some 100,000.
const maxSteps = 5_000_000

// maxValues bounds the keys and values of a document in YAML, each as often as
// aliases lead to it: while they are read one takes some 200 bytes. The 14 MB of the largest
// real document have less than half of them.
const maxValues = 3_000_000

// open reads a document; see [Parse] for its errors.
func open(ctx context.Context, raw []byte, o Options) (*document, error) {
	text, err := textOf(ctx, raw, o)
	if err != nil {
		return nil, err
	}
	value, err := tree.ParseLazily(text, o.MaxDepth, isUnneeded)
	switch {
	case errors.Is(err, tree.ErrDepth):
		return nil, tooDeep(o, "")
	case err != nil:
		return nil, reject(ErrcodeNotOpenAPI,
			"the document begins with { and is not JSON ("+err.Error()+"): mend it, or begin it with a line --- if it is YAML")
	}
	root := value.(tree.Object) // textOf saw the brace
	d := &document{Document: toolschema.NewDocument(root, o.MaxHops), json: text, options: o,
		others: otherMethods{}, budget: maxSteps}
	if d.version = version(root, "openapi", "3"); d.version == "" {
		d.version = version(root, "swagger", "2")
		d.two = true
	}
	if d.version == "" {
		return nil, reject(ErrcodeNotOpenAPI, `the document names no version that is known: it needs "openapi": "3.x" or "swagger": "2.0"`)
	}
	return d, nil
}

// isUnneeded reports the parts of a document that tools are not made of, though references
// may lead into them. They are most of a large document. Of answers of 2xx the types and the names of
// headers are needed, and nothing that is below them.
func isUnneeded(path []string) bool {
	switch len(path) {
	case 1:
		return path[0] == "webhooks"
	case 2:
		return path[0] == "components" && path[1] == "examples" || path[0] == "responses"
	case 3:
		return path[0] == "components" && path[1] == "responses"
	case 5:
		return path[3] == "responses" && path[0] == "paths" && !isSuccess(path[4]) && path[4] != "default"
	case 6:
		return path[3] == "responses" && path[0] == "paths" && path[5] != "content" && path[5] != "headers" &&
			path[5] != "$ref"
	case 7:
		return path[3] == "responses" && path[0] == "paths"
	}
	return false
}

// textOf returns the text of the document's object in JSON, out of a string if it is in one,
// and out of YAML if it does not begin with a brace.
func textOf(ctx context.Context, raw []byte, o Options) (string, error) {
	tooLong := limitf("the document has more than %d bytes: remove examples, or split it", o.MaxDocument)
	if quoted := trimBlanks(raw); len(quoted) > 0 && quoted[0] == '"' {
		const escaped = 6 // bytes that JSON may take for one: \u0000
		if len(quoted)/escaped > o.MaxDocument {
			return "", tooLong
		}
		var inner string
		if json.Unmarshal(quoted, &inner) == nil { // else it may be YAML whose first key is in quotes
			raw = []byte(inner)
		}
	}
	text := trimBlanks(raw)
	switch {
	case len(text) > o.MaxDocument:
		return "", tooLong
	case len(text) == 0:
		return "", noObject()
	case text[0] == '{':
		return string(text), nil
	}
	return fromYAML(ctx, raw, o) // blanks before its first line count
}

// fromYAML turns YAML into JSON, so that all else is the same.
//
// YAML becomes JSON before anything else (package internal/yamljson), so that its tools, limits and pointers are those
// of JSON. A document that begins with a brace is parsed as JSON, because its errors are better and YAML takes seven
// times as long. A registration is in YAML if its Content-Type says so (RFC 9512); as application/json it holds a
// document in YAML as a string. A duplicate key in YAML is refused, as YAML demands; in JSON the last one counts.
func fromYAML(ctx context.Context, text []byte, o Options) (string, error) {
	out, err := yamljson.JSON(ctx, text, yamljson.Limits{Bytes: o.MaxDocument, Depth: o.MaxDepth, Nodes: maxValues})
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, yamljson.ErrDepth):
		return "", tooDeep(o, " ("+err.Error()+")")
	case errors.Is(err, yamljson.ErrSize):
		return "", limitf("the document is too large (%v): remove examples, use fewer aliases, or split it", err)
	case err != nil:
		return "", reject(ErrcodeNotOpenAPI, "the document does not begin with {, and as YAML it is wrong "+
			"("+toolschema.Text(err.Error())+"): mend it there, or send JSON")
	case out[0] != '{':
		return "", noObject()
	}
	return string(out), nil
}

func noObject() error {
	return reject(ErrcodeNotOpenAPI,
		"the document is no object: send OpenAPI in JSON or YAML, as it is or in a JSON string")
}

func tooDeep(o Options, where string) error {
	return limitf("the document nests more than %d levels deep%s: flatten its schemas with $ref", o.MaxDepth, where)
}

// trimBlanks takes blanks and byte order marks off both ends.
func trimBlanks(raw []byte) []byte {
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
