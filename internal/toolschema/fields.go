package toolschema

import (
	"fmt"
	"maps"
	"slices"

	"github.com/keystile/keystile/internal/toolschema/tree"
)

// Field is one named value of an object: an argument of a tool.
type Field struct {
	Name     string
	Schema   tree.Object
	Required bool
	Bytes    Bytes // of a form: see [Projection.Form]
}

// Fields takes the object that a schema describes apart into its properties, sorted by
// name, one level deep: references and allOf at the top are part of that level, and a
// choice at the top gives the properties of all its branches, of which those are required
// that every branch requires. It is not ok if the schema describes something else. An
// object may have no fields: nothing is said about it, or nothing of it may be sent.
func (p *Projection) Fields(n Node) (out []Field, ok bool) {
	out, _, ok = p.Object(n)
	return out, ok
}

// Object is Fields, and beside them an object for the properties that are allowed and not
// named, nil if the schema does not speak of any.
func (p *Projection) Object(n Node) (out []Field, more *Field, ok bool) { return p.object(n, false) }

// Form is Object, and says of each field, and of the properties that are not named, which bytes it may be.
func (p *Projection) Form(n Node) (out []Field, more *Field, ok bool) { return p.object(n, true) }

func (p *Projection) object(n Node, form bool) (out []Field, more *Field, ok bool) {
	o := p.gather(n, 0)
	if o.shape == other {
		return nil, nil, false
	}
	for _, name := range slices.Sorted(maps.Keys(o.properties)) {
		declared := p.sendable(o.properties[name])
		if schema, ok := p.anyOf(declared); ok {
			f := Field{Name: name, Schema: schema, Required: o.required[name]}
			if form {
				f.Bytes = p.Bytes(declared...)
			}
			out = append(out, f)
		} else if len(declared) > 0 && p.over == nil {
			if _, is := refOf(declared[0].Value); is { // where it leads is reported too
				p.report(declared[0], "what its schema refers to cannot be shown")
			}
		}
		if len(out) > p.limits.Properties && p.over == nil {
			p.over = fmt.Errorf("it has more than %d properties", p.limits.Properties)
		}
		if p.over != nil {
			return nil, nil, false
		}
	}
	return out, p.further(o, form), true
}

// further shows the properties that are allowed and not named.
func (p *Projection) further(o parts, form bool) *Field {
	if o.further == nil {
		return nil
	}
	text := "further members, beside those that have an argument of their own"
	out := Field{Schema: tree.Object{{Key: "description", Value: text}, {Key: "type", Value: "object"}}}
	schema, _ := p.schema(*o.further, 1)
	if form {
		if out.Bytes = p.Bytes(*o.further); out.Bytes.Said() {
			schema = out.Bytes.Schema(schema)
		}
	}
	if constrains(schema) {
		out.Schema = append(tree.Object{{Key: "additionalProperties", Value: schema}}, out.Schema...)
	}
	return &out
}

// anyOf shows a property that the branches of a choice declare, each in its way.
func (p *Projection) anyOf(declared []Node) (out tree.Object, ok bool) {
	var branches tree.Array
	for _, n := range declared {
		schema, ok := p.schema(n, 0)
		if ok && !slices.ContainsFunc(branches, func(v any) bool { return tree.Equal(v, schema) }) {
			branches = append(branches, schema)
		}
	}
	vague := slices.ContainsFunc(branches, func(v any) bool { return !constrains(v.(tree.Object)) })
	switch {
	case len(branches) == 0:
		return nil, false
	case len(branches) == 1:
		return branches[0].(tree.Object), true
	case vague || len(branches) > maxBranches:
		return Described(nil, branches[0].(tree.Object).Text("description")), true
	}
	return tree.Object{{Key: "anyOf", Value: branches}}, true
}

// shape holds what a schema describes, as far as it says so.
type shape int

const (
	unknown shape = iota
	object
	other
)

type parts struct {
	shape      shape
	properties map[string][]Node // each as declared by the branches of a choice
	required   map[string]bool
	further    *Node // what other properties are like; nil: nobody speaks of any
}

const (
	maxLevels  = 8   // of allOf, oneOf and anyOf inside each other
	maxMembers = 256 // of them in one tool: ten members on eight levels would be 10^8
)

// gather collects what a schema at the top says about an object.
func (p *Projection) gather(n Node, level int) parts {
	o := parts{properties: map[string][]Node{}, required: map[string]bool{}}
	if p.merged++; level > maxLevels || p.merged > maxMembers {
		p.report(n, "too many schemas combined")
		return o
	}
	if !p.Step() {
		return o
	}
	if ref, is := refOf(n.Value); is {
		if slices.Contains(p.open, ref) {
			return o
		}
		p.open = append(p.open, ref)
		defer func() { p.open = p.open[:len(p.open)-1] }()
		target, err := p.doc.Follow(n)
		if err != nil {
			p.report(n, err.Error())
			return o
		}
		n = target
	}
	v, _ := n.Value.(tree.Object)
	if v == nil {
		return o
	}
	for i := range list(v, "allOf") {
		if p.merged > maxMembers {
			break
		}
		p.and(&o, p.gather(n.Get("allOf").At(i), level+1), true)
	}
	p.and(&o, p.declared(n, v), true)
	for _, key := range []string{"oneOf", "anyOf"} {
		p.and(&o, p.union(n.Get(key), level), false)
	}
	return o
}

func list(v tree.Object, key string) tree.Array {
	a, _ := v.Get(key).(tree.Array)
	return a
}

// declared returns what a schema says itself.
func (p *Projection) declared(n Node, v tree.Object) parts {
	o := parts{shape: shapeOf(v), properties: map[string][]Node{}, required: map[string]bool{}}
	properties, _ := v.Get("properties").(tree.Object)
	for _, m := range properties {
		if !p.Step() {
			break
		}
		o.properties[m.Key] = []Node{n.Get("properties").Get(m.Key)}
	}
	for _, name := range p.names(n.Get("required")) {
		o.required[name] = true
	}
	if more := n.Get("additionalProperties"); more.Value == true || is[tree.Object](more.Value) {
		o.further = &more
	}
	return o
}

func shapeOf(v tree.Object) shape {
	switch t := v.Get("type").(type) {
	case string:
		if t == "object" {
			return object
		}
		if jsonType(t) || t == "file" {
			return other
		}
	case tree.Array:
		if slices.Contains(t, any("object")) {
			return object
		}
		return other
	}
	switch {
	case is[tree.Object](v.Get("properties")):
		return object
	case v.Get("items") != nil || v.Get("enum") != nil || v.Get("const") != nil:
		return other
	}
	return unknown
}

// and adds what another schema says at the same time. Of two declarations of a property
// the one that overrides stays, unless the other says that the property belongs to answers only.
func (p *Projection) and(o *parts, more parts, overrides bool) {
	o.shape = max(o.shape, more.shape)
	for name, declared := range more.properties {
		if old, there := o.properties[name]; !there || overrides && !slices.ContainsFunc(old, p.readOnly) {
			o.properties[name] = declared
		}
	}
	maps.Copy(o.required, more.required)
	if o.further == nil {
		o.further = more.further
	}
}

// union combines the branches of a choice: it is no object if one of them is none,
// and requires what all of them require.
func (p *Projection) union(n Node, level int) parts {
	o := parts{properties: map[string][]Node{}}
	branches, _ := n.Value.(tree.Array)
	for i := range branches {
		if p.merged > maxMembers {
			break
		}
		if nullType(branches[i]) && p.Step() {
			continue // the body may also be null, which needs no argument
		}
		branch := p.gather(n.At(i), level+1)
		o.shape = max(o.shape, branch.shape)
		if o.further == nil {
			o.further = branch.further
		}
		for name, declared := range branch.properties {
			o.properties[name] = append(o.properties[name], declared...)
		}
		if o.required == nil {
			o.required = branch.required
			continue
		}
		maps.DeleteFunc(o.required, func(name string, _ bool) bool { return !branch.required[name] })
	}
	return o
}

func nullType(v any) bool {
	o, _ := v.(tree.Object)
	return o.Get("type") == "null"
}
