package openapitest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// object is a JSON object of the document.
type object = map[string]any

// methods that a path item may describe.
var methods = []string{"get", "post", "put", "delete", "patch", "head", "options", "trace"}

// operation is one method of one path.
type operation struct {
	id, method, path string
	pattern          *regexp.Regexp // of the path and its aliases
	aliases          []string       // further paths
	anyMethod        bool
	item, node       object
}

// open reads the operations of a document.
func open(doc object) (all []operation) {
	paths, _ := doc["paths"].(object)
	for path, v := range paths {
		item, _ := v.(object)
		aliases, _ := item["x-aliases"].([]any)
		every, _ := item["x-any-method"].(bool)
		for _, method := range methods {
			node, described := item[method].(object)
			if !described {
				continue
			}
			op := operation{method: strings.ToUpper(method), path: path, anyMethod: every, item: item, node: node}
			op.id, _ = node["operationId"].(string)
			for _, alias := range aliases {
				op.aliases = append(op.aliases, alias.(string))
			}
			op.pattern = patternOf(append([]string{path}, op.aliases...))
			all = append(all, op)
		}
	}
	slices.SortFunc(all, func(a, b operation) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	return all
}

var braces = regexp.MustCompile(`\\\{[^/]*?(\\\.\\\.\\\.)?\\\}`)

// patternOf matches the paths that templates stand for.
func patternOf(templates []string) *regexp.Regexp {
	var any []string
	for _, t := range templates {
		any = append(any, braces.ReplaceAllStringFunc(regexp.QuoteMeta(t), func(b string) string {
			if strings.Contains(b, `\.\.\.`) {
				return ".*"
			}
			return "[^/]+"
		}))
	}
	return regexp.MustCompile("^(?:" + strings.Join(any, "|") + ")$")
}

// of returns the operation that a request is for. known is false if the document has
// nothing at its path; the operation has no id if it has something, but not this method.
// A path that is written out goes before a template, as it does where requests are routed.
func of(all []operation, r *request) (op operation, known bool) {
	var fits []operation
	for _, o := range all {
		if o.pattern.MatchString(r.path) {
			fits = append(fits, o)
		}
	}
	if slices.ContainsFunc(fits, func(o operation) bool { return o.path == r.path }) {
		fits = slices.DeleteFunc(fits, func(o operation) bool { return o.path != r.path })
	}
	for _, o := range fits {
		if o.method == r.method || o.anyMethod || r.method == http.MethodHead && o.method == http.MethodGet {
			return o, true
		}
	}
	return op, len(fits) > 0
}

// parameters are those of an operation and of its path, references followed.
func (w *Checker) parameters(op operation) (all []object) {
	for _, list := range []any{op.item["parameters"], op.node["parameters"]} {
		items, _ := list.([]any)
		for _, p := range items {
			all = append(all, w.follow(p))
		}
	}
	return all
}

// follow returns what a reference leads to, or what it is if it is none.
func (w *Checker) follow(v any) object {
	o, _ := v.(object)
	ref, is := o["$ref"].(string)
	if !is {
		return o
	}
	var at any = w.doc
	for _, key := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		in, _ := at.(object)
		at = in[key]
	}
	return w.follow(at)
}

// schema compiles what stands at a place of the document.
func (w *Checker) schema(v any) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	whole := object{"components": w.doc["components"], "here": v}
	if err := c.AddResource("openapi.json", whole); err != nil {
		return nil, err
	}
	return c.Compile("openapi.json#/here")
}

// closed rewrites the schemas of OpenAPI 3.0 as JSON Schema, in which nullable is a type,
// and closes objects that say which members they have.
func closed(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = closed(v[i])
		}
	case object:
		for key := range v {
			if key != "example" && key != "enum" && key != "default" {
				v[key] = closed(v[key])
			}
		}
		if v["nullable"] == true {
			v["type"] = []any{v["type"], "null"}
		}
		_, members := v["properties"].(object)
		if _, message := v["additionalProperties"]; members && !message {
			v["additionalProperties"] = false
		}
	}
	return v
}

func parse(raw []byte) (any, error) { return jsonschema.UnmarshalJSON(bytes.NewReader(raw)) }

func objectOf(raw []byte) (o object, err error) {
	v, err := parse(raw)
	if err != nil {
		return nil, err
	}
	o, _ = v.(object)
	return o, nil
}

func text(v any) string {
	raw, _ := json.Marshal(v)
	return string(raw)
}
