package toolschema

import (
	"slices"

	"github.com/keystile/keystile/internal/toolschema/tree"
)

// keywords shows a schema that is no reference: its own keywords, its structure as far as
// the level allows, and what allOf adds to them.
func (p *Projection) keywords(n Node, v tree.Object, level int) tree.Object {
	types := p.types(n, v)
	null := (v.True("nullable") || v.True("x-nullable")) && !slices.Contains(types, any("null"))
	own := make(tree.Object, 0, 8)
	for _, m := range v {
		value, wrong := p.keyword(m, v, null)
		switch {
		case value != nil && !applies(m.Key, types):
		case value != nil && !p.visible(value):
			p.report(n.Get(m.Key), hiddenReason)
		case value != nil:
			own = append(own, tree.Member{Key: m.Key, Value: value})
		case wrong:
			p.report(n.Get(m.Key), "no "+m.Key+" that every client understands")
		}
	}
	if v.Get("type") == "file" {
		own = append(own, tree.Member{Key: "format", Value: "binary"})
	}
	own = append(own, p.structure(n, v, level, types)...)
	if choice := p.choice(n, v, level, null); len(choice) > 0 {
		own = append(own, tree.Member{Key: "anyOf", Value: choice})
	}
	if len(types) > 0 && null {
		types = append(types, "null")
	}
	switch len(types) {
	case 0:
	case 1:
		own = append(own, tree.Member{Key: "type", Value: types[0]})
	default:
		own = append(own, tree.Member{Key: "type", Value: types})
	}
	shown := tree.NewObject(own...)
	if all := p.all(n.Get("allOf"), level); len(all) > 0 {
		shown = ofOneMind(merge(all, shown))
	} else if len(types) > 0 && shown.Get("anyOf") != nil {
		shown = ofOneMind(shown)
	}
	return p.agree(n, shown)
}

// applies reports whether a keyword says anything of values of some types, of which none is
// any: uniqueItems of a text says nothing, and strict validators refuse it there.
func applies(keyword string, types tree.Array) bool {
	of := ofType[keyword]
	return of == nil || len(types) == 0 || slices.ContainsFunc(of,
		func(t string) bool { return slices.Contains(types, any(t)) })
}

var (
	texts   = []string{"string"}
	numbers = []string{"number", "integer"}
	arrays  = []string{"array"}
	objects = []string{"object"}
	ofType  = map[string][]string{
		"pattern": texts, "minLength": texts, "maxLength": texts, "contentMediaType": texts, "contentEncoding": texts,
		"minimum": numbers, "maximum": numbers, "exclusiveMinimum": numbers, "exclusiveMaximum": numbers,
		"multipleOf": numbers,
		"items":      arrays, "properties": objects, "required": objects, "additionalProperties": objects,
		"format": {"string", "number", "integer"}, "uniqueItems": arrays, "minItems": arrays, "maxItems": arrays,
		"minProperties": objects, "maxProperties": objects,
	}
)

// types returns the types of a schema, none if they are unknown or any.
func (p *Projection) types(n Node, v tree.Object) tree.Array {
	switch t := v.Get("type").(type) {
	case nil:
	case string:
		if t == "file" { // OpenAPI 2.0
			return tree.Array{"string"}
		}
		if jsonType(t) {
			return tree.Array{t}
		}
		p.report(n.Get("type"), "not a type of JSON Schema")
	case tree.Array:
		if len(t) > 0 && len(t) <= 7 && !slices.ContainsFunc(t, func(v any) bool { return !jsonType(v) }) {
			out := slices.Clone(t)
			slices.SortFunc(out, compareText)
			if len(slices.Compact(out)) == len(t) {
				return slices.Clone(t)
			}
		}
		p.report(n.Get("type"), "not a list of types of JSON Schema")
	default:
		p.report(n.Get("type"), "not a type of JSON Schema")
	}
	switch {
	case is[tree.Object](v.Get("properties")):
		return tree.Array{"object"}
	case is[tree.Object](v.Get("items")):
		return tree.Array{"array"}
	}
	return nil
}

func jsonType(v any) bool {
	switch v {
	case "string", "integer", "number", "boolean", "object", "array", "null":
		return true
	}
	return false
}

func is[T any](v any) bool { _, ok := v.(T); return ok }
