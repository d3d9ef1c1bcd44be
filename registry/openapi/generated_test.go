package openapi

import (
	"math/rand/v2"
	"strings"
)

// generator writes documents of OpenAPI with everything that documents have, and with mistakes.
type generator struct {
	*rand.Rand
	version string
	depth   int
}

func one[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }

// chance is true once in n times.
func (g *generator) chance(n int) bool { return g.IntN(n) == 0 }

type object = map[string]any

func (g *generator) document() object {
	doc := object{"openapi": g.version, "info": object{"title": "t", "version": "1"}, "paths": g.paths()}
	if g.version == "2.0" {
		delete(doc, "openapi")
		doc["swagger"] = "2.0"
		if g.chance(2) {
			doc["consumes"] = g.consumes()
		}
	}
	parts := object{
		"schemas": object{"A": g.object(), "B": g.schema(), "Id": object{"type": "string", "readOnly": true},
			"Loop": object{"properties": object{"loop": reference("schemas/Loop"), "v": object{}}},
			"Base": object{"type": "object", "properties": object{"id": reference("schemas/Id"),
				"base": object{"type": "string"}}, "required": []any{"id"}}},
		"parameters":    object{"P": g.parameter(nil), "Q": g.parameter(nil)},
		"requestBodies": object{"R": g.requestBody()},
		"pathItems":     object{"I": g.pathItem("/i")},
	}
	doc["components"] = parts
	if g.chance(8) {
		doc["webhooks"] = object{"w": object{"post": object{}}}
	}
	return doc
}

func reference(to string) object { return object{"$ref": "#/components/" + to} }

var generatedPaths = []string{
	"/", "/a", "/a/{id}", "/b/{id:int}", "/b/{id}/{file:path}", "/c/:id", "/c/:id/x:act", "/d/<int:id>", "no/slash",
	"/e/{x}-{y}", "/f{?q,r}", "/g/{name=p/*}:do",
	"/h/{+rest}", "/q?fixed=1", "/j#frag", "/k/{a/b}", "/bad/../x", "/l/{id}/m/{id}", "/ü/{ü}", "/empty/{}", "/n/{id",
	"https://x.example/y", `/back\slash`, "/o/{id}/", "/p/{a.b}/{a-b}",
}

func (g *generator) paths() object {
	out := object{}
	for range 1 + g.IntN(4) {
		path := one(g, generatedPaths...)
		switch g.IntN(20) {
		case 0:
			out[path] = reference("pathItems/I")
		case 1:
			out[path] = object{"$ref": "#/components/pathItems/I", "post": g.operation(path)}
		case 2:
			out[path] = one[any](g, nil, 7, object{"$ref": "other.yaml#/x"}, []any{})
		default:
			out[path] = g.pathItem(path)
		}
	}
	return out
}

func (g *generator) pathItem(path string) object {
	item := object{}
	for _, method := range []string{"get", "post", "put", "delete", "patch", "query", "head", "options", "trace", "GET",
		"link"} {
		if g.chance(4) {
			item[method] = g.operation(path)
		}
	}
	if g.chance(6) {
		item["additionalOperations"] = object{"COPY": g.operation(path), "Lock": object{}}
	}
	if g.chance(3) {
		item["parameters"] = g.parameters(path)
	}
	if g.chance(6) {
		item["servers"] = []any{object{"url": "https://x.example"}}
	}
	return item
}

func (g *generator) operation(path string) any {
	if g.chance(40) {
		return one[any](g, nil, 7, "x", []any{})
	}
	op := object{}
	if g.chance(2) {
		op["operationId"] = one(g, "a", "b", "list pets", "ü", "", "x.y/z")
	}
	if g.chance(2) {
		op["parameters"] = g.parameters(path)
	}
	if g.version == "2.0" && g.chance(4) {
		op["consumes"] = g.consumes()
	}
	if g.version != "2.0" && g.chance(2) {
		op["requestBody"] = one[any](g, g.requestBody(), g.requestBody(), g.requestBody(), reference("requestBodies/R"),
			reference("requestBodies/none"), 7, object{})
	}
	if g.chance(8) {
		op["callbacks"] = object{"c": object{}}
	}
	return op
}

func (g *generator) consumes() (out []any) {
	for range 1 + g.IntN(3) {
		out = append(out, one(g, generatedTypes...))
	}
	return out
}

func (g *generator) parameters(path string) any {
	if g.chance(30) {
		return one[any](g, object{}, 7, nil)
	}
	var out []any
	for _, name := range []string{"id", "file", "x", "y", "name", "rest"} {
		if strings.Contains(path, name) && g.chance(2) {
			out = append(out, g.parameter(object{"name": name, "in": "path", "required": true}))
		}
	}
	for range g.IntN(5) {
		out = append(out, one[any](g, g.parameter(nil), g.parameter(nil), g.parameter(nil), g.parameter(nil),
			reference("parameters/P"), reference("parameters/Q"), reference("parameters/none"), nil, 7))
	}
	if out == nil {
		return []any{}
	}
	return out
}

func (g *generator) parameter(p object) object {
	if p == nil {
		p = object{"name": one(g, "q", "filter[a]", "$top", "X-Token", "x-token", "Authorization", "Host", "id", "a b",
			"ü", "line\nbreak", "", "Accept"), "in": one(g, "query", "query", "header", "cookie", "path", "body",
			"formData", "querystring", "nowhere")}
		if g.chance(2) {
			p["required"] = true
		}
	}
	switch {
	case p["in"] == "querystring":
		p["content"] = object{one(g, "application/x-www-form-urlencoded", "application/json",
			"text/plain"): object{"schema": g.schema()}}
	case p["in"] == "body":
		p["schema"] = g.schema()
	case g.version == "2.0":
		p["type"] = one(g, "string", "integer", "array", "file", "boolean")
	case g.chance(6):
		p["content"] = object{one(g, "application/json", "text/plain"): object{"schema": g.schema()}}
	case !g.chance(8):
		p["schema"] = g.schema()
	}
	if g.chance(4) {
		p["style"] = one(g, "form", "deepObject", "matrix", "nonsense")
	}
	return p
}

var generatedTypes = []string{
	"application/json", "application/json", "application/xml", "application/x-www-form-urlencoded",
	"multipart/form-data", "text/plain", "image/png", "image/*", "*/*", "application/*",
	"application/merge-patch+json", "application/json-patch+json", "application/vnd.a.v1+json",
	"application/json; charset=utf-8", "application/json;v=1", "application/x-ndjson",
	"application/octet-stream", "text/event-stream", "application/json, text/xml", "nonsense",
}

func (g *generator) requestBody() object {
	content := object{}
	for range g.IntN(4) {
		media := object{}
		if !g.chance(8) {
			media["schema"] = g.schema()
		} else if g.chance(2) {
			media["itemSchema"] = g.object()
		}
		content[one(g, generatedTypes...)] = one[any](g, media, media, media, media, media, media, media, media, 7)
	}
	return object{"content": content, "required": g.chance(2)}
}

func (g *generator) schema() any {
	if g.depth++; g.depth > 3 {
		g.depth--
		return object{"type": "string"}
	}
	defer func() { g.depth-- }()
	switch g.IntN(16) {
	case 0:
		return reference(one(g, "schemas/A", "schemas/B", "schemas/Base", "schemas/Loop", "schemas/none", "schemas/Id"))
	case 1:
		return object{"allOf": []any{g.schema(), g.object()}}
	case 2:
		return object{one(g, "oneOf", "anyOf"): []any{g.schema(), g.object(), object{"type": "null"}}}
	case 3:
		return object{"type": "array", "items": g.schema()}
	case 4:
		return object{"type": "string", "enum": []any{0, "a", nil, true}}
	case 5:
		return object{"type": "string", "format": "binary"}
	case 6:
		return one[any](g, true, false, 7, nil, object{}, object{"type": "nonsense"})
	case 7:
		return object{"type": []any{"object", "null"}, "properties": object{"n": g.schema()}}
	case 8:
		return object{"type": one(g, "string", "integer", "boolean"), "readOnly": g.chance(2),
			"default": one[any](g, 1, "a", true, nil)}
	}
	return g.object()
}

func (g *generator) object() object {
	properties := object{}
	for range g.IntN(5) {
		properties[one(g, "id", "name", "q", "@type", "file", "a.b", "a[b]", "ü", "line\nbreak",
			"additionalProperties")] = g.schema()
	}
	out := object{"type": "object", "properties": properties}
	for name := range properties {
		if g.chance(3) {
			out["required"] = []any{name}
		}
	}
	if g.chance(5) {
		out["additionalProperties"] = one[any](g, true, false, object{"type": "string"})
	}
	return out
}
