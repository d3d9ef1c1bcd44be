package toolschema

import (
	"slices"

	"github.com/keystile/keystile/internal/toolschema/tree"
)

// structure shows the items of an array, and the properties of an object while the level
// allows: by default an object below an argument is just an object (protocol 4.8).
func (p *Projection) structure(n Node, v tree.Object, level int, types tree.Array) (out tree.Object) {
	if slices.Contains(types, any("array")) { // always with items: model APIs refuse an array without
		out = append(out, tree.Member{Key: "items", Value: p.items(n.Get("items"), level)})
	}
	if level >= p.limits.Depth || !slices.Contains(types, any("object")) {
		return out
	}
	properties := p.properties(n.Get("properties"), level)
	if len(properties) > 0 {
		out = append(out, tree.Member{Key: "properties", Value: properties})
	}
	var required tree.Array
	for _, name := range p.names(n.Get("required")) {
		if _, there := properties.Lookup(name); there {
			required = append(required, name)
		}
	}
	if len(required) > 0 {
		out = append(out, tree.Member{Key: "required", Value: sortedNames(required)})
	}
	if extra := n.Get("additionalProperties"); is[tree.Object](extra.Value) && !p.hides(n.Get("properties").Value) {
		if schema, _ := p.schema(extra, level+1); constrains(schema) {
			out = append(out, tree.Member{Key: "additionalProperties", Value: schema})
		}
	} else if p.defs != nil && closed(v) && p.allShown(n.Get("properties"), properties) {
		out = append(out, tree.Member{Key: "additionalProperties", Value: false})
	}
	return out
}

// closed reports an object that takes its own properties alone, and says itself which.
func closed(v tree.Object) bool {
	return v.Get("additionalProperties") == false &&
		!slices.ContainsFunc([]string{"$ref", "allOf", "anyOf", "oneOf", "patternProperties", "if", "dependentSchemas"},
			func(key string) bool { return v.Get(key) != nil })
}

// allShown reports whether each property that may be sent is shown. To say that there are
// no others would else refuse what the upstream takes.
func (p *Projection) allShown(declared Node, shown tree.Object) bool {
	properties, _ := declared.Value.(tree.Object)
	return !slices.ContainsFunc(properties, func(m tree.Member) bool {
		_, there := shown.Lookup(m.Key)
		return !there && !p.readOnly(declared.Get(m.Key))
	})
}

// hides reports an object with a property whose name is not shown. To say what all other
// properties are like would then refuse that one.
func (b *budget) hides(properties any) bool {
	declared, _ := properties.(tree.Object)
	return slices.ContainsFunc(declared, func(m tree.Member) bool { return !b.visible(m.Key) })
}

func (p *Projection) items(n Node, level int) tree.Object {
	if _, ref := refOf(n.Value); ref && level >= p.limits.Depth || !is[tree.Object](n.Value) {
		return nil
	}
	out, _ := p.schema(n, level+1)
	return out
}

func (p *Projection) properties(n Node, level int) tree.Object {
	declared, _ := n.Value.(tree.Object)
	var out tree.Object
	for _, m := range declared {
		property := n.Get(m.Key)
		if len(p.sendable([]Node{property})) == 0 {
			continue
		}
		if !p.visible(m.Key) {
			p.report(property, "a property with characters in its name that nobody sees: it is not shown")
			continue
		}
		if schema, ok := p.schema(property, level+1); ok {
			out = append(out, tree.Member{Key: m.Key, Value: schema})
		}
		if p.over != nil {
			break
		}
	}
	return out
}

// names returns the strings of a list such as required.
func (b *budget) names(n Node) (out []string) {
	list, _ := n.Value.(tree.Array)
	for _, v := range list {
		if !b.Step() {
			break
		}
		if name, is := v.(string); is {
			out = append(out, name)
		}
	}
	return out
}

// choice shows anyOf or oneOf, or nothing at all: to leave out one branch would refuse
// what that branch accepts.
func (p *Projection) choice(n Node, v tree.Object, level int, null bool) (out tree.Array) {
	key := "anyOf"
	if !is[tree.Array](v.Get(key)) {
		key = "oneOf"
	}
	branches, _ := v.Get(key).(tree.Array)
	for i := range branches {
		schema, ok := p.schema(n.Get(key).At(i), level)
		if !ok || !constrains(schema) {
			return nil
		}
		if !slices.ContainsFunc(out, func(v any) bool { return tree.Equal(v, schema) }) {
			out = append(out, schema)
		}
		if len(out) > maxBranches {
			return nil
		}
	}
	if null && len(out) > 0 {
		out = append(out, tree.Object{{Key: "type", Value: "null"}})
	}
	return out
}

// maxBranches bounds a choice; a model reads no more.
const maxBranches = 32

// constrains reports a schema that says more than what to call a value.
func constrains(schema tree.Object) bool {
	return slices.ContainsFunc(schema, func(m tree.Member) bool {
		return !slices.Contains([]string{"title", "description", "default", "deprecated"}, m.Key)
	})
}

// all shows what the members of allOf say together.
func (p *Projection) all(n Node, level int) (out tree.Object) {
	members, _ := n.Value.(tree.Array)
	for i := range members {
		if schema, ok := p.schema(n.At(i), level); ok {
			out = merge(out, schema)
		}
		if p.over != nil {
			break
		}
	}
	return out
}
