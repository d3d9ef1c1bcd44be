package openapi

import (
	"maps"
	"mime"
	"regexp"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage/toolplan"
)

// pin writes into a document that an operation takes these arguments and no others: what is
// given becomes required, lists have their length, and every value is the only one allowed.
// A validator that reads anything else out of a request, or nothing, must object to it. Without
// this, validators pass over what is optional and written so that they do not see it.
func pin(document tree, tool toolplan.Tool, arguments tree) {
	paths := document["paths"].(tree)
	path := pathOf(sorted(paths), tool.Call.Template)
	item := maps.Clone(resolved(document, paths[path]))
	paths[path] = item
	operation := maps.Clone(item[tool.Method].(tree))
	item[tool.Method] = operation
	var params []any
	for _, p := range slices.Concat(list(operation["parameters"]), list(item["parameters"])) {
		p := maps.Clone(resolved(document, p))
		known := slices.ContainsFunc(params,
			func(q any) bool { return q.(tree)["name"] == p["name"] && q.(tree)["in"] == p["in"] })
		if !known {
			pinParameter(document, p, tool.Call, arguments)
			params = append(params, p)
		}
	}
	if operation["parameters"] = params; len(params) == 0 {
		delete(operation, "parameters")
	}
	if body := tool.Call.Body; body != nil && operation["requestBody"] != nil {
		request := maps.Clone(resolved(document, operation["requestBody"]))
		operation["requestBody"] = request
		pinContent(document, request, body, arguments)
	}
}

// pathOf returns the path of a document that a template was made of: one with more than a name in its braces.
func pathOf(paths []string, template string) string {
	for _, path := range paths {
		if path == template || placeholderOf.ReplaceAllString(path, "{$1}") == template {
			return path
		}
	}
	return template
}

var placeholderOf = regexp.MustCompile(`\{\+?([^{}:=*]+)[^{}]*\}`)

// pinParameter pins a parameter, which in OpenAPI 2.0 may also be a field or the body.
func pinParameter(document, p tree, call *toolplan.Call, arguments tree) {
	place, _ := p["in"].(string)
	name, _ := p["name"].(string)
	if place == "body" && call.Body != nil {
		if v, given := bodyOf(call.Body, arguments); given {
			p["schema"], p["required"] = pinned(document, p["schema"], v), true
		}
		return
	}
	arg := argumentOf(call, place, name)
	v, given := arguments[arg]
	if arg == "" || !given {
		return
	}
	p["required"] = true
	if content := resolved(document, p["content"]); content != nil {
		content = maps.Clone(content)
		for media, of := range content {
			of := maps.Clone(resolved(document, of))
			of["schema"] = pinned(document, of["schema"], v)
			content[media] = of
		}
		p["content"] = content
		return
	}
	if p["schema"] != nil {
		p["schema"] = pinned(document, p["schema"], v)
		return
	}
	if p["type"] != "file" { // OpenAPI 2.0: the parameter is its own schema
		maps.Copy(p, pinnedScalarOrList(document, p, v))
	}
}

// argumentOf is the argument that goes to a parameter or a field.
func argumentOf(call *toolplan.Call, place, name string) string {
	for _, p := range call.Params {
		if p.In == place && (p.Name == name || place == "header" && strings.EqualFold(p.Name, name)) {
			return p.Arg
		}
	}
	if place == "formData" && call.Body != nil {
		for _, f := range call.Body.Fields {
			if f.Name == name {
				return f.Arg
			}
		}
	}
	return ""
}

// bodyOf is the body that arguments make, before it is written.
func bodyOf(body *toolplan.Body, arguments tree) (v any, given bool) {
	if body.Whole != "" {
		v, given = arguments[body.Whole]
		return v, given
	}
	out := tree{}
	for _, f := range body.Fields {
		if v, is := arguments[f.Arg]; is {
			out[f.Name] = v
			if f.File {
				out[f.Name] = file{}
			}
		}
	}
	return out, len(out) > 0
}

// file is a value of which nothing is pinned but that it is there.
type file struct{}

func pinContent(document, request tree, body *toolplan.Body, arguments tree) {
	v, given := bodyOf(body, arguments)
	media, _, _ := mime.ParseMediaType(body.ContentType)
	if !given || !strings.Contains(media, "json") && !strings.Contains(media, "form") {
		return
	}
	request["required"] = true
	content := maps.Clone(resolved(document, request["content"]))
	for key, of := range content {
		if bare, _, _ := mime.ParseMediaType(key); bare == media {
			of := maps.Clone(resolved(document, of))
			of["schema"] = pinned(document, of["schema"], v)
			content[key] = of
		}
	}
	request["content"] = content
}

// pinned is a schema that admits one value, as far as the schema describes it.
func pinned(document tree, schema, v any) tree {
	out := maps.Clone(resolved(document, schema))
	if out == nil {
		return tree{}
	}
	switch v := v.(type) {
	case file:
	case tree:
		required := slices.Clone(list(out["required"]))
		properties := maps.Clone(resolved(document, out["properties"]))
		for _, name := range sorted(v) {
			if properties[name] != nil {
				properties[name] = pinned(document, properties[name], v[name])
			}
			if !slices.Contains(required, any(name)) {
				required = append(required, name)
			}
		}
		if properties != nil {
			out["properties"] = properties
		}
		if len(required) > 0 {
			out["required"] = required
		}
	default:
		maps.Copy(out, pinnedScalarOrList(document, out, v))
	}
	return out
}

func pinnedScalarOrList(document, schema tree, v any) tree {
	values, isList := v.([]any)
	if !isList {
		return tree{"enum": []any{v}}
	}
	out := tree{"minItems": len(values), "maxItems": len(values)}
	items := maps.Clone(resolved(document, schema["items"]))
	if items == nil || len(values) == 0 {
		return out
	}
	if _, object := values[0].(tree); object {
		out["items"] = pinned(document, items, tree{})
		return out
	}
	if _, nested := values[0].([]any); !nested {
		items["enum"] = unique(values)
		out["items"] = items
	}
	return out
}

func unique(values []any) (out []any) {
	for _, v := range values {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// unanswered has every operation answer with nothing: answers are none of the validators'
// business here.
func unanswered(document tree) {
	for _, item := range document["paths"].(tree) {
		for _, operation := range resolved(document, item) {
			if operation, is := operation.(tree); is && operation["responses"] != nil {
				operation["responses"] = tree{"204": tree{"description": "Taken"}}
				delete(operation, "callbacks")
			}
		}
	}
}
